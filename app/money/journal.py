"""The journal of an organisation as CSV, for its accountant: each document and each payment is a balanced entry.

A document is booked on the day of its issue, a payment or refund on the day on which it was recorded, both in Windhoek.
Of a transfer `receivedOn` is the day in the account, and `transfer` its text. Amounts have a decimal point. An account has
the code of `sql.ACCOUNTS`.
"""

from collections.abc import Iterator
from datetime import date

from app.audit.actions import Action
from app.audit.log import record_export
from app.core.csv_export import stream_query_csv
from app.money.sql import JOURNAL_SQL

HEADER = (
    "date",
    "entry",
    "accountCode",
    "accountName",
    "debit",
    "credit",
    "currency",
    "vatPercent",
    "vatAmount",
    "document",
    "description",
    "event",
    "receivedOn",
    "transfer",
)


def stream_journal_csv(organisation_id: str, since: date, until: date, event_id: str | None = None) -> Iterator[bytes]:
    """The journal of the days from `since` to `until`, of one event or of all. The export is recorded."""
    data = {"from": since.isoformat(), "to": until.isoformat()}
    record_export(Action.JOURNAL_EXPORTED, organisation_id=organisation_id, event_id=event_id, data=data)
    parameters = {"organisation_id": organisation_id, "since": since, "until": until, "event_id": event_id}
    return stream_query_csv(JOURNAL_SQL, HEADER, parameters)
