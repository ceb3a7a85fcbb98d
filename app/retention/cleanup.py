"""What is erased: guests' personal data after an event, and private files without a row in the database.

Rows, states, times and amounts stay, so counters, charts and reports do not change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session as OrmSession

from app.clients import storage
from app.clients.storage import StoredFile
from app.core.db import database_now, fetch_row, fetch_rows, release_connection

MAX_UPLOAD_TIME = timedelta(days=1)
"""A newer file may belong to an upload that has not committed yet."""
REFERENCED_FILES_SQL = """
    SELECT stored_as FROM application_document WHERE stored_as = ANY(%(names)s)
     UNION ALL SELECT name FROM unnest(%(names)s::text[]) AS name
                 JOIN ticket_pack ON name = 'ticket-packs/' || ticket_pack.id || '.pdf'
"""


def list_orphaned_files() -> Iterator[StoredFile]:
    """The private files without a row that are older than MAX_UPLOAD_TIME. Raises StorageUnavailable."""
    cutoff = database_now() - MAX_UPLOAD_TIME
    release_connection()
    for files in storage.list_private():
        yield from _select_orphaned([file for file in files if file.modified_at < cutoff])


def _select_orphaned(files: Sequence[StoredFile]) -> list[StoredFile]:
    if not files:
        return []
    referenced_names = {name for (name,) in fetch_rows(REFERENCED_FILES_SQL, {"names": [file.name for file in files]})}
    release_connection()
    return [file for file in files if file.name not in referenced_names]


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
