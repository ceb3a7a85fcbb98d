"""Private files in storage without a row in the database."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from app.clients import storage
from app.clients.storage import StoredFile
from app.core.db import database_now, fetch_rows, release_connection

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
