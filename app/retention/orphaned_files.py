"""Private files without a row in the database."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import PurePath

from sqlalchemy import select

from app.accounts.data_export import build_file_name
from app.accounts.personal_data_models import DataExport
from app.allocations.models import TicketPack
from app.allocations.ticket_packs import build_pack_file_name
from app.applications.models import ApplicationDocument
from app.clients import storage
from app.clients.storage import StoredFile
from app.core.db import database_now, db, release_connection

MAX_UPLOAD_TIME = timedelta(days=1)
"""A newer file may belong to an upload that has not committed yet."""


def list_orphaned_files() -> Iterator[StoredFile]:
    """The private files without a row that are older than MAX_UPLOAD_TIME. Raises StorageUnavailable."""
    cutoff = database_now() - MAX_UPLOAD_TIME
    release_connection()
    for files in storage.list_private():
        yield from _select_orphaned([file for file in files if file.modified_at < cutoff])


def _select_orphaned(files: Sequence[StoredFile]) -> list[StoredFile]:
    if not files:
        return []
    names = [file.name for file in files]
    documents = select(ApplicationDocument.stored_as).where(ApplicationDocument.stored_as.in_(names))
    packs = select(TicketPack.id).where(TicketPack.id.in_([PurePath(name).stem for name in names]))
    exports = select(DataExport.id).where(DataExport.id.in_([PurePath(name).stem for name in names]))
    export_names = map(build_file_name, db.session.scalars(exports))
    pack_names = map(build_pack_file_name, db.session.scalars(packs))
    referenced_names = {*db.session.scalars(documents), *pack_names, *export_names}
    release_connection()
    return [file for file in files if file.name not in referenced_names]
