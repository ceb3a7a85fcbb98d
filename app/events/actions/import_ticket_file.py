"""Importing a file of tickets: over the API in the request, from an upload also in a job."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypedDict

from app.accounts.caller import Caller
from app.core.context import Actor
from app.core.db import ReadOrWriteSession
from app.core.errors import ValidationFailed
from app.core.languages import mark_for_translation
from app.core.spreadsheet import NotASheet, Rejected, Row, RowError, TooManyRows, open_sheet
from app.core.text_normalization import clean_file_name
from app.events import queries
from app.events.actions.import_tickets import OF_EVENT_HAS_THIS_SECRET, UnknownTypes, import_tickets
from app.events.errors import ImportRejected, ImportTooLarge, NotASpreadsheet
from app.events.ticket_files import ParsedFile, SoldTicket, parse_sheet
from app.events.ticket_import_result import CancelledTicket, FirstTicket, ImportResult, ImportSource, UnpricedType
from app.events.tickets import find_hidden_fields

MAX_BYTES, MAX_ROWS = 20 * 1024 * 1024, 20_000
MAX_RETURNED_ERRORS = 1000
MAX_UNKNOWN_STATUSES = 20
MAX_ATTEMPTS = 10
"""Without wrong rows other rows can be wrong, for example when a code is not free then. More rounds are not tried."""
FILE_CODES = frozenset({"sold_out"})
"""Errors of the file as a whole. No row is wrong, so leaving out rows is no answer."""
PROGRESS_ROWS = 5000
EMPTY_RESULT = ImportResult(created=0, updated=0, unchanged=0, skipped=0, cancelled=0, missing=0, new_types=0)


class UnknownTypeJson(TypedDict):
    """A name of the file that is no ticket type of the event, and how many rows have it."""

    name: str
    rows: int


class UnknownStatusJson(TypedDict):
    """A word in the column of the status that is not known, and how many rows have it."""

    word: str
    rows: int


class TicketImportJson(TypedDict):
    """The result of an import: counts of tickets and ticket types, and the first thousand errors.

    `wrong_rows` are the rows that an import of the correct rows leaves out.
    """

    import_id: str | None
    format: str
    created: int
    updated: int
    unchanged: int
    skipped: int
    cancelled: int
    missing: int
    new_types: int
    wrong_rows: int
    warnings: list[str]
    chosen_types: list[str]
    created_minor: int
    undated: int
    unpriced: list[UnpricedType]
    assumed_sold: int
    cancelled_tickets: list[CancelledTicket]
    cancelled_admitted: int
    first_tickets: list[FirstTicket]
    new_type_names: list[str]
    new_type_totals: list[int]
    unknown_types: list[UnknownTypeJson]
    unknown_statuses: list[UnknownStatusJson]
    chosen_statuses: list[str]
    omitted: int
    errors: list[dict[str, object]]
    error_count: int


class FileOptions(NamedTuple):
    """How a file is read and booked. `ticket_types` has the ids of ticket types by their names in the file, `new_types` the names
    that become new ones; `create_types` makes all that the event lacks. `status_words` has what words for a status mean.

    With `partial` the rows that have errors are left out; without it nothing is imported if there is one.
    """

    mapping: Mapping[str, str] | None = None
    format: str | None = None
    ticket_types: Mapping[str, str] | None = None
    new_types: Sequence[str] = ()
    status_words: Mapping[str, str] | None = None
    create_types: bool = False
    allow_oversell: bool = False
    raise_totals: bool = False
    dry_run: bool = False
    partial: bool = False


class ImportSteps(NamedTuple):
    """What an upload adds to an import: what happens after rows and in the transaction; of a job also limits and who acts."""

    limit_statements: Sequence[str] = ()
    actor: Actor | None = None
    on_rows: Callable[[int], None] | None = None
    on_result: Callable[[ReadOrWriteSession, TicketImportJson], None] | None = None


DIRECTLY = ImportSteps()
MASKED = {"secret": ("secret",), "name": ("name", "email"), "price": ("price_minor",)}
"""The fields of tickets in a result by what callers do not see."""


def import_ticket_file(
    *, caller: Caller, event_id: str, data: bytes, file_name: str | None, options: FileOptions
) -> dict[str, Any]:
    """Returns what the import of a file did, or would do in a dry run, which lists errors instead of raising them.

    Raises NotFound, ValidationFailed, NotASpreadsheet, ImportTooLarge, ImportRejected.
    """
    event = queries.get_event(caller, event_id)
    response = import_data(event.id, data, file_name, caller.name, options, max_bytes=MAX_BYTES, max_rows=MAX_ROWS)
    result = mask_result(caller, event, response)
    if response["error_count"] and not (options.dry_run or response["import_id"]):
        raise ImportRejected(**result)
    return result


def mask_result(caller: Caller, event: queries.OwnEvent, result: Mapping[str, Any]) -> dict[str, Any]:
    """What an import did or would do, without what the list of tickets does not show to this caller.

    Without codes, an error does not say which ticket of the event has a code.
    """
    hidden = find_hidden_fields(caller, event)
    return {
        **result,
        "cancelled_tickets": [_mask_ticket(ticket, hidden) for ticket in result.get("cancelled_tickets", ())],
        "first_tickets": [_mask_ticket(ticket, hidden) for ticket in result.get("first_tickets", ())],
        "errors": [
            {**error, "message": f"Another ticket {OF_EVENT_HAS_THIS_SECRET}"}
            if "secret" in hidden and error["message"].endswith(OF_EVENT_HAS_THIS_SECRET)
            else error
            for error in result.get("errors", ())
        ],
    }


def _mask_ticket(ticket: Mapping[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    """The ticket without the hidden fields; a number that is the code as well is hidden with it."""
    values = {
        name: ticket[name] for field, names in MASKED.items() if field in hidden for name in names if name in ticket
    }
    code = values.get("secret")
    numbers = {name for name in ("reference", "order_number") if code and ticket.get(name) == code}
    return {**ticket, **dict.fromkeys({*values, *numbers})}


def import_data(
    event_id: str,
    data: bytes,
    file_name: str | None,
    imported_by: str | None,
    options: FileOptions,
    steps: ImportSteps = DIRECTLY,
    *,
    max_bytes: int,
    max_rows: int,
) -> TicketImportJson:
    """Returns what the import of a file did, or would do in a dry run.

    With errors nothing is written, or with `partial` only the correct rows. Raises NotFound, ValidationFailed,
    NotASpreadsheet, ImportTooLarge.
    """
    with reading(data, max_bytes=max_bytes, max_rows=max_rows):
        sheet, rows = open_sheet(data, max_rows=max_rows)
        counted_rows = rows if steps.on_rows is None else _count_rows(rows, steps.on_rows)
        parsed = parse_sheet(
            sheet,
            counted_rows,
            mapping=options.mapping,
            format=options.format,
            status_words=options.status_words,
        )
    source = ImportSource(
        clean_file_name(file_name or ""), parsed.layout.format, hashlib.sha256(data).hexdigest(), imported_by
    )
    book = partial(
        import_tickets,
        event_id=event_id,
        source=source,
        create_types=options.create_types,
        allow_oversell=options.allow_oversell,
        raise_totals=options.raise_totals,
        dry_run=options.dry_run,
        type_ids=options.ticket_types,
        new_types=options.new_types,
        rows_by_type=parsed.rows_by_type if options.partial else None,
        limit_statements=steps.limit_statements,
        actor=steps.actor,
    )
    return _book_rows(parsed, book, options, steps)


def _book_rows(
    parsed: ParsedFile, book: Callable[..., ImportResult], options: FileOptions, steps: ImportSteps
) -> TicketImportJson:
    """Books all rows or none, or with `partial` the correct ones: those that an import without the others accepts."""
    tickets = parsed.list_correct_tickets() if options.partial else parsed.tickets
    errors = sorted([*parsed.errors, *_list_left_out(parsed, tickets)], key=lambda error: error.row)
    report = _Report(parsed, errors)
    if report.errors and not (options.partial and tickets):
        return report.serialize()

    def finish(session: ReadOrWriteSession, result: ImportResult) -> None:
        if steps.on_result is not None:
            steps.on_result(session, report.serialize(result, parsed.row_count - len(tickets)))

    for _ in range(MAX_ATTEMPTS):
        try:
            result = book(tickets=tickets, on_result=finish)
            return report.serialize(result, parsed.row_count - len(tickets))
        except Rejected as error:
            report.add(error)
            wrong_rows = {row_error.row for row_error in error.errors}
            tickets = [ticket for ticket in tickets if ticket.row not in wrong_rows]
            is_wrong_file = any(row_error.code in FILE_CODES for row_error in error.errors)
            if not options.partial or is_wrong_file or not tickets:
                break
    return report.serialize()


def _list_left_out(parsed: ParsedFile, correct_tickets: Sequence[SoldTicket]) -> list[RowError]:
    """An error for each row without a problem of its own that is left out because a wrong one has its number or code."""
    named_rows = {ticket.row for ticket in correct_tickets} | {error.row for error in parsed.errors}
    message = mark_for_translation("A row with a problem has the same number or code.")
    return [
        RowError(ticket.row, "reference", "left_out", message, ticket.reference)
        for ticket in parsed.tickets
        if ticket.row not in named_rows
    ]


@contextmanager
def reading(data: bytes, *, max_bytes: int, max_rows: int) -> Iterator[None]:
    """Checks the size of a file. What goes wrong while it is read inside becomes an error of the request.

    Raises ValidationFailed, NotASpreadsheet, ImportTooLarge.
    """
    if not data:
        raise ValidationFailed.of("file", "required", "Send a CSV or XLSX file in the field file.")
    message = (
        f"Send a file of up to {max_rows:,} rows and {max_bytes >> 20} MiB, or several; "
        "`flask tickets import` takes larger ones."
    )
    if len(data) > max_bytes:
        raise ImportTooLarge(message)
    try:
        yield
    except TooManyRows as error:
        raise ImportTooLarge(message) from error
    except NotASheet as error:
        raise NotASpreadsheet(str(error)) from error


def _count_rows(rows: Iterable[Row], on_rows: Callable[[int], None]) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number % PROGRESS_ROWS == 0:
            on_rows(number)
        yield row


@dataclass
class _Report:
    """The errors that an import has found so far, and the names in the file that are no ticket types."""

    parsed: ParsedFile
    errors: list[RowError]
    unknown_types: dict[str, int] = field(default_factory=dict)

    def add(self, rejected: Rejected) -> None:
        """Add the errors of an attempt: those of the file first, the others in the order of the rows."""
        errors = [*self.errors, *rejected.errors]
        self.errors = sorted(errors, key=lambda error: (error.code not in FILE_CODES, error.row))
        if isinstance(rejected, UnknownTypes):
            self.unknown_types = dict(rejected.names)

    def serialize(self, result: ImportResult = EMPTY_RESULT, wrong_rows: int = 0) -> TicketImportJson:
        """Return the result of an import with the errors, for a response."""
        return {
            "import_id": result.import_id,
            "format": self.parsed.layout.format,
            "created": result.created,
            "updated": result.updated,
            "unchanged": result.unchanged,
            "skipped": result.skipped,
            "cancelled": result.cancelled,
            "missing": result.missing,
            "new_types": result.new_types,
            "wrong_rows": wrong_rows,
            "warnings": list(result.warnings),
            "chosen_types": list(result.chosen_types),
            "created_minor": result.created_minor,
            "undated": result.undated,
            "unpriced": list(result.unpriced),
            "assumed_sold": result.assumed_sold,
            "cancelled_tickets": list(result.cancelled_tickets),
            "cancelled_admitted": result.cancelled_admitted,
            "first_tickets": list(result.first_tickets),
            "new_type_names": list(result.new_type_names),
            "new_type_totals": list(result.new_type_totals),
            "unknown_types": [{"name": name, "rows": count} for name, count in self.unknown_types.items()],
            "unknown_statuses": [
                {"word": word, "rows": count}
                for word, count in self.parsed.unknown_statuses.most_common(MAX_UNKNOWN_STATUSES)
            ],
            "chosen_statuses": list(self.parsed.chosen_statuses),
            "omitted": self.parsed.omitted,
            "errors": [error._asdict() for error in self.errors[:MAX_RETURNED_ERRORS]],
            "error_count": len(self.errors),
        }
