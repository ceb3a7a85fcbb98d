"""The tables and columns with personal data of guests, and the statements that erase it after an event.

Rows, states, times and amounts stay, so counters, charts and reports do not change.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session as OrmSession

from app.core.db import fetch_row, fetch_rows

BATCH_SIZE = 1000
ENDED_EVENTS_SQL = "SELECT id FROM event WHERE ends_at < now() - make_interval(days => %(days)s)"
NEXT_EVENTS_SQL = f"{ENDED_EVENTS_SQL} AND id > %(after)s ORDER BY id LIMIT 100"
ERASED_VALUE_SQL = "'erased:' || x.id"
IS_EVENT_RECIPIENT_SQL = "x.campaign_id IN (SELECT id FROM campaign WHERE event_id IN ({events}))"


@dataclass(frozen=True)
class ErasureTarget:
    """A table `x` with personal data: which rows belong to an event, which have data, and what erases it."""

    name: str
    table: str
    assignments_sql: str
    has_personal_data_sql: str
    belongs_to_event_sql: str = "x.event_id IN ({events})"

    def count_rows(self, days: int) -> int:
        """How many rows of events that ended more than `days` ago still have personal data."""
        condition_sql = (
            f"{self.belongs_to_event_sql.format(events=ENDED_EVENTS_SQL)} AND ({self.has_personal_data_sql})"
        )
        row = fetch_row(f"SELECT count(*) FROM {self.table} x WHERE {condition_sql}", {"days": days})
        return int(row[0]) if row else 0

    def erase_batch(self, session: OrmSession, event_id: str) -> int:
        """Erases at most BATCH_SIZE rows of an event and returns how many. Rows locked by others are skipped."""
        condition_sql = (
            f"{self.belongs_to_event_sql.format(events='SELECT %(event_id)s')} AND ({self.has_personal_data_sql})"
        )
        batch_sql = f"SELECT x.id FROM {self.table} x WHERE {condition_sql} ORDER BY x.id LIMIT {BATCH_SIZE} FOR UPDATE OF x SKIP LOCKED"
        statement = f"UPDATE {self.table} x SET {self.assignments_sql} WHERE x.id IN ({batch_sql}) RETURNING 1"
        return len(fetch_rows(statement, {"event_id": event_id}))


ERASURE_TARGETS = (
    ErasureTarget("tickets", "ticket", "name = NULL, email = NULL", "x.name IS NOT NULL OR x.email IS NOT NULL"),
    ErasureTarget(
        "slots",
        "allocation_slot",
        "name = NULL, email = NULL, phone = NULL",
        "x.name IS NOT NULL OR x.email IS NOT NULL OR x.phone IS NOT NULL",
    ),
    ErasureTarget(
        "block holders",
        "allocation_block",
        "holder_name = NULL, holder_email = NULL, holder_phone = NULL, notes = NULL",
        "coalesce(x.holder_name, x.holder_email, x.holder_phone, x.notes) IS NOT NULL",
    ),
    ErasureTarget(
        "campaign recipients",
        "campaign_recipient",
        f"person = {ERASED_VALUE_SQL}, address = {ERASED_VALUE_SQL}, name = NULL, reason = NULL",
        "x.person NOT LIKE 'erased:%%' AND x.state <> 'pending'",
        belongs_to_event_sql=IS_EVENT_RECIPIENT_SQL,
    ),
    ErasureTarget(
        "campaign positions", "campaign", "after = NULL", "x.after IS NOT NULL AND x.finished_at IS NOT NULL"
    ),
    ErasureTarget(
        "invitation links",
        "invite_link",
        "email = NULL, invited_address = NULL, business_name = NULL, message = NULL",
        "coalesce(x.email, x.invited_address, x.business_name, x.message) IS NOT NULL",
    ),
)


def list_ended_events(days: int) -> Iterator[str]:
    """The ids of the events that ended more than `days` ago."""
    last_event_id = ""
    while rows := fetch_rows(NEXT_EVENTS_SQL, {"days": days, "after": last_event_id}):
        yield from (str(event_id) for (event_id,) in rows)
        last_event_id = rows[-1][0]
