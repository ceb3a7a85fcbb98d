"""The tables and columns with personal data of guests, and the statements that erase it after an event.

Rows, states, times and amounts stay, so counters, charts and reports do not change.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session as OrmSession

from app.core.db import fetch_row, fetch_rows

BATCH_SIZE = 1000
LIST_ENDED_EVENTS_SQL = """
    SELECT id FROM event
     WHERE ends_at < now() - make_interval(days => %(days)s) AND id > %(after)s
     ORDER BY id LIMIT 100
"""
COUNT_ROWS_SQL = """
    WITH past_event AS (SELECT id FROM event WHERE ends_at < now() - make_interval(days => %(days)s))
    SELECT count(*) FROM {table} x WHERE {belongs_to_past_event} AND ({has_personal_data})
"""
ERASE_BATCH_SQL = """
    WITH past_event AS (SELECT CAST(%(event_id)s AS text) AS id)
    UPDATE {table} x SET {assignments} WHERE x.id IN (
        SELECT x.id FROM {table} x WHERE {belongs_to_past_event} AND ({has_personal_data})
         ORDER BY x.id LIMIT %(limit)s FOR UPDATE OF x SKIP LOCKED)
    RETURNING 1
"""
BELONGS_TO_PAST_EVENT_SQL = "x.event_id IN (SELECT id FROM past_event)"
BELONGS_TO_PAST_CAMPAIGN_SQL = (
    "x.campaign_id IN (SELECT id FROM campaign WHERE event_id IN (SELECT id FROM past_event))"
)


@dataclass(frozen=True)
class ErasureTarget:
    """A table `x` with personal data: the assignments that erase it, and the conditions on its rows."""

    name: str
    table: str
    assignments: str
    has_personal_data: str
    belongs_to_past_event: str = BELONGS_TO_PAST_EVENT_SQL

    def count_rows(self, days: int) -> int:
        """How many rows of events that ended more than `days` ago still have personal data."""
        row = fetch_row(self._format_sql(COUNT_ROWS_SQL), {"days": days})
        return int(row[0]) if row else 0

    def erase_batch(self, session: OrmSession, event_id: str) -> int:
        """Erases at most BATCH_SIZE rows of an event and returns how many. Rows locked by others are skipped."""
        return len(fetch_rows(self._format_sql(ERASE_BATCH_SQL), {"event_id": event_id, "limit": BATCH_SIZE}))

    def _format_sql(self, template: str) -> str:
        return template.format(
            table=self.table,
            assignments=self.assignments,
            has_personal_data=self.has_personal_data,
            belongs_to_past_event=self.belongs_to_past_event,
        )


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
        "person = 'erased:' || x.id, address = 'erased:' || x.id, name = NULL, reason = NULL",
        "x.person NOT LIKE 'erased:%%' AND x.state <> 'pending'",
        belongs_to_past_event=BELONGS_TO_PAST_CAMPAIGN_SQL,
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
    while rows := fetch_rows(LIST_ENDED_EVENTS_SQL, {"days": days, "after": last_event_id}):
        yield from (str(event_id) for (event_id,) in rows)
        last_event_id = rows[-1][0]
