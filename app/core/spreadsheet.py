"""Tables that people export: CSV in whatever encoding and with whatever delimiter their program writes.

UTF-8 with and without a byte order mark, UTF-16 with one, and Windows-1252; comma, semicolon or tab. A row's number
is the one a spreadsheet shows: the header is row 1, and a cell that spans lines is still one row.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

DELIMITERS = ",;\t"
BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


SHOWN = 100


class RowError(NamedTuple):
    """What is wrong in one cell."""

    row: int
    column: str
    code: str
    message: str
    value: str


class Rejected(Exception):
    """The file was refused as a whole; nothing is written. Its text lists the errors, a hundred at most."""

    def __init__(self, errors: Sequence[RowError]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        lines = [f"row {each.row}, {each.column}: {each.message} ({each.value!r})" for each in self.errors[:SHOWN]]
        more = [f"and {len(self.errors) - SHOWN} more"] if len(self.errors) > SHOWN else []
        return "\n".join([*lines, *more, f"{len(self.errors)} errors; nothing was written."])


class NotASheet(Exception):
    """The file is no table that can be read; the message says why, for people."""


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


def read_csv(data: bytes) -> Sheet:
    """The table in a file. Raises NotASheet."""
    text = _decoded(data)
    delimiter = _delimiter(text)
    try:
        rows = list(_numbered(text, delimiter))
    except csv.Error as error:
        raise NotASheet(f"The file is not valid CSV: {error}.") from error
    if not rows:
        raise NotASheet("The file is empty.")
    header = [cell.strip() for cell in rows[0][1]]
    return Sheet(header, delimiter, [_row(header, number, cells) for number, cells in rows[1:]])


def _row(header: list[str], number: int, cells: list[str]) -> Row:
    surplus = any(cell.strip() for cell in cells[len(header) :])
    padded = [*cells, *[""] * (len(header) - len(cells))]
    return Row(number, {name: cell.strip() for name, cell in zip(header, padded, strict=False)}, surplus)


def _numbered(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), 1):
        if any(cell.strip() for cell in cells):
            yield number, cells


def _decoded(data: bytes) -> str:
    encoding = next((name for bom, name in BOMS.items() if data.startswith(bom)), None)
    for attempt in [encoding] if encoding else ["utf-8", "cp1252"]:
        try:
            text = data.decode(attempt)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise NotASheet("The file is no text; save it as CSV.")


def _delimiter(text: str) -> str:
    """The delimiter that occurs most often in the header, outside quotes."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    outside = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=outside.count)
