"""Bank statements: reading the rows of money that came in."""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from app.applications.errors import StatementUnreadable
from app.applications.models import REFERENCE_ALPHABET, Application
from app.applications.statement_cells import clean_text, has_day, has_digit, parse_amount, parse_day, read_direction
from app.applications.statement_columns import (
    REQUIRED_FIELDS,
    StatementColumns,
    describe_unknown_columns,
    find_columns,
    is_certain,
    rate_header,
)
from app.core.column_samples import SAMPLE_ROWS, ColumnSample, build_sample, number_equal_names
from app.core.languages import gettext
from app.core.spreadsheet import NotASheet, Table, TooManyRows, open_sheet, open_table
from app.core.spreadsheet_cells import BadCell

MAX_ROWS = 5000
REFERENCE_PATTERN = re.compile(rf"(?=MA([{REFERENCE_ALPHABET}]{{8}}))")
NUMBER_PATTERN = re.compile(r"(?<![^\W_])(?<![^\W_][/-])(20\d\d)[\s/-]*(\d{6})(?!\d)")
"""Not behind a letter or a digit: `CN-2026-000001` is a credit note, and other sellers have numbers like `PO-2026-000001`."""
MAX_TEXT = 80
"""How much of a row's text is recorded."""
MATCHED, RECORDED, UNMATCHED = "matched", "recorded", "unmatched"


@dataclass(frozen=True)
class StatementRow:
    """Money that came in, or went out; `problem` says why it counts for no fee, whatever its reference."""

    number: int
    day: date | None
    amount_minor: int | None
    text: str
    problem: str | None = None
    is_outgoing: bool = False

    @cached_property
    def possible_references(self) -> set[str]:
        """What in the text may be a reference; banks drop the hyphen or add spaces."""
        characters = "".join(character for character in self.text.upper() if character.isalnum())
        return {f"MA-{match[1]}" for match in REFERENCE_PATTERN.finditer(characters)}

    @cached_property
    def possible_numbers(self) -> set[str]:
        """What in the text may be the number of a block's invoice."""
        return {f"{match[1]}-{match[2]}" for match in NUMBER_PATTERN.finditer(self.text)}

    @property
    def transfer(self) -> tuple[int | None, date | None, str]:
        """What equal rows have in common, as it is recorded."""
        return self.amount_minor, self.day, self.text[:MAX_TEXT]

    @property
    def reversal_keys(self) -> set[str]:
        """What a row that sends the money back has in common: references, else numbers, else the whole text."""
        return self.possible_references or self.possible_numbers or ({self.text.casefold()} if self.text else set())


@dataclass(frozen=True)
class MatchedRow:
    """A row with the application or the block's invoice of an event that it pays, or the reason why it pays none.

    A row that is a recorded transfer has the status RECORDED, or the problem of its row.
    """

    row: StatementRow
    status: str
    reason: str | None = None
    application: Application | None = None
    event_id: str | None = None
    invoice_number: str | None = None
    block_id: str | None = None
    is_transfer: bool = False


class StatementSample(NamedTuple):
    """The columns of a statement with their first values, its number of rows, and whether its columns are certain."""

    columns: list[ColumnSample]
    rows: int
    is_certain: bool

    @property
    def headings(self) -> list[str]:
        return [column["name"] for column in self.columns]


def parse_statement(data: bytes, mapping: Mapping[str, str] | None = None) -> list[StatementRow]:
    """The rows of money that came in. `mapping` has the column of each field. Raises StatementUnreadable."""
    try:
        table = open_table(data, likeness=lambda cells: rate_header(cells, mapping), rename=number_equal_names)
        columns = find_columns(table.header, mapping)
        return _remove_outgoing(list(_parse_rows(table, columns)))
    except NotASheet as error:
        raise StatementUnreadable(str(error)) from error


