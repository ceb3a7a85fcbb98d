"""The database part of an import: rows are staged by COPY, compared with the stock and written in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, TypedDict

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from app.core.db import ReadOrWriteSession
from app.core.languages import mark_for_translation
from app.core.transaction import lock_name, transaction
from app.events.queries import hold
from app.inventory.models import StockImport
from app.inventory.stock_import.parser import ParsedSheet, RowError
from app.inventory.stock_import.sql import (
    ANALYZE_STAGING_SQL,
    COPY_STAGING_SQL,
    COUNT_PLAN_SQL,
    CREATE_PLAN_SQL,
    CREATE_STAGING_SQL,
    DELETE_PLAN_ROWS_SQL,
    FILL_ZEROS_SQL,
    INSERT_ITEMS_SQL,
    INSERT_OPENING_STOCK_SQL,
    LIST_CHANGES_SQL,
    MAX_SINGLE_CHANGES,
    PLAN_ERRORS_SQL,
    RECORD_CHANGES_SQL,
    UPDATE_ITEMS_SQL,
)

COPY_BLOCK_BYTES = 256 * 1024
MAX_ATTEMPTS = 3
MAX_LISTED_CHANGES = 200
ERROR_MESSAGES = {
    "required": mark_for_translation("A new item needs it."),
    "archived": mark_for_translation("This item is archived. Restore it first."),
    "insufficient_stock": mark_for_translation("More would be reserved and damaged than there is."),
}


@dataclass(frozen=True)
class ImportOptions:
    """The event, the account and the options of an import, and the digest of the file."""

    event_id: str
    caller_id: str
    digest: bytes
    partial: bool = False
    dry_run: bool = False
    again: bool = False
    from_desk: bool = False
    """At the desk a new item has 0 where the file has no quantity, and a check says when the file was imported before."""


class FieldChange(TypedDict):
    """A field of an item, with its value before the import (None for a new item) and after it, as text."""

    name: str
    before: str | None
    after: str | None


class ItemChange(NamedTuple):
    """What an import would change of one item: the row of the file, the item after the import, and its new values."""

    row: int
    sku: str
    name: str
    is_new: bool
    new_values: list[FieldChange]


@dataclass(frozen=True)
class ImportResult:
    """The number of items that an import created, updated or left unchanged; a dry run only counts them.

    `already_imported_at` is when the same bytes were imported before. `changes` are the first changes that a dry run
    would make, those of known items before the new ones.
    """

    created: int
    updated: int
    unchanged: int
    errors: Sequence[RowError]
    already_imported_at: datetime | None = None
    changes: Sequence[ItemChange] = ()

    @property
    def has_only_errors(self) -> bool:
        return not (self.created or self.updated or self.unchanged) and bool(self.errors)


ImportCallback = Callable[[ReadOrWriteSession, ImportResult], None]


class _Rollback(Exception):
    """Ends the transaction with a rollback and carries the result."""

    def __init__(self, result: ImportResult) -> None:
        super().__init__()
        self.result = result


def import_rows(
    sheet: ParsedSheet,
    options: ImportOptions,
    *,
    limit_statements: Sequence[str] = (),
    on_result: ImportCallback | None = None,
) -> ImportResult:
    """Write the parsed rows; `on_result` runs in the same transaction.

    With an error nothing is written, unless it is a partial import. A file that was imported completely is not imported
    again. `limit_statements` set the time limits of the transaction; without them it has those of a web request.
    Raises NotFound when the event has been deleted meanwhile.
    """
    if sheet.is_unreadable or (sheet.errors and not options.partial):
        return ImportResult(0, 0, 0, sheet.errors)
    for attempt in range(MAX_ATTEMPTS):
        try:
            with transaction() as session:
                for limit_statement in limit_statements:
                    session.execute(text(limit_statement))
                result = _plan_and_write(session, sheet, options)
                if on_result is not None:
                    on_result(session, result)
            return result
        except _Rollback as rollback:
            return rollback.result
        except IntegrityError:
            # Another request created an item with the same SKU; the next attempt finds and updates it.
            if attempt + 1 == MAX_ATTEMPTS:
                raise
    raise AssertionError


def _plan_and_write(session: ReadOrWriteSession, sheet: ParsedSheet, options: ImportOptions) -> ImportResult:
    params = {"event": options.event_id, "caller": options.caller_id}
    lock_name(session, f"inventory-import:{options.event_id}")
    says_when = not options.again or (options.from_desk and options.dry_run)
    imported_at = _find_earlier_import(session, options) if says_when else None
    if imported_at is not None and not options.again:
        raise _Rollback(ImportResult(0, 0, sheet.valid_rows, sheet.errors, already_imported_at=imported_at))
    _copy_to_staging(session, sheet)
    session.execute(CREATE_PLAN_SQL, params)
    if options.from_desk:
        session.execute(FILL_ZEROS_SQL)
    plan_errors = [
        RowError(row, column, code, ERROR_MESSAGES[code], value or "")
        for row, column, code, value in session.execute(PLAN_ERRORS_SQL)
    ]
    errors = sorted([*sheet.errors, *plan_errors])
    if plan_errors and not options.partial:
        raise _Rollback(ImportResult(0, 0, 0, errors))
    if plan_errors:
        session.execute(DELETE_PLAN_ROWS_SQL, {"rows": list({error.row for error in plan_errors})})
    counts = session.execute(COUNT_PLAN_SQL).one()
    result = ImportResult(**counts._mapping, errors=errors, already_imported_at=imported_at)
    if options.dry_run:
        changes = [ItemChange(*row) for row in session.execute(LIST_CHANGES_SQL, {"limit": MAX_LISTED_CHANGES})]
        raise _Rollback(replace(result, changes=changes))
    if result.created or result.updated:
        _write_plan(session, options, params, result)
    return result


def _find_earlier_import(session: ReadOrWriteSession, options: ImportOptions) -> datetime | None:
    """When these bytes changed this stock as a whole, if they have."""
    is_same = StockImport.event_id == options.event_id, StockImport.digest == options.digest
    return session.scalar(select(StockImport.at).where(*is_same))


def _write_plan(
    session: ReadOrWriteSession, options: ImportOptions, params: dict[str, str], result: ImportResult
) -> None:
    hold(session, options.event_id)
    session.execute(INSERT_ITEMS_SQL, params)
    session.execute(INSERT_OPENING_STOCK_SQL, params)
    session.execute(UPDATE_ITEMS_SQL, params)
    session.execute(RECORD_CHANGES_SQL, {**params, "many": result.created + result.updated > MAX_SINGLE_CHANGES})
    # After a partial import the same file may still add rows, so its digest is not kept.
    if not result.errors:
        file = {"event_id": options.event_id, "digest": options.digest}
        session.execute(insert(StockImport).values(file).on_conflict_do_nothing())


def _copy_to_staging(session: ReadOrWriteSession, sheet: ParsedSheet) -> None:
    session.execute(CREATE_STAGING_SQL)
    driver = session.connection().connection.driver_connection
    assert driver is not None
    sheet.spool.seek(0)
    with driver.cursor() as cursor, cursor.copy(COPY_STAGING_SQL) as copy:
        while block := sheet.spool.read(COPY_BLOCK_BYTES):
            copy.write(block)
    session.execute(ANALYZE_STAGING_SQL)
