"""Imports of stock sheets: small ones in the request, large ones in a background job."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, TypedDict, cast

from sqlalchemy import delete, select, update

from app.accounts.caller import Caller
from app.accounts.quotas import IMPORTS_QUOTA, count_unverified_use
from app.core.db import ReadOrWriteSession
from app.core.errors import NotFound, ValidationFailed
from app.core.jobs import Run
from app.core.outbox import enqueue
from app.core.text_normalization import clean_file_name
from app.core.transaction import transaction
from app.events.import_mappings import STOCK, remember_mapping
from app.events.queries import hold
from app.events.ticket_import_sql import PATIENCE
from app.inventory import background_jobs, queries
from app.inventory.errors import ImportExpired, ImportRejected, ImportTooLarge, NotASpreadsheet
from app.inventory.models import StockJob
from app.inventory.stock_import.importer import FieldChange, ImportOptions, ImportResult, import_rows
from app.inventory.stock_import.parser import (
    NotASheet,
    RowError,
    TooManyRows,
    build_errors_csv,
    count_rows,
    has_known_columns,
    parse_sheet,
    read_sample,
)

MAX_BYTES, MAX_ROWS = 20 * 1024 * 1024, 100_000
MAX_SYNC_BYTES, MAX_SYNC_ROWS = 2 * 1024 * 1024, 5_000
MAX_RETURNED_ERRORS = 1000
PARSED_PERCENT = 70


class RowErrorJson(TypedDict):
    row: int
    column: str
    code: str
    message: str
    value: str


class ItemChangeJson(TypedDict):
    row: int
    sku: str
    name: str
    is_new: bool
    new_values: list[FieldChange]


class ImportJson(TypedDict, total=False):
    """The result of an import, or the job that will import the file."""

    created: int
    updated: int
    unchanged: int
    errors: list[RowErrorJson]
    error_count: int
    changes: list[ItemChangeJson]
    already_imported_at: str
    errors_url: str
    job_id: str
    status: str
    progress: int


class ImportFlags(TypedDict):
    """The options of an import, as its job stores them."""

    partial: bool
    dry_run: bool
    again: bool


class PreparedImport(NamedTuple):
    """The job that will import a kept file, and the job that checks it, or None while its columns are not chosen."""

    import_id: str
    check_id: str | None


def import_stock(
    *,
    caller: Caller,
    event_id: str,
    data: bytes,
    mode: str,
    dry_run: bool,
    again: bool,
    mapping: Mapping[str, str] | None = None,
) -> ImportJson:
    """Return the result (`created, updated, unchanged, errors`), or the job that will import the file (`job_id`).

    `mapping` has the column of each field; without it the columns have the names of the fields.

    Raises NotASpreadsheet, ImportTooLarge, ImportRejected, NotFound, ValidationFailed, EmailNotVerified.
    """
    rows = _count_checked_rows(data)
    event = queries.get_event(caller, event_id)
    if not caller.email_verified:
        with transaction() as session:
            count_unverified_use(session, caller, IMPORTS_QUOTA)
    options: ImportFlags = {"partial": mode == "partial", "dry_run": dry_run, "again": again}
    if len(data) > MAX_SYNC_BYTES or rows > MAX_SYNC_ROWS:
        return _enqueue_import(caller, event.id, data, {**options, "mapping": mapping})
    import_options = ImportOptions(event.id, caller.id, _digest(data, mapping), **options)
    result = import_rows(parse_sheet(data, mapping=mapping), import_options)
    response = serialize_import_result(result)
    if result.errors:
        response["errors_url"] = _store_errors(import_options, result.errors)
    if _has_failed(result, import_options):
        raise ImportRejected(**response)
    return response


def prepare_import(*, caller: Caller, event_id: str, data: bytes, file_name: str) -> PreparedImport:
    """Keep a file for an import. If all its columns are known, start the job that says what the import would do.

    Raises NotASpreadsheet, ImportTooLarge, NotFound, ValidationFailed, EmailNotVerified.
    """
    rows = _count_checked_rows(data)
    sample = read_sample(data)
    event = queries.get_event(caller, event_id)
    if not caller.email_verified:
        with transaction() as session:
            count_unverified_use(session, caller, IMPORTS_QUOTA)
    kept = {**_build_flags(), "kept": True, "sample": sample, "rows": rows, "file_name": clean_file_name(file_name)}
    with transaction() as session:
        import_id = _add_import_job(session, caller, event.id, data, kept)
        check_id = _add_check(session, caller, event.id, data, import_id, None) if has_known_columns(sample) else None
    return PreparedImport(import_id, check_id)


def check_prepared_import(*, caller: Caller, event_id: str, job_id: str, mapping: Mapping[str, str]) -> str:
    """Start the job that checks a kept file with the column of each field; return its id.

    Raises NotFound, ImportExpired.
    """
    kept: dict[str, Any] = {**queries.get_job(caller, event_id, job_id).asked}
    if "sample" not in kept:
        raise ImportExpired()
    with transaction() as session:
        data = session.scalar(
            update(StockJob)
            .where(StockJob.id == job_id, background_jobs.is_waiting_import_sql())
            .values(asked={**kept, "mapping": dict(mapping)})
            .returning(StockJob.input)
        )
        if data is None:
            raise ImportExpired()
        remember_mapping(session, event_id, STOCK, [column["name"] for column in kept["sample"]], mapping)
        return _add_check(session, caller, event_id, data, job_id, mapping)


def start_prepared_import(*, caller: Caller, event_id: str, job_id: str, check_id: str, partial: bool) -> None:
    """Start the import of a kept file with the columns of a check; a second call changes nothing.

    Raises NotFound, ImportExpired.
    """
    job, check = queries.get_job(caller, event_id, job_id), queries.get_job(caller, event_id, check_id)
    if check.asked.get("import_id") != job.id:
        raise NotFound()
    with transaction() as session:
        flags = _build_flags(partial=partial, again=True, mapping=cast(Any, check.asked.get("mapping")))
        statement = update(StockJob).where(StockJob.id == job.id, background_jobs.is_waiting_import_sql())
        if session.scalar(statement.values(asked=dict(flags)).returning(StockJob.id)) is not None:
            _enqueue_job(job.id)
            return
        row = session.execute(select(background_jobs.IS_KEPT_SQL).where(StockJob.id == job.id)).first()
        if row is None or row[0]:
            raise ImportExpired()


def discard_prepared_import(*, caller: Caller, event_id: str, job_id: str) -> bool:
    """Delete a kept file whose import was not started; return whether that was so. Raises NotFound."""
    job = queries.get_job(caller, event_id, job_id)
    statement = delete(StockJob).where(StockJob.id == job.id, background_jobs.is_waiting_import_sql())
    with transaction() as session:
        return session.scalar(statement.returning(StockJob.id)) is not None


def run_import_job(run: Run, job_id: str) -> None:
    """Parse and import the file of a job. The result of the job commits with the stock."""
    started_job = background_jobs.start_job(run, job_id)
    if started_job is None:
        return
    data, stock_job = started_job
    flags: dict[str, Any] = {**stock_job.asked}
    mapping = flags.pop("mapping", None)
    flags.pop("import_id", None)
    sheet = parse_sheet(
        data,
        mapping=mapping,
        on_progress=lambda rows: background_jobs.update_progress(
            run, stock_job.id, min(PARSED_PERCENT, rows * PARSED_PERCENT // MAX_ROWS)
        ),
    )
    import_options = ImportOptions(stock_job.event_id, stock_job.account_id, _digest(data, mapping), **flags)

    def record_result(session: ReadOrWriteSession, result: ImportResult) -> None:
        error_code = ImportRejected.code if _has_failed(result, import_options) else None
        background_jobs.finish_job(
            session,
            run,
            stock_job.id,
            dict(serialize_import_result(result)),
            file=_build_errors_file(result.errors),
            error=error_code,
        )

    result = import_rows(sheet, import_options, limit_statements=PATIENCE, on_result=record_result)
    with transaction() as session:
        if not run.ended:
            record_result(session, result)


def _has_failed(result: ImportResult, import_options: ImportOptions) -> bool:
    """Return whether the import has failed: a dry run never fails, a partial one when every row has an error."""
    return bool(result.errors) and not import_options.dry_run and (result.has_only_errors or not import_options.partial)


def serialize_import_result(result: ImportResult) -> ImportJson:
    """Return the result of an import for a response."""
    response: ImportJson = {
        "created": result.created,
        "updated": result.updated,
        "unchanged": result.unchanged,
        "errors": [cast(RowErrorJson, error._asdict()) for error in result.errors[:MAX_RETURNED_ERRORS]],
        "error_count": len(result.errors),
    }
    if result.changes:
        response["changes"] = [cast(ItemChangeJson, change._asdict()) for change in result.changes]
    if result.already_imported_at is not None:
        response["already_imported_at"] = result.already_imported_at.isoformat()
    return response


def _count_checked_rows(data: bytes) -> int:
    if not data:
        raise ValidationFailed.of("file", "required", "Send a CSV or XLSX file, as the body or as the field file.")
    if len(data) > MAX_BYTES:
        raise ImportTooLarge()
    try:
        return count_rows(data, limit=MAX_ROWS)
    except TooManyRows as error:
        raise ImportTooLarge() from error
    except NotASheet as error:
        raise NotASpreadsheet(str(error)) from error


def _digest(data: bytes, mapping: Mapping[str, str] | None) -> bytes:
    """What is the same for an import of the same bytes with the same columns."""
    columns = b"" if mapping is None else json.dumps(mapping, sort_keys=True).encode()
    return sha256(data + columns).digest()


def _enqueue_import(caller: Caller, event_id: str, data: bytes, options: Mapping[str, object]) -> ImportJson:
    with transaction() as session:
        job_id = _add_import_job(session, caller, event_id, data, options)
        _enqueue_job(job_id)
    return {"job_id": job_id, "status": "queued", "progress": 0}


def _add_import_job(
    session: ReadOrWriteSession, caller: Caller, event_id: str, data: bytes, options: Mapping[str, object]
) -> str:
    """Keep a file with the options of its import; with `kept` it waits until somebody starts it."""
    hold(session, event_id)
    job = StockJob(
        event_id=event_id, account_id=caller.id, kind=background_jobs.IMPORT_KIND, asked=dict(options), input=data
    )
    session.add(job)
    session.flush()
    return job.id


def _add_check(
    session: ReadOrWriteSession,
    caller: Caller,
    event_id: str,
    data: bytes,
    import_id: str,
    mapping: Mapping[str, str] | None,
) -> str:
    """Start a check of a kept file. It counts the correct rows, also beside wrong ones: they can be imported alone."""
    flags = _build_flags(dry_run=True, partial=True, again=True, mapping=mapping)
    check_id = _add_import_job(session, caller, event_id, data, {**flags, "import_id": import_id})
    _enqueue_job(check_id)
    return check_id


def _enqueue_job(job_id: str) -> None:
    enqueue("inventory.import", key=f"inventory-import:{job_id}", job_id=job_id)


def _build_flags(
    *, partial: bool = False, dry_run: bool = False, again: bool = False, mapping: Mapping[str, str] | None = None
) -> dict[str, object]:
    """The options of an import at the desk, where a new item has 0 without a quantity, as in the form of an item."""
    columns = {"mapping": dict(mapping)} if mapping else {}
    return {"partial": partial, "dry_run": dry_run, "again": again, "from_desk": True, **columns}


def _store_errors(import_options: ImportOptions, errors: Sequence[RowError]) -> str:
    """Keep all errors as a CSV file for seven days, and return where to fetch it."""
    with transaction() as session:
        job_id = background_jobs.create_finished_job(
            session, import_options.event_id, import_options.caller_id, "import", _build_errors_file(errors)
        )
    return background_jobs.build_file_path(import_options.event_id, job_id)


def _build_errors_file(errors: Sequence[RowError]) -> background_jobs.JobFile | None:
    return background_jobs.JobFile("errors.csv", "text/csv", build_errors_csv(list(errors))) if errors else None
