"""From a file to rows that the database can take: every cell checked, every problem with its row and column.

What is fine goes to a spool in the form of COPY, so that a hundred thousand rows need no memory and the transaction
that writes them waits for nobody's parsing.
"""

import csv
import io
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO

from app.core.formulas import escape
from app.core.spreadsheet import BrokenRow, NotASheet, RowError, Table, column_key, opened
from app.inventory.columns import ATTRIBUTES, COLUMNS, TEXT, Column, sku_key
from app.inventory.importing.values import BadCell, reader_of

KNOWN = {column_key(column.name): column for column in COLUMNS}
TOLD, SHOWN = 100_000, 100
SPOOLED = 4 * 1024 * 1024
REMEMBERED = 20_000
STAGED = ("row", "sku_key", *ATTRIBUTES)
ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
FLAWS = {
    "error_value": "The cell holds an error of the spreadsheet.",
    "formula_without_value": "The formula has no value in the file; open it in a spreadsheet, save it, send it again.",
}
NOTHING = "\\N"
Tick = Callable[[int], None]


class TooManyRows(Exception):
    """There are more rows than were allowed."""


@dataclass
class Reading:
    """What a file says: rows that are fine, in a spool in the form of COPY, and what is wrong with the others."""

    spool: IO[bytes]
    ignored: list[str] = field(default_factory=list)
    rows: int = 0
    good: int = 0
    errors: list[RowError] = field(default_factory=list)
    fatal: bool = False


def likeness(cells: list[str]) -> int:
    """How many of our columns a row names."""
    return sum(column_key(cell) in KNOWN for cell in cells)


def count_rows(data: bytes, *, most: int) -> int:
    """How many rows there are below the header. Raises NotASheet, and TooManyRows beyond `most`."""
    count = 0
    try:
        for _ in opened(data, likeness=likeness).rows:
            count += 1
            if count > most:
                raise TooManyRows
    except BrokenRow:
        pass  # Reading will say which row, and what is wrong with it.
    return count


def read(data: bytes, *, tick: Tick = lambda rows: None) -> Reading:
    """Everything that a file says. Raises NotASheet."""
    reading = Reading(tempfile.SpooledTemporaryFile(SPOOLED))  # noqa: SIM115  The database reads it.
    try:
        table = opened(data, likeness=likeness)
        if _header(table, reading):
            _Rows(table, reading).read(tick)
    except BrokenRow as error:
        reading.rows, reading.fatal = reading.rows + 1, True
        reading.errors.append(RowError(error.row, "", "malformed_row", f"The row cannot be read: {error.reason}."))
    reading.spool.seek(0)
    return reading


def as_csv(errors: list[RowError]) -> bytes:
    """The errors as a file that spreadsheets open."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(("row", "column", "code", "message", "value"))
    writer.writerows((*error[:4], escape(error.value)) for error in errors)
    return b"\xef\xbb\xbf" + out.getvalue().encode()


def _header(table: Table, reading: Reading) -> bool:
    """Whether the columns are ones to read by; what is wrong with them is told."""
    names = [column_key(item) for item in table.header]
    reading.ignored = [item for item, name in zip(table.header, names, strict=True) if item and name not in KNOWN]
    if "sku" not in names:
        sentence = "There is no column sku; it tells which item a row is about."
        reading.errors.append(RowError(table.header_row, "sku", "missing_column", sentence))
    for at, name in enumerate(names):
        if name in KNOWN and name in names[:at]:
            sentence = "There are two columns of this name."
            reading.errors.append(RowError(table.header_row, KNOWN[name].name, "duplicate_column", sentence))
    reading.fatal = bool(reading.errors)
    return not reading.fatal


class _Rows:
    """Reads the rows of a table."""

    def __init__(self, table: Table, reading: Reading) -> None:
        self.table, self.reading = table, reading
        self.width = len(table.header)
        self.places: list[tuple[int, Column, Callable[[str], str], dict[str, str]]] = [
            (at, KNOWN[name], reader_of(KNOWN[name], decimal_comma=table.decimal_comma), {})
            for at, name in enumerate(map(column_key, table.header))
            if name in KNOWN
        ]
        self.order = [ATTRIBUTES.index(column.attribute) for _, column, _, _ in self.places]
        self.seen: dict[str, int] = {}

    def read(self, tick: Tick) -> None:
        reading, write = self.reading, self.reading.spool.write
        for number, cells in self._rows():
            reading.rows += 1
            values = self._values(number, cells)
            if values is not None:
                write(values.encode())
                reading.good += 1
            if reading.rows % 5000 == 0:
                tick(reading.rows)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """The rows, each as wide as the header; one that is cut off or too wide is an error."""
        width, last = self.width, None
        for number, cells in self.table.rows:
            if last is not None:
                yield last
            last = None
            if len(cells) > width and any(cell.strip() for cell in cells[width:]):
                self._wrong(number, "", "too_many_cells", "The row has more cells than the header has columns.")
                continue
            last = (number, cells)
        if last is None:
            return
        if self.table.ends_openly and len(last[1]) < width:
            self._wrong(last[0], "", "incomplete_row", "The file ends within this row; it was cut off.")
            return
        yield last

    def _values(self, number: int, cells: list[str]) -> str | None:
        """The row in the form of COPY; None when something is wrong with it."""
        errors = len(self.reading.errors)
        values = [NOTHING] * len(ATTRIBUTES)
        key = ""
        count = len(cells)
        for (at, column, read, known), place in zip(self.places, self.order, strict=True):
            cell = cells[at] if at < count else ""
            found = known.get(cell)
            if found is None:
                found = self._read(number, at, column, read, cell, known)
            values[place] = found
            if column.attribute == "sku":
                key = self._key(number, found)
        return None if len(self.reading.errors) > errors else "\t".join((str(number), key, *values)) + "\n"

    def _read(
        self, number: int, at: int, column: Column, read: Callable[[str], str], cell: str, known: dict[str, str]
    ) -> str:
        flaw = self.table.flaws.get((number, at))
        if flaw:
            self._wrong(number, column.name, flaw, FLAWS[flaw], cell)
            return NOTHING
        if not cell or cell.isspace():
            return NOTHING
        try:
            found = read(cell if column.kind == TEXT else cell.strip())
        except BadCell as error:
            self._wrong(number, column.name, error.code, str(error), cell)
            return NOTHING
        made = found.translate(ESCAPES) or NOTHING
        if len(known) < REMEMBERED and not self.table.flaws:
            known[cell] = made
        return made

    def _key(self, number: int, sku: str) -> str:
        if sku == NOTHING:
            if not self.reading.errors or self.reading.errors[-1][:2] != (number, "sku"):
                self._wrong(number, "sku", "required", "Must not be empty.")
            return ""
        key = sku_key(sku)
        first = self.seen.setdefault(key, number)
        if first != number:
            self._wrong(number, "sku", "duplicate", f"The SKU stands in row {first} already.", sku)
        return key

    def _wrong(self, number: int, column: str, code: str, message: str, value: str = "") -> None:
        if len(self.reading.errors) < TOLD:
            self.reading.errors.append(RowError(number, column, code, message, value[:SHOWN]))


__all__ = ["NotASheet", "Reading", "RowError", "TooManyRows", "as_csv", "count_rows", "read"]
