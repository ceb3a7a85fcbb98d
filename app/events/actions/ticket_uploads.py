"""Uploaded files of sold tickets: keeping a file, checking and importing it, large ones in a job."""

from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any

from sqlalchemy import func, select, update

from app.accounts.caller import PERSON, Caller
from app.core.column_samples import SAMPLE_ROWS, build_sample, without_nul
from app.core.context import Actor
from app.core.db import ReadOrWriteSession
from app.core.errors import AppError
from app.core.jobs import Run
from app.core.languages import mark_for_translation
from app.core.outbox import enqueue
from app.core.spreadsheet import NotASheet, open_sheet
from app.core.text_normalization import clean_file_name
from app.core.transaction import transaction
from app.events import queries
from app.events.actions.import_ticket_file import (
    FileOptions,
    ImportSteps,
    TicketImportJson,
    import_data,
    reading,
)
from app.events.errors import NotASpreadsheet
from app.events.import_mappings import (
    SALES,
    STATUSES,
    TYPES,
    find_status_words,
    find_types,
    remember_choices,
    remember_mapping,
)
from app.events.ticket_import_sql import PATIENCE
from app.events.ticket_layouts import build_layout
from app.events.ticket_upload_models import TicketUpload
from app.events.ticket_uploads import (
    CAN_START,
    delete_surplus_uploads,
    find_format,
    get_upload,
)

MAX_BYTES, MAX_ROWS = 40 * 1024 * 1024, 100_000
"""60,000 tickets of pretix, which writes sixty columns, have 27 MB."""
MAX_SYNC_BYTES, MAX_SYNC_ROWS = 2 * 1024 * 1024, 5_000
PARSED_PERCENT = 60


class _ImportedBefore(Exception):
    """Somebody else imported the upload meanwhile."""


def keep_upload(caller: Caller, event_id: str, data: bytes, file_name: str) -> str:
    """Keep a file for two days, and return the id of the upload. A person has at most five per event.

    Raises NotFound, ValidationFailed, NotASpreadsheet, ImportTooLarge.
    """
    event = queries.get_event(caller, event_id)
    with reading(data, max_bytes=MAX_BYTES, max_rows=MAX_ROWS):
        sheet, rows = open_sheet(data, max_rows=MAX_ROWS)
        first_rows = list(islice(rows, SAMPLE_ROWS))
        row_count = len(first_rows) + sum(1 for _ in rows)
        if not row_count:
            raise NotASheet(mark_for_translation("The file has no tickets: there is no row under its first one."))
    with transaction() as session:
        queries.hold(session, event.id)
        delete_surplus_uploads(session, event.id, caller.id)
        upload = TicketUpload(
            event_id=event.id,
            account_id=caller.id,
            file_name=clean_file_name(file_name),
            data=data,
            size=len(data),
            rows=row_count,
            sample=build_sample(sheet.header, first_rows),
            format=find_format(sheet.header),
            options={"ticket_types": find_types(event), "status_words": find_status_words(event.id)},
        )
        session.add(upload)
        session.flush()
        return upload.id


def process_upload(
    caller: Caller,
    event_id: str,
    upload_id: str,
    options: FileOptions,
    *,
    types: Mapping[str, str | None] | None = None,
    words: Mapping[str, str] | None = None,
) -> None:
    """Check or import an upload; its `result` says what happened. A large one is left to a job. What was chosen is kept for the
    next file: `types` has ids of ticket types by names in the file, None for a name that becomes a new one, `words` the meanings
    of words for the status.

    Nothing happens while a job works on it, and after it was imported. Raises NotFound, NotASpreadsheet,
    ValidationFailed.
    """
    upload, _ = get_upload(caller, event_id, upload_id)
    if options.mapping:
        try:
            build_layout([column["name"] for column in upload.sample], options.mapping)
        except NotASheet as error:
            raise NotASpreadsheet(str(error)) from error
    is_large = upload.size > MAX_SYNC_BYTES or upload.rows > MAX_SYNC_ROWS
    with transaction() as session:
        values = {
            "options": {**options._asdict(), "imported_by": caller.name, "session_id": caller.session_id},
            "asked_at": func.now() if is_large else None,
            "progress": 0,
            "result": None,
        }
        statement = update(TicketUpload).where(TicketUpload.id == upload.id, TicketUpload.event_id == event_id)
        if session.scalar(statement.where(CAN_START).values(values).returning(TicketUpload.id)) is None:
            return
        if options.mapping:
            remember_mapping(session, event_id, SALES, [column["name"] for column in upload.sample], options.mapping)
        if types:
            remember_choices(session, event_id, TYPES, types)
        if words:
            remember_choices(session, event_id, STATUSES, words)
        if is_large:
            enqueue("events.import_upload", upload_id=upload.id)
    if not is_large:
        _import_now(caller, event_id, upload_id, options)


