"""Reads tables from CSV and XLSX files.

CSV may be UTF-8 with or without a byte order mark, UTF-16 with one, or Windows-1252, separated by comma, semicolon or
tab. Row numbers are those of a spreadsheet: the first row is 1, and a cell that spans lines is one row. Rows are read
one after the other, so a long table needs no more memory than its file.
"""

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple

from app.core import xlsx_reader
from app.core.formatting import format_count
from app.core.languages import mark_for_translation
from app.core.xlsx_reader import NotASheet as NotASheet

DELIMITERS = ",;\t"
BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
BLOCK = 1024 * 1024
HEADER_SEARCH_ROWS = 20
MAX_COLUMNS = 500
MAX_CELL_CHARACTERS = 128 * 1024
LONG_CELL = f"a cell has more than {MAX_CELL_CHARACTERS:,} characters, or its quotation mark is not closed,"
MAX_SHOWN_ERRORS = 100
Cells = list[str]
NumberedRow = tuple[int, Cells]


class BrokenRow(NotASheet):
    """A row that is not valid CSV."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"The file is not valid CSV: {reason} in row {row}.")
        self.row, self.reason = row, reason


class RowError(NamedTuple):
    """A problem of one cell or row."""

    row: int
    column: str
    code: str
    message: str
    value: str = ""


def repeated(seen: dict[str, int], value: str, row: int, column: str = "reference") -> RowError | None:
    """Return the error of a row whose value an earlier row has; `seen` has the first row of each value."""
    first_row = seen.setdefault(value, row)
    if first_row == row:
        return None
    return RowError(row, column, "duplicate", f"Row {first_row} has the same {column}.", value)


class Rejected(Exception):
    """The file was refused and nothing was written. The text lists the first hundred errors."""

    def __init__(self, errors: Sequence[RowError]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        lines = [
            f"row {error.row}, {error.column}: {error.message} ({error.value!r})"
            for error in self.errors[:MAX_SHOWN_ERRORS]
        ]
        if len(self.errors) > MAX_SHOWN_ERRORS:
            lines.append(f"and {len(self.errors) - MAX_SHOWN_ERRORS} more")
        return "\n".join([*lines, f"{format_count(len(self.errors), 'error')}; nothing was written."])


@dataclass(frozen=True)
class Row:
    """A row with its number and its trimmed cells by column name; `surplus` if it has more cells than the header."""

    number: int
    cells: dict[str, str]
    surplus: bool


@dataclass(frozen=True)
class Sheet:
    """A whole table: the column names, the delimiter, and the rows that are not empty."""

    header: list[str]
    delimiter: str
    rows: list[Row]


@dataclass
class Table:
    """A table that is read row by row.

    `flaws` has the cells (row, column from 0) with an error or a formula without a value. `ends_openly` is true when
    the file does not end with a line break.
    """

    header: list[str]
    header_row: int
    delimiter: str
    rows: Iterator[NumberedRow]
    flaws: dict[tuple[int, int], str] = field(default_factory=dict)
    ends_openly: bool = False

    @property
    def decimal_comma(self) -> bool:
        return self.delimiter == ";"


def column_key(column: str) -> str:
    """Return a column's name without case, blanks and punctuation, for comparisons."""
    return "".join(character for character in column.casefold() if character.isalnum() or character == "#")


class TooManyRows(Exception):
    """The file has more rows than the limit."""


def read_sheet(data: bytes, *, max_rows: int | None = None) -> Sheet:
    """Return the whole table of a file; the first row that is not empty is the header.

    Raises NotASheet, TooManyRows.
    """
    sheet, rows = open_sheet(data, max_rows=max_rows)
    return Sheet(sheet.header, sheet.delimiter, list(rows))


def open_sheet(
    data: bytes,
    *,
    max_rows: int | None = None,
    likeness: Callable[[Cells], int] = lambda cells: 1,
    rename: Callable[[Cells], Cells] = list,
) -> tuple[Sheet, Iterator[Row]]:
    """Return a table without rows, and its rows one after the other, for a table that is too large for the memory.

    `likeness` finds the header, as for `open_table`. Raises NotASheet and, while the rows are read, TooManyRows.
    """
    table = open_table(data, likeness=likeness, rename=rename)
    if len(table.header) > MAX_COLUMNS:
        raise NotASheet(f"The file has more than {MAX_COLUMNS} columns.")
    return Sheet(table.header, table.delimiter, []), _build_rows(table, max_rows)


