"""From a file to tickets: every row checked, every problem with its row and column."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from app.core import cell_parsing as values
from app.core.cell_parsing import BadCell
from app.core.names import clean_name
from app.core.spreadsheet import Row, RowError, Sheet, column_key, repeated
from app.events.importing.formats import Layout, full_name, layout_of


class SoldTicket(NamedTuple):
    """A row of the file: a ticket that was sold elsewhere, or is not any more."""

    row: int
    reference: str
    ticket_type: str
    name: str | None
    email: str | None
    price_minor: int | None
    sold_at: datetime | None
    status: str


@dataclass
class Reading:
    """What a file says: its layout, its tickets, and what is wrong with it."""

    layout: Layout
    tickets: list[SoldTicket]
    errors: list[RowError]


def read(sheet: Sheet, rows: Iterable[Row] | None = None) -> Reading:
    """The tickets of a table; `rows` may be the sheet's own with a progress bar around. Raises NotASheet."""
    layout = layout_of(sheet.header)
    reading = Reading(layout, [], [])
    seen: dict[str, int] = {}
    for row in sheet.rows if rows is None else rows:
        ticket = _Cells(layout, sheet, row, reading.errors).ticket()
        if ticket is None:
            continue
        if again := repeated(seen, ticket.reference, row.number):
            reading.errors.append(again)
        reading.tickets.append(ticket)
    return reading


class _Cells:
    """One row while it is read; problems go to the list it was given."""

    def __init__(self, layout: Layout, sheet: Sheet, row: Row, errors: list[RowError]) -> None:
        self.layout, self.row, self.errors = layout, row, errors
        self.cells = {column_key(name): cell for name, cell in row.cells.items()}
        self.named = {column_key(name): name for name in sheet.header}
        self.decimal_comma = sheet.delimiter != ","

    def ticket(self) -> SoldTicket | None:
        before = len(self.errors)
        if self.row.surplus:
            self._wrong("", "too_many_cells", "The row has more cells than the header has columns.", "")
        sold_ticket = SoldTicket(
            self.row.number,
            self._required("reference", self.layout.reference(self.cells), 120),
            self._required("ticket_type", clean_name(self._cell("ticket_type")), 120),
            self._read(
                "name",
                full_name(self.layout, self.cells),
                lambda cell: clean_name(values.parse_text(cell, longest=200)) or None,
            ),
            self._read("email", self._cell("email"), values.parse_email),
            self._price(),
            self._read("sold_at", self.layout.sold_at(self.cells), values.parse_time),
            self._status(),
        )
        return sold_ticket if len(self.errors) == before else None

    def _price(self) -> int | None:
        if self._cell("currency") not in ("", "NAD"):
            self._wrong(self._column("currency"), "wrong_currency", "Must be NAD.", self._cell("currency"))
        exact: int | None = self._read("price_minor", self._cell("price_minor"), values.parse_whole_cents)
        read: int | None = self._read(
            "price", self._cell("price"), lambda cell: values.parse_cents(cell, decimal_comma=self.decimal_comma)
        )
        return read if exact is None else exact

    def _status(self) -> str:
        word = self._cell("status").casefold()
        if not word and self.layout.default_status:
            return self.layout.default_status
        status = self.layout.statuses.get(word)
        if status is None:
            known = ", ".join(status for status in self.layout.statuses if len(status) > 1)
            self._wrong(self._column("status"), "unknown_value", f"Must be one of: {known}.", self._cell("status"))
        return status or ""

    def _required(self, value: str, cell: str, longest: int) -> str:
        if not cell:
            self._wrong(self._column(value), "required", "Must not be empty.", "")
        return self._read(value, cell, lambda result: values.parse_text(result, longest=longest)) or ""

    def _read(self, value: str, cell: str, reader: Callable[[str], Any]) -> Any:
        try:
            return reader(cell) if cell else None
        except BadCell as error:
            self._wrong(self._column(value), error.code, str(error), cell)
            return None

    def _cell(self, value: str) -> str:
        column = self.layout.column_of(value, self.cells)
        return self.cells[column] if column else ""

    def _column(self, value: str) -> str:
        result = self.layout.column_of(value, self.cells) or next(iter(self.layout.columns[value]), value)
        return self.named.get(result, result)

    def _wrong(self, column: str, code: str, message: str, value: str) -> None:
        self.errors.append(RowError(self.row.number, column, code, message, value[:100]))
