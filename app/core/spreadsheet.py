"""Tables that people export: CSV in whatever encoding and with whatever delimiter their program writes, and XLSX.

UTF-8 with and without a byte order mark, UTF-16 with one, and Windows-1252; comma, semicolon or tab. A row's number
is the one a spreadsheet shows: the first is row 1, and a cell that spans lines is still one row. Rows are read one
after the other, so that a long table needs no more memory than its file.
"""

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple

from app.core import xlsx_reader
from app.core.xlsx_reader import NotASheet as NotASheet

DELIMITERS = ",;\t"
BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
BLOCK = 1024 * 1024
TITLES = 20
LONGEST_CELL = 128 * 1024
Cells = list[str]
Numbered = tuple[int, Cells]


class BrokenRow(NotASheet):
    """A row that cannot be told apart from the next one."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"The file is not valid CSV: {reason} in row {row}.")
        self.row, self.reason = row, reason


SHOWN = 100


class RowError(NamedTuple):
    """What is wrong in one cell, or with a row."""

    row: int
    column: str
    code: str
    message: str
    value: str = ""


def repeated(seen: dict[str, int], reference: str, row: int) -> RowError | None:
    """What is wrong with a row whose reference stands further up; the first row of each is noted in `seen`."""
    first = seen.setdefault(reference, row)
    if first == row:
        return None
    return RowError(row, "reference", "duplicate", f"The reference stands in row {first} already.", reference)


class Rejected(Exception):
    """The file was refused as a whole; nothing is written. Its text lists the errors, a hundred at most."""

    def __init__(self, errors: Sequence[RowError]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        lines = [f"row {error.row}, {error.column}: {error.message} ({error.value!r})" for error in self.errors[:SHOWN]]
        more = [f"and {len(self.errors) - SHOWN} more"] if len(self.errors) > SHOWN else []
        return "\n".join([*lines, *more, f"{len(self.errors)} errors; nothing was written."])


@dataclass(frozen=True)
class Row:
    """A row with its number and its cells, trimmed, by the header's names as they were written."""

    number: int
    cells: dict[str, str]
    surplus: bool


@dataclass(frozen=True)
class Sheet:
    """A table: the header's names, the delimiter, and the rows that are not empty."""

    header: list[str]
    delimiter: str
    rows: list[Row]


@dataclass
class Table:
    """A table that is read row by row. `flaws` says which cells (row, column counted from 0) hold an error or a formula
    without its value; `cut_off` that the last row ends before its line does."""

    header: list[str]
    header_row: int
    delimiter: str
    rows: Iterator[Numbered]
    flaws: dict[tuple[int, int], str] = field(default_factory=dict)
    ends_openly: bool = False

    @property
    def decimal_comma(self) -> bool:
        return self.delimiter == ";"


def column_key(column: str) -> str:
    """A column's name without what does not count: case, blanks and punctuation."""
    return "".join(item for item in column.casefold() if item.isalnum() or item == "#")


def read_sheet(data: bytes) -> Sheet:
    """The whole table in a file; its first row that is not empty is the header. Raises NotASheet."""
    table = opened(data)
    return Sheet(table.header, table.delimiter, [_row(table.header, *row) for row in table.rows])


def opened(data: bytes, *, likeness: Callable[[Cells], int] = lambda cells: 1) -> Table:
    """A table whose header is the likeliest of its first rows: titles above it are passed over.

    `likeness` says how many names of a row are known. Raises NotASheet, also while the rows are read.
    """
    if xlsx_reader.is_workbook(data):
        result = xlsx_reader.read(data)
        return _table(result.rows, likeness, "", result.flaws, ends_openly=False)
    encoding = _encoding(data)
    delimiter = _delimiter(data, encoding)
    return _table(_numbered(data, encoding, delimiter), likeness, delimiter, {}, ends_openly=data[-1:] not in b"\r\n\0")


def _table(
    rows: Iterator[Numbered],
    likeness: Callable[[Cells], int],
    delimiter: str,
    flaws: dict[tuple[int, int], str],
    *,
    ends_openly: bool,
) -> Table:
    first = list(islice(rows, TITLES))
    if not first:
        raise NotASheet("The file is empty.")
    best = max(range(len(first)), key=lambda at: (likeness(first[at][1]), -at))
    number, cells = first[best]
    rest = chain(first[best + 1 :], rows)
    return Table([cell.strip() for cell in cells], number, delimiter, rest, flaws, ends_openly)


def _row(header: list[str], number: int, cells: Cells) -> Row:
    surplus = any(cell.strip() for cell in cells[len(header) :])
    padded = [*cells, *[""] * (len(header) - len(cells))]
    return Row(number, {name: cell.strip() for name, cell in zip(header, padded, strict=False)}, surplus)


def _numbered(data: bytes, encoding: str, delimiter: str) -> Iterator[Numbered]:
    number = 0
    # The limit counts for the whole process, and is the same for everybody.
    csv.field_size_limit(LONGEST_CELL)
    try:
        for number, cells in enumerate(csv.reader(_lines(data, encoding), delimiter=delimiter, strict=True), 1):
            if any(cell and not cell.isspace() for cell in cells):
                yield number, cells
    except csv.Error as error:
        raise BrokenRow(number + 1, str(error)) from error


def _lines(data: bytes, encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="")


def _encoding(data: bytes) -> str:
    """What the bytes are written in, tried block by block."""
    marked = next((name for bom, name in BOMS.items() if data.startswith(bom)), None)
    if marked == "utf-16" or b"\0" not in data:
        for attempt in [marked] if marked else ["utf-8", "cp1252"]:
            if _decodes(data, attempt):
                return attempt
    raise NotASheet("The file is no text; save it as CSV.")


def _decodes(data: bytes, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    view = memoryview(data)
    try:
        return all(
            "\0" not in decoder.decode(bytes(view[at : at + BLOCK]), final=at + BLOCK >= len(data))
            for at in range(0, len(data), BLOCK)
        )
    except UnicodeDecodeError:
        return False


def _delimiter(data: bytes, encoding: str) -> str:
    """The delimiter that occurs most often in the header, outside quotes."""
    with _lines(data[:BLOCK], encoding) as lines:
        lines.reconfigure(errors="replace")
        header = next((line for line in lines if line.strip()), "")
    outside = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=outside.count)
