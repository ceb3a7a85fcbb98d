"""From a file to credits: every row checked, every problem with its row and column."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from app.core import cells
from app.core.cells import BadCell
from app.core.dates import HOME
from app.core.db import database_now
from app.core.ids import is_id
from app.core.spreadsheet import NotASheet, Row, RowError, Sheet, repeated

COLUMNS = ("reference", "merchant", "amountMinor", "occurredAt", "description")
NEEDED = ("reference", "merchant", "amountMinor")


class Credit(NamedTuple):
    """A row of the file: what a merchant earned, known by its reference for ever."""

    row: int
    reference: str
    merchant: str
    amount_minor: int
    occurred_at: datetime | None
    description: str | None


class Reading(NamedTuple):
    """What a file says, and what is wrong with it."""

    credits: list[Credit]
    errors: list[RowError]


def read(sheet: Sheet, rows: Iterable[Row] | None = None) -> Reading:
    """The credits of a table; `rows` may be the sheet's own with a progress bar around. Raises NotASheet."""
    named = _columns(sheet.header)
    reading = Reading([], [])
    seen: dict[str, int] = {}
    now = database_now()
    for row in sheet.rows if rows is None else rows:
        credit = _Cells(named, row, reading.errors, now).credit()
        if credit is None:
            continue
        if again := repeated(seen, credit.reference, row.number):
            reading.errors.append(again)
        reading.credits.append(credit)
    return reading


def _columns(header: list[str]) -> dict[str, str]:
    """Our columns, by the names the file has for them: case, blanks and punctuation do not count."""
    plain = {re.sub(r"[^a-z]", "", name.casefold()): name for name in header}
    named = {column: plain[column.lower()] for column in COLUMNS if column.lower() in plain}
    missing = [column for column in NEEDED if column not in named]
    if missing:
        raise NotASheet(f"The file has no column {', '.join(missing)}; a settlement has {', '.join(COLUMNS)}.")
    return named


class _Cells:
    """One row while it is read; problems go to the list it was given."""

    def __init__(self, named: dict[str, str], row: Row, errors: list[RowError], now: datetime) -> None:
        self.named, self.row, self.errors, self.now = named, row, errors, now

    def credit(self) -> Credit | None:
        before = len(self.errors)
        if self.row.surplus:
            self._wrong("", "too_many_cells", "The row has more cells than the header has columns.", "")
        made = Credit(
            self.row.number,
            self._read("reference", lambda cell: cells.text(cell, longest=120)),
            self._read("merchant", _merchant),
            self._read("amountMinor", _positive),
            self._read("occurredAt", lambda cell: _moment(cell, self.now)),
            self._read("description", lambda cell: cells.text(cell, longest=200)),
        )
        return made if len(self.errors) == before else None

    def _read(self, column: str, reader: Callable[[str], Any]) -> Any:
        cell = self.row.cells[self.named[column]] if column in self.named else ""
        try:
            if not cell and column in NEEDED:
                raise BadCell("required", "Must not be empty.")
            return reader(cell) if cell else None
        except BadCell as error:
            self._wrong(column, error.code, str(error), cell)
            return None

    def _wrong(self, column: str, code: str, message: str, value: str) -> None:
        self.errors.append(RowError(self.row.number, column, code, message, value[:100]))


def _merchant(cell: str) -> str:
    return cell.lower() if is_id(cell.lower()) else cells.email(cell)


def _positive(cell: str) -> int:
    amount = cells.whole_cents(cell)
    if amount == 0:
        raise BadCell("too_small", "Must be at least 1.")
    return amount


def _moment(cell: str, now: datetime) -> datetime:
    """A naive time is in Windhoek; nothing is earned in the future."""
    moment = cells.moment(cell)
    known = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(HOME))
    if known > now:
        raise BadCell("too_large", "Must not be in the future.")
    return known.astimezone(UTC)
