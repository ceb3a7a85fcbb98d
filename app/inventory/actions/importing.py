"""Importing a stock sheet: small ones at once, large ones by a worker."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from app.accounts.caller import Caller
from app.accounts.quotas import IMPORTS, count_unverified
from app.core.errors import ValidationFailed
from app.core.jobs import Run
from app.core.outbox import enqueue
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction
from app.events.importing.statements import PATIENCE
from app.events.queries import hold
from app.inventory import long_work, queries
from app.inventory.errors import ImportRejected, ImportTooLarge, NotASpreadsheet
from app.inventory.importing.reading import NotASheet, RowError, TooManyRows, as_csv, count_rows, read
from app.inventory.importing.writing import Imported, Order, write
from app.inventory.models import StockJob

MOST_BYTES, MOST_ROWS = 20 * 1024 * 1024, 100_000
AT_ONCE_BYTES, AT_ONCE_ROWS = 2 * 1024 * 1024, 5_000
TOLD = 1000
PARSED = 70


def import_stock(
    *, caller: Caller, event_id: str, data: bytes, mode: str, dry_run: bool, again: bool
) -> dict[str, Any]:
    """What the import did (`created, updated, unchanged, errors`), or the job that will do it (`job_id`).

    Raises NotASpreadsheet, ImportTooLarge, ImportRejected, NotFound, ValidationFailed, EmailNotVerified.
    """
    rows = _measured(data)
    event = queries.writable(caller, event_id)
    if not caller.email_verified:
        with transaction() as session:
            count_unverified(session, caller, IMPORTS)
    asked = {"partial": mode == "partial", "dry_run": dry_run, "again": again}
    if len(data) > AT_ONCE_BYTES or rows > AT_ONCE_ROWS:
        return _later(caller, event.id, data, asked)
    order = Order(event.id, caller.id, sha256(data).digest(), **asked)
    found = write(read(data), order)
    shown = told(found) | _kept_errors(order, found.errors)
    if _is_refused(found, order):
        raise ImportRejected(**shown)
    return shown


def finish(run: Run, job_id: str) -> None:
    """A worker's part: reads and writes the file of a job; its outcome commits with the stock."""
    job = long_work.begun(run, job_id)
    if job is None:
        return
    data, row = job
    reading = read(data, tick=lambda rows: long_work.progressed(run, row.id, min(PARSED, rows * PARSED // MOST_ROWS)))
    order = Order(row.event_id, row.account_id, sha256(data).digest(), **row.asked)

    def also(session: ReadOrWriteSession, found: Imported) -> None:
        failed = ImportRejected.code if _is_refused(found, order) else None
        long_work.ended(session, run, row.id, told(found), file=_file(found.errors), failed=failed)

    found = write(reading, order, limits=PATIENCE, also=also)
    with transaction() as session:
        if not run.ended:
            also(session, found)


def _is_refused(found: Imported, order: Order) -> bool:
    """Whether the import has failed: a dry run never does, a partial one when no row of it is right."""
    return bool(found.errors) and not order.dry_run and (found.rejected or not order.partial)


def told(found: Imported) -> dict[str, Any]:
    """An outcome as it goes out."""
    shown: dict[str, Any] = {
        "created": found.created,
        "updated": found.updated,
        "unchanged": found.unchanged,
        "errors": [error._asdict() for error in found.errors[:TOLD]],
        "error_count": len(found.errors),
    }
    return shown if found.before is None else {**shown, "already_imported_at": found.before.isoformat()}


def _measured(data: bytes) -> int:
    if not data:
        raise ValidationFailed.of("file", "required", "Send a CSV or XLSX file, as the body or as the field file.")
    if len(data) > MOST_BYTES:
        raise ImportTooLarge()
    try:
        return count_rows(data, most=MOST_ROWS)
    except TooManyRows as error:
        raise ImportTooLarge() from error
    except NotASheet as error:
        raise NotASpreadsheet(str(error)) from error


def _later(caller: Caller, event_id: str, data: bytes, asked: dict[str, bool]) -> dict[str, Any]:
    with transaction() as session:
        hold(session, event_id)
        job = StockJob(event_id=event_id, account_id=caller.id, kind="import", asked=asked, input=data)
        session.add(job)
        session.flush()
        enqueue("inventory.import", key=f"inventory-import:{job.id}", job_id=job.id)
    return {"job_id": job.id, "status": "queued", "progress": 0}


def _kept_errors(order: Order, errors: Sequence[RowError]) -> dict[str, str]:
    """All errors as a file, to be fetched for two days."""
    if not errors:
        return {}
    with transaction() as session:
        job = long_work.kept(session, order.event_id, order.caller_id, "import", _file(errors))
    return {"errors_url": long_work.address(order.event_id, job)}


def _file(errors: Sequence[RowError]) -> long_work.File | None:
    return long_work.File("errors.csv", "text/csv", as_csv(list(errors))) if errors else None