def open_table(
    data: bytes,
    *,
    likeness: Callable[[Cells], int] = lambda cells: 1,
    rename: Callable[[Cells], Cells] = list,
) -> Table:
    """Return a table whose header is the most likely of the first rows; titles above it are skipped.

    `likeness` returns how many known names a row has, and `rename` the names that the columns get. Raises NotASheet, also
    while the rows are read.
    """
    if xlsx_reader.is_workbook(data):
        workbook = xlsx_reader.read(data)
        table = _find_header(workbook.rows, likeness, "", workbook.flaws, ends_openly=False)
    else:
        encoding = _detect_encoding(data)
        delimiter = _detect_delimiter(data[:BLOCK], encoding, likeness)
        rows = _read_csv(data, encoding, delimiter)
        table = _find_header(rows, likeness, delimiter, {}, ends_openly=data[-1:] not in b"\r\n\0")
    table.header = rename(table.header)
    return table


def _find_header(
    rows: Iterator[NumberedRow],
    likeness: Callable[[Cells], int],
    delimiter: str,
    flaws: dict[tuple[int, int], str],
    *,
    ends_openly: bool,
) -> Table:
    first_rows = list(islice(rows, HEADER_SEARCH_ROWS))
    if not first_rows:
        raise NotASheet(mark_for_translation("The file is empty."))
    best = max(range(len(first_rows)), key=lambda at: (likeness(first_rows[at][1]), -at))
    number, cells = first_rows[best]
    remaining_rows = chain(first_rows[best + 1 :], rows)
    return Table([cell.strip() for cell in cells], number, delimiter, remaining_rows, flaws, ends_openly)


def _build_rows(table: Table, max_rows: int | None) -> Iterator[Row]:
    for row in islice(table.rows, max_rows):
        yield _build_row(table.header, *row)
    if next(iter(table.rows), None) is not None:
        raise TooManyRows


def _build_row(header: list[str], number: int, cells: Cells) -> Row:
    surplus = any(cell.strip() for cell in cells[len(header) :])
    padded = [*cells, *[""] * (len(header) - len(cells))]
    return Row(number, {name: cell.strip() for name, cell in zip(header, padded, strict=False)}, surplus)


def _read_csv(data: bytes, encoding: str, delimiter: str, *, errors: str = "strict") -> Iterator[NumberedRow]:
    number = 0
    # The limit applies to the whole process; it is the same for all files.
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    try:
        lines = _lines(data, encoding, errors)
        for number, cells in enumerate(csv.reader(lines, delimiter=delimiter, strict=True), 1):
            if any(cell and not cell.isspace() for cell in cells):
                yield number, cells
    except csv.Error as error:
        is_long = "field limit" in str(error)
        raise BrokenRow(number + 1, LONG_CELL if is_long else str(error)) from error


def _lines(data: bytes, encoding: str, errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding=encoding, errors=errors, newline="")


def _detect_encoding(data: bytes) -> str:
    """Return the encoding of the file. Raises NotASheet."""
    by_mark = next((name for bom, name in BOMS.items() if data.startswith(bom)), None)
    if by_mark == "utf-16" or not (b"\0" in data or data.startswith(b"%PDF")):
        for encoding in [by_mark] if by_mark else ["utf-8", "cp1252"]:
            if _can_decode(data, encoding):
                return encoding
    raise NotASheet(mark_for_translation("This is not a text file. Save it as CSV."))


def _can_decode(data: bytes, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    view = memoryview(data)
    try:
        return all(
            "\0" not in decoder.decode(bytes(view[at : at + BLOCK]), final=at + BLOCK >= len(data))
            for at in range(0, len(data), BLOCK)
        )
    except UnicodeDecodeError:
        return False


def _detect_delimiter(beginning: bytes, encoding: str, likeness: Callable[[Cells], int]) -> str:
    """Return the delimiter with which one of the first rows is most like a header.

    Of several, it is the one that occurs most often in the first line, outside quotes.
    """
    with _lines(beginning, encoding, "replace") as lines:
        first_line = next((line for line in lines if line.strip()), "")
    outside = "".join(first_line.split('"')[::2])
    return max(
        DELIMITERS,
        key=lambda delimiter: (_find_likeness(beginning, encoding, delimiter, likeness), outside.count(delimiter)),
    )


def _find_likeness(beginning: bytes, encoding: str, delimiter: str, likeness: Callable[[Cells], int]) -> int:
    """Return the highest likeness among the first rows, up to one that is not valid CSV."""
    highest = 0
    try:
        for _, cells in islice(_read_csv(beginning, encoding, delimiter, errors="replace"), HEADER_SEARCH_ROWS):
            highest = max(highest, likeness(cells))
    except BrokenRow:
        pass
    return highest