def load_options(upload: TicketUpload) -> FileOptions:
    """The options of the last check or import of an upload."""
    return FileOptions(**{name: upload.options[name] for name in FileOptions._fields if name in upload.options})


def run_upload_job(run: Run, upload_id: str) -> None:
    """Check or import a large upload. The result commits with the tickets."""
    with transaction() as session:
        upload = session.scalar(
            select(TicketUpload).where(TicketUpload.id == upload_id, TicketUpload.asked_at.is_not(None))
        )
        data = session.scalar(select(TicketUpload.data).where(TicketUpload.id == upload_id))
        if upload is None or data is None:
            run.done_in(session)
            return
        options, rows, event_id = load_options(upload), max(upload.rows, 1), upload.event_id
        actor = Actor(PERSON, upload.account_id, upload.options["session_id"])
        file_name, imported_by = upload.file_name, upload.options["imported_by"]

    def update_progress(read_rows: int) -> None:
        with transaction() as session:
            run.hold_in(session)
            percent = min(PARSED_PERCENT, read_rows * PARSED_PERCENT // rows)
            session.execute(update(TicketUpload).where(TicketUpload.id == upload_id).values(progress=percent))

    def finish(session: ReadOrWriteSession, result: TicketImportJson | dict[str, Any]) -> None:
        run.done_in(session)
        _record_result(session, event_id, upload_id, result)

    steps = ImportSteps(PATIENCE, actor, update_progress, finish)
    try:
        result: Any = _import(event_id, data, file_name, imported_by, options, steps)
    except _ImportedBefore:
        return
    except AppError as error:
        result = {"problem": error.code}
    if not run.ended:
        with transaction() as session:
            finish(session, result)


def _import_now(caller: Caller, event_id: str, upload_id: str, options: FileOptions) -> None:
    with transaction() as session:
        row = session.execute(
            select(TicketUpload.data, TicketUpload.file_name).where(TicketUpload.id == upload_id)
        ).first()
    if row is None or row.data is None:
        return

    def finish(session: ReadOrWriteSession, result: TicketImportJson) -> None:
        _record_result(session, event_id, upload_id, result)

    steps = ImportSteps(on_result=finish)
    try:
        result = _import(event_id, row.data, row.file_name, caller.name, options, steps)
        if result["import_id"] is None:
            with transaction() as session:
                finish(session, result)
    except _ImportedBefore:
        return


_import = partial(import_data, max_bytes=MAX_BYTES, max_rows=MAX_ROWS)


def _record_result(
    session: ReadOrWriteSession, event_id: str, upload_id: str, result: TicketImportJson | dict[str, Any]
) -> None:
    """Record the result, and forget the file if it was imported. Raises _ImportedBefore."""
    import_id = result.get("import_id")
    values = {"result": without_nul(dict(result)), "progress": 100, "asked_at": None, "import_id": import_id}
    statement = update(TicketUpload).where(
        TicketUpload.id == upload_id, TicketUpload.event_id == event_id, TicketUpload.import_id.is_(None)
    )
    if import_id:
        values["data"] = None
    if session.scalar(statement.values(values).returning(TicketUpload.id)) is None:
        raise _ImportedBefore
