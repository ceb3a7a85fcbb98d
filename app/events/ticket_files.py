"""Files of sold tickets: every row is checked, and every problem is reported with its row and column."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from app.core import spreadsheet_cells
from app.core.languages import mark_for_translation
from app.core.spreadsheet import Row, RowError, Sheet, column_key, repeated
from app.core.spreadsheet_cells import BadCell
from app.core.text_normalization import clean_name
from app.events.search_words import key_of
from app.events.ticket_layouts import FREE_WORDS, OMITTED, Layout, build_layout, find_layout

T = TypeVar("T")
DAY_LENGTH = len("22.09.2026")
MAX_WORD_LENGTH = 100


class SoldTicket(NamedTuple):
    """A row of the file: a ticket that was sold elsewhere, cancelled or refunded.

    `has_status` is False where the file does not say its status, so that it counts as sold.
    """

    row: int
    reference: str
    ticket_type: str
    name: str | None
    email: str | None
    price_minor: int | None
    sold_at: datetime | None
    status: str
    order_number: str | None = None
    secret: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    has_status: bool = True


@dataclass
class ParsedFile:
    """The layout, the tickets and the problems of a file, and how many rows were read, also of each ticket type.

    `unknown_statuses` and `chosen_statuses` count the rows of words for a status that are not known, or that the caller
    explained; `omitted` are the rows of words that leave them out, which are counted nowhere else.
    `wrong_references` and `wrong_secrets` are of rows with problems, so other rows that have them are doubtful too.
    """

    layout: Layout
    tickets: list[SoldTicket]
    errors: list[RowError]
    row_count: int = 0
    wrong_references: set[str] = field(default_factory=set)
    wrong_secrets: set[str | None] = field(default_factory=set)
    rows_by_type: Counter[str] = field(default_factory=Counter)
    unknown_statuses: Counter[str] = field(default_factory=Counter)
    chosen_statuses: Counter[str] = field(default_factory=Counter)
    omitted: int = 0

    def list_correct_tickets(self) -> list[SoldTicket]:
        """The tickets of the rows without problems, whose number and code no row with a problem has."""
        return [
            ticket
            for ticket in self.tickets
            if ticket.reference not in self.wrong_references and ticket.secret not in self.wrong_secrets
        ]


def parse_sheet(
    sheet: Sheet,
    rows: Iterable[Row] | None = None,
    *,
    mapping: Mapping[str, str] | None = None,
    format: str | None = None,
    status_words: Mapping[str, str] | None = None,
) -> ParsedFile:
    """The tickets of a sheet; `rows` may be the sheet's own wrapped in a progress bar.

    `mapping` has the column of each field, `format` is pretix, eventbrite or own; without both the columns decide.
    `status_words` has the meaning of words in the column of the status, one of WORD_MEANINGS. Raises NotASheet.
    """
    layout = build_layout(sheet.header, mapping) if mapping else find_layout(sheet.header, format)
    words = {word.casefold(): meaning for word, meaning in (status_words or {}).items()}
    layout = replace(layout, statuses={**layout.statuses, **words})
    parsed = ParsedFile(layout, [], _check_header(sheet, layout))
    if parsed.errors:
        return parsed
    seen: dict[str, int] = {}
    seen_secrets: dict[str, int] = {}
    columns = [(column_key(name), name) for name in sheet.header]
    for row in sheet.rows if rows is None else rows:
        parser = _RowParser(layout, columns, sheet.delimiter, row, parsed.errors)
        word = parser.read_cell("status")
        if word.casefold() in words:
            parsed.chosen_statuses[word] += 1
        if (status := layout.find_status(word)) == OMITTED:
            parsed.omitted += 1
            continue
        if status is None and 0 < len(word) <= MAX_WORD_LENGTH:
            parsed.unknown_statuses[word] += 1
        ticket = parser.parse()
        parsed.row_count += 1
        parsed.rows_by_type[key_of(parser.read_cell("ticket_type"))] += 1
        if ticket is None:
            parsed.wrong_references.add(parser.read_cell("reference"))
            if (secret := parser.read_secret()) is not None:
                parsed.wrong_secrets.add(secret)
            continue
        number_error = repeated(seen, ticket.reference, row.number)
        code_error = ticket.secret and repeated(seen_secrets, ticket.secret, row.number, parser.column_name("secret"))
        if number_error:
            parsed.errors.append(number_error)
            parsed.wrong_references.add(ticket.reference)
        if code_error:
            parsed.wrong_secrets.add(ticket.secret)
            if not (number_error and ticket.secret == ticket.reference):
                parsed.errors.append(code_error)
        parsed.tickets.append(ticket)
    return parsed


def _check_header(sheet: Sheet, layout: Layout) -> list[RowError]:
    """The errors of columns that are read and have the name of another one. Other columns may be there twice."""
    keys = [column_key(name) for name in sheet.header]
    used = {layout.find_column(field, dict.fromkeys(keys, "")) for field in layout.columns}
    message = mark_for_translation("There are two columns of this name.")
    return [
        RowError(1, name, "duplicate_column", message, name[:100])
        for index, (key, name) in enumerate(zip(keys, sheet.header, strict=True))
        if key in used and key in keys[:index]
    ]


class _RowParser:
    """Parses one row; appends its problems to `errors`."""

    def __init__(
        self, layout: Layout, columns: Sequence[tuple[str, str]], delimiter: str, row: Row, errors: list[RowError]
    ) -> None:
        self.layout, self.columns, self.row, self.errors = layout, columns, row, errors
        self.cells = {key: row.cells[name] for key, name in columns}
        self.decimal_comma = delimiter != ","

    def parse(self) -> SoldTicket | None:
        """The ticket, or None when the row has a problem."""
        errors_before = len(self.errors)
        if self.row.surplus:
            self._add_error(
                "", "too_many_cells", mark_for_translation("The row has more cells than the header has columns."), ""
            )
        ticket = SoldTicket(
            row=self.row.number,
            reference=self._parse_required("reference", self.read_cell("reference"), 120),
            ticket_type=self._parse_required("ticket_type", clean_name(self.read_cell("ticket_type")), 120),
            name=self._parse_cell("name", self.read_cell("name"), _parse_name),
            email=self._parse_cell("email", self.read_cell("email"), spreadsheet_cells.parse_email),
            price_minor=self._parse_price(),
            sold_at=self._parse_cell("sold_at", self.read_cell("sold_at"), spreadsheet_cells.parse_time),
            status=self._parse_status(),
            order_number=self._parse_text("order_number", clean_name(self.read_cell("order_number")), 120),
            secret=self._parse_cell("secret", self.read_cell("secret"), spreadsheet_cells.parse_secret),
            valid_from=self._parse_cell("valid_from", self.read_cell("valid_from"), spreadsheet_cells.parse_time),
            valid_until=self._parse_cell("valid_until", self.read_cell("valid_until"), _parse_end),
            has_status=bool(self.read_cell("status")),
        )
        return ticket if len(self.errors) == errors_before else None

    def _parse_price(self) -> int | None:
        if self.read_cell("currency") not in ("", "NAD"):
            self._add_error(self.column_name("currency"), "wrong_currency", "Must be NAD.", self.read_cell("currency"))
        cents = self._parse_cell("price_minor", self.read_cell("price_minor"), spreadsheet_cells.parse_whole_cents)
        price = self._parse_cell(
            "price",
            self.read_cell("price"),
            lambda cell: spreadsheet_cells.parse_cents(cell, decimal_comma=self.decimal_comma),
        )
        known_price = price if cents is None else cents
        is_free = known_price is None and self.read_cell("status").casefold() in FREE_WORDS
        return 0 if is_free else known_price

    def _parse_status(self) -> str:
        word = self.read_cell("status")
        status = self.layout.find_status(word)
        if status is None:
            message = "Not a known word; --status-word (statusWords) says what it means."
            self._add_error(self.column_name("status"), "unknown_value", message, word)
        return status or ""

    def _parse_required(self, field: str, cell: str, max_length: int) -> str:
        if not cell:
            self._add_error(self.column_name(field), "required", mark_for_translation("Must not be empty."), "")
        return self._parse_text(field, cell, max_length) or ""

    def _parse_text(self, field: str, cell: str, max_length: int) -> str | None:
        return self._parse_cell(field, cell, lambda text: spreadsheet_cells.parse_text(text, longest=max_length))

    def _parse_cell(self, field: str, cell: str, parse: Callable[[str], T]) -> T | None:
        try:
            return parse(cell) if cell else None
        except BadCell as error:
            self._add_error(self.column_name(field), error.code, str(error), cell)
            return None

    def read_secret(self) -> str | None:
        """The code of the row, also if another field is wrong; None without one."""
        try:
            return spreadsheet_cells.parse_secret(self.read_cell("secret")) or None
        except BadCell:
            return None

    def read_cell(self, field: str) -> str:
        """The text of a field as the row has it, also if it is wrong."""
        return self.layout.read_cell(field, self.cells)

    def column_name(self, field: str) -> str:
        """The name of the field's column as the header has it."""
        column = self.layout.find_column(field, self.cells) or next(iter(self.layout.columns[field]), field)
        return dict(self.columns).get(column, column)

    def _add_error(self, column: str, code: str, message: str, value: str) -> None:
        self.errors.append(RowError(self.row.number, column, code, message, value[:100]))


def _parse_name(cell: str) -> str | None:
    return clean_name(spreadsheet_cells.parse_text(cell, longest=200)) or None


def _parse_end(cell: str) -> datetime:
    """A time; a day without a time ends at midnight."""
    time = spreadsheet_cells.parse_time(cell)
    return time + timedelta(days=1) if len(cell) <= DAY_LENGTH else time