def read_sample(data: bytes) -> StatementSample:
    """What people see of a statement to choose its columns. Raises StatementUnreadable, also without headings."""
    try:
        sheet, rows = open_sheet(data, max_rows=MAX_ROWS, likeness=rate_header, rename=number_equal_names)
        if has_day(sheet.header):
            raise NotASheet(describe_unknown_columns(sheet.header))
        first_rows = list(islice(rows, SAMPLE_ROWS))
        columns = build_sample(sheet.header, first_rows, is_name=str.strip)
        if len(columns) < len(REQUIRED_FIELDS):
            raise NotASheet(describe_unknown_columns(sheet.header))
        return StatementSample(columns, len(first_rows) + sum(1 for _ in rows), is_certain(columns))
    except NotASheet as error:
        raise StatementUnreadable(str(error)) from error
    except TooManyRows as error:
        raise StatementUnreadable(_describe_row_limit()) from error


def write_statement(rows: Sequence[StatementRow]) -> str:
    """Return a statement with only these rows, as CSV that `parse_statement` reads; each needs its day and its amount."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(("date", "amount", "description"))
    for row in rows:
        assert row.day is not None and row.amount_minor is not None
        amount = f"{row.amount_minor // 100}.{row.amount_minor % 100:02d}"
        writer.writerow((row.day.isoformat(), amount, row.text))
    return file.getvalue()


def build_assigned_text(reference: str, text: str) -> str:
    """The text of a row for which a person has chosen what it pays."""
    return f"{reference} {text}"


def _remove_outgoing(rows: Sequence[StatementRow]) -> list[StatementRow]:
    """The rows of money that came in. One that went out again, on that day or later, has the problem `reversed`."""
    day_by_number = {row.number: row.day or date.max for row in rows}
    credits_by_key: dict[tuple[str, int | None], list[int]] = defaultdict(list)
    debits: list[StatementRow] = []
    for row in sorted(rows, key=lambda row: day_by_number[row.number]):
        if row.is_outgoing:
            debits.append(row)
            continue
        for key in row.reversal_keys:
            credits_by_key[key, row.amount_minor].append(row.number)
    reversed_numbers: set[int] = set()
    for debit in debits:
        for key in sorted(debit.reversal_keys):
            numbers = credits_by_key[key, debit.amount_minor]
            if numbers and day_by_number[numbers[0]] <= day_by_number[debit.number]:
                reversed_numbers.add(numbers.pop(0))
                break
    return [
        replace(row, problem="reversed") if row.number in reversed_numbers else row
        for row in rows
        if not row.is_outgoing
    ]


def _parse_rows(table: Table, columns: StatementColumns) -> Iterator[StatementRow]:
    for count, (number, cells) in enumerate(table.rows):
        if count == MAX_ROWS:
            raise NotASheet(_describe_row_limit())
        cells = [*cells, *[""] * (len(table.header) - len(cells))]
        debit = next((cells[position] for position in columns.debits if has_digit(cells[position])), None)
        directions = [read_direction(cells[position]) for position in columns.directions]
        is_outgoing = debit is not None or True in directions
        is_unknown = any(cells[at].strip() and read_direction(cells[at]) is None for at in columns.known_directions)
        text = clean_text(" ".join(cells[position] for position in columns.texts))
        try:
            amount_minor = parse_amount(debit or cells[columns.amount], decimal_comma=table.decimal_comma)
        except BadCell:
            if not is_outgoing:
                yield StatementRow(number, None, None, text, "amount_unreadable")
            continue
        if not amount_minor:
            continue
        is_outgoing = is_outgoing or amount_minor < 0
        try:
            day = parse_day(cells[columns.date].strip())
        except BadCell:
            yield StatementRow(number, None, abs(amount_minor), text, "date_unreadable", is_outgoing)
        else:
            problem = "direction_unknown" if is_unknown and not is_outgoing else None
            yield StatementRow(number, day, abs(amount_minor), text, problem, is_outgoing)


def _describe_row_limit() -> str:
    return gettext("A statement may have %(rows)s rows; send it in parts, each day in one part.", rows=MAX_ROWS)
