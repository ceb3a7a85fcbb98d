"""Importing a file of tickets over the API."""

import hashlib
from collections.abc import Mapping
from typing import TypedDict

from app.accounts.caller import Caller
from app.core.errors import ValidationFailed
from app.core.spreadsheet import NotASheet, Rejected, RowError, Sheet, TooManyRows, read_sheet
from app.core.text_normalization import clean_file_name
from app.events import queries
from app.events.actions.import_tickets import ImportResult, ImportSource, import_tickets
from app.events.errors import ImportRejected, ImportTooLarge, NotASpreadsheet
from app.events.ticket_files import parse_sheet

MAX_BYTES, MAX_ROWS = 20 * 1024 * 1024, 20_000
MAX_RETURNED_ERRORS = 1000
EMPTY_RESULT = ImportResult(created=0, updated=0, unchanged=0, skipped=0, new_types=0)


class TicketImportJson(TypedDict):
    """The result of an import: counts of tickets and ticket types, and the first thousand errors."""

    import_id: str | None
    format: str
    created: int
    updated: int
    unchanged: int
    skipped: int
    new_types: int
    warnings: list[str]
    errors: list[dict[str, object]]
    error_count: int


def import_ticket_file(
    *,
    caller: Caller,
    event_id: str,
    data: bytes,
    file_name: str | None,
    mapping: Mapping[str, str] | None,
    format: str | None,
    create_types: bool,
    allow_oversell: bool,
    dry_run: bool,
) -> TicketImportJson:
    """Returns what the import of a file did, or would do in a dry run, which lists errors instead of raising them.

    Raises NotFound, ValidationFailed, NotASpreadsheet, ImportTooLarge, ImportRejected.
    """
    event = queries.get_event(caller, event_id)
    try:
        parsed = parse_sheet(_read_checked_sheet(data), mapping=mapping, format=format)
    except NotASheet as error:
        raise NotASpreadsheet(str(error)) from error
    try:
        if parsed.errors:
            raise Rejected(parsed.errors)
        result = import_tickets(
            event_id=event.id,
            tickets=parsed.tickets,
            source=ImportSource(
                clean_file_name(file_name or ""), parsed.layout.format, hashlib.sha256(data).hexdigest(), caller.name
            ),
            create_types=create_types,
            allow_oversell=allow_oversell,
            dry_run=dry_run,
        )
    except Rejected as error:
        response = _serialize_result(parsed.layout.format, EMPTY_RESULT, list(error.errors))
        if dry_run:
            return response
        raise ImportRejected(**response) from error
    return _serialize_result(parsed.layout.format, result, [])


def _read_checked_sheet(data: bytes) -> Sheet:
    if not data:
        raise ValidationFailed.of("file", "required", "Send a CSV or XLSX file in the field file.")
    message = (
        f"Send a file of up to {MAX_ROWS:,} rows and 20 MiB, or several; `flask tickets import` takes larger ones."
    )
    if len(data) > MAX_BYTES:
        raise ImportTooLarge(message)
    try:
        return read_sheet(data, max_rows=MAX_ROWS)
    except TooManyRows as error:
        raise ImportTooLarge(message) from error


def _serialize_result(format: str, result: ImportResult, errors: list[RowError]) -> TicketImportJson:
    return {
        "import_id": result.import_id,
        "format": format,
        "created": result.created,
        "updated": result.updated,
        "unchanged": result.unchanged,
        "skipped": result.skipped,
        "new_types": result.new_types,
        "warnings": list(result.warnings),
        "errors": [error._asdict() for error in errors[:MAX_RETURNED_ERRORS]],
        "error_count": len(errors),
    }
