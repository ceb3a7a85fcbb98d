"""The parser of stock sheets: it checks every cell and reports each error with its row and column.

Valid rows go to a spool file in the format of COPY, so that 100,000 rows need no memory and the transaction that writes
them does not wait for the parser. A cell that cannot be read raises CellError with a code and a message.
"""

import csv
import io
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import islice
from operator import itemgetter
from typing import IO

from app.core.addresses import is_url
from app.core.column_samples import SAMPLE_ROWS, ColumnSample, build_sample
from app.core.languages import mark_for_translation
from app.core.spreadsheet import BrokenRow, NotASheet, RowError, Table, TooManyRows, column_key, open_sheet, open_table
from app.core.spreadsheet_cells import CERTAIN_COMMA, SPACES, escape, strip_amount, unescape
from app.core.text_normalization import CONTROL, normalize_text
from app.inventory.item_fields import (
    ATTRIBUTES,
    DATE,
    DECIMAL_PLACES,
    FIELDS_BY_NAME,
    ITEM_FIELDS,
    LINK,
    PRICE,
    TEXT,
    ItemField,
    fold_sku,
)
from app.inventory.stock_import.column_names import suggest_mapping

__all__ = [
    "NotASheet",
    "ParsedSheet",
    "RowError",
    "TooManyRows",
    "build_errors_csv",
    "count_rows",
    "has_known_columns",
    "parse_sheet",
    "read_sample",
]

FIELDS_BY_COLUMN = {column_key(item_field.name): item_field for item_field in ITEM_FIELDS}
MAX_ERRORS, MAX_VALUE_LENGTH = 100_000, 100
SPOOL_MEMORY_BYTES = 4 * 1024 * 1024
CELL_CACHE_SIZE = 20_000
STAGING_COLUMNS = ("row", "sku_key", *ATTRIBUTES)
COPY_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
CELL_FLAW_MESSAGES = {
    "error_value": mark_for_translation("The cell holds an error of the spreadsheet."),
    "formula_without_value": mark_for_translation(
        "The formula has no value in the file; open it in a spreadsheet, save it, send it again."
    ),
}
COPY_NULL = "\\N"
SKU = "sku"
MAY_SHARE_COLUMN = {"name", SKU}
"""In a list without numbers the name is what identifies an item."""
NO_SKU = mark_for_translation("The column sku is missing; it identifies the item of a row.")
NO_COLUMN = mark_for_translation("The file has no column of this name.")
TWO_COLUMNS = mark_for_translation("There are two columns of this name.")
TWO_FIELDS = mark_for_translation("Two fields have this column.")
FieldColumns = Sequence[tuple[ItemField, Sequence[int]]]
ProgressCallback = Callable[[int], None]


@dataclass
class ParsedSheet:
    """The valid rows of a file, in a spool file in the format of COPY, and the errors of the others."""

    spool: IO[bytes]
    ignored_columns: list[str] = field(default_factory=list)
    rows: int = 0
    valid_rows: int = 0
    errors: list[RowError] = field(default_factory=list)
    is_unreadable: bool = False


def count_known_columns(cells: list[str]) -> int:
    """Return how many known columns a row names."""
    return sum(column_key(cell) in FIELDS_BY_COLUMN for cell in cells)


def count_likely_columns(cells: list[str]) -> int:
    """Return how many columns a row names as spreadsheets do."""
    return len(suggest_mapping(cells))


def read_sample(data: bytes) -> list[ColumnSample]:
    """Return the columns of a file with their first values. Raises NotASheet."""
    sheet, rows = open_sheet(data, likeness=count_likely_columns)
    return build_sample(sheet.header, list(islice(rows, SAMPLE_ROWS)))


def has_known_columns(sample: Sequence[ColumnSample]) -> bool:
    """Return whether all columns have the names of the fields, as those of an export."""
    names = {column_key(column["name"]) for column in sample}
    return "sku" in names and names <= FIELDS_BY_COLUMN.keys()


def count_rows(data: bytes, *, limit: int) -> int:
    """Return the number of rows below the header. Raises NotASheet, and TooManyRows above `limit`."""
    count = 0
    try:
        for _ in open_table(data, likeness=count_known_columns).rows:
            count += 1
            if count > limit:
                raise TooManyRows
    except BrokenRow:
        pass  # The parser reports the row and the reason.
    return count


def parse_sheet(
    data: bytes, *, mapping: Mapping[str, str] | None = None, on_progress: ProgressCallback = lambda rows: None
) -> ParsedSheet:
    """Parse a file. `mapping` has the column of each field; without it the columns have the names of the fields.

    Raises NotASheet.
    """
    sheet = ParsedSheet(tempfile.SpooledTemporaryFile(SPOOL_MEMORY_BYTES))  # noqa: SIM115  The database reads it.
    try:
        table = open_table(data, likeness=count_known_columns if mapping is None else count_likely_columns)
        columns = _find_known_columns(table) if mapping is None else _find_mapped_columns(table, mapping)
        if _check_header(table, sheet, columns):
            fields = sorted(((positions[0], item_field) for item_field, positions in columns), key=itemgetter(0))
            _RowParser(table, sheet, fields).parse_rows(on_progress)
    except BrokenRow as error:
        sheet.rows, sheet.is_unreadable = sheet.rows + 1, True
        sheet.errors.append(RowError(error.row, "", "malformed_row", f"The row cannot be read: {error.reason}."))
    sheet.spool.seek(0)
    return sheet


def build_errors_csv(errors: list[RowError]) -> bytes:
    """Return the errors as CSV with a byte order mark."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerow(("row", "column", "code", "message", "value"))
    writer.writerows((*error[:4], escape(error.value)) for error in errors)
    return b"\xef\xbb\xbf" + buffer.getvalue().encode()


def _find_known_columns(table: Table) -> FieldColumns:
    """The fields whose name is that of a column, and `sku`, each with the positions of its columns."""
    positions: dict[str, list[int]] = {SKU: []}
    for position, heading in enumerate(table.header):
        item_field = FIELDS_BY_COLUMN.get(column_key(heading))
        if item_field is not None:
            positions.setdefault(item_field.name, []).append(position)
    return [(FIELDS_BY_NAME[name], found_at) for name, found_at in positions.items()]


def _find_mapped_columns(table: Table, mapping: Mapping[str, str]) -> FieldColumns:
    """The fields of a mapping, each with the positions of the columns of exactly its name, or else of a like one."""
    keys = [column_key(heading) for heading in table.header]
    columns = []
    for name, column in mapping.items():
        exact = [position for position, heading in enumerate(table.header) if heading == column]
        like = [position for position, key in enumerate(keys) if key == column_key(column)]
        columns.append((FIELDS_BY_NAME[name], exact or like))
    return columns


def _check_header(table: Table, sheet: ParsedSheet, columns: FieldColumns) -> bool:
    """Add the errors of the header and return whether there are none."""
    fields_at: dict[int, set[str]] = {}
    for item_field, positions in columns:
        for position in positions:
            fields_at.setdefault(position, set()).add(item_field.name)
    sheet.ignored_columns = [
        heading for index, heading in enumerate(table.header) if heading and index not in fields_at
    ]
    for item_field, positions in columns:
        problem = None
        if not positions:
            problem = ("missing_column", NO_SKU if item_field.name == SKU else NO_COLUMN)
        elif len(positions) > 1:
            problem = ("duplicate_column", TWO_COLUMNS)
        elif len(fields_at[positions[0]]) > 1 and fields_at[positions[0]] != MAY_SHARE_COLUMN:
            problem = ("duplicate_column", TWO_FIELDS)
        if problem is not None:
            sheet.errors.append(RowError(table.header_row, item_field.name, *problem))
    sheet.is_unreadable = bool(sheet.errors)
    return not sheet.is_unreadable


class _RowParser:
    """Reads the rows of a table."""

    def __init__(self, table: Table, sheet: ParsedSheet, fields: Sequence[tuple[int, ItemField]]) -> None:
        self.table, self.sheet = table, sheet
        self.width = len(table.header)
        self.cell_readers: list[tuple[int, ItemField, Callable[[str], str], dict[str, str]]] = [
            (position, item_field, build_cell_parser(item_field, decimal_comma=table.decimal_comma), {})
            for position, item_field in fields
        ]
        self.value_indexes = [ATTRIBUTES.index(item_field.attribute) for _, item_field, _, _ in self.cell_readers]
        self.row_by_sku: dict[str, int] = {}

    def parse_rows(self, on_progress: ProgressCallback) -> None:
        sheet, write = self.sheet, self.sheet.spool.write
        for row_number, cells in self._iterate_rows():
            sheet.rows += 1
            values = self._parse_row(row_number, cells)
            if values is not None:
                write(values.encode())
                sheet.valid_rows += 1
            if sheet.rows % 5000 == 0:
                on_progress(sheet.rows)

    def _iterate_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that are not too wide or cut off; the others become errors."""
        width, previous = self.width, None
        for row_number, cells in self.table.rows:
            if previous is not None:
                yield previous
            previous = None
            if len(cells) > width and any(cell.strip() for cell in cells[width:]):
                message = mark_for_translation("The row has more cells than the header has columns.")
                self._add_error(row_number, "", "too_many_cells", message)
                continue
            previous = (row_number, cells)
        if previous is None:
            return
        if self.table.ends_openly and len(previous[1]) < width:
            message = mark_for_translation("The file ends within this row; it was cut off.")
            self._add_error(previous[0], "", "incomplete_row", message)
            return
        yield previous

    def _parse_row(self, row_number: int, cells: list[str]) -> str | None:
        """Return the row in the format of COPY; None when it has an error."""
        error_count = len(self.sheet.errors)
        values = [COPY_NULL] * len(ATTRIBUTES)
        sku_key = ""
        cell_count = len(cells)
        for (index, item_field, parse_value, cache), value_index in zip(
            self.cell_readers, self.value_indexes, strict=True
        ):
            cell = cells[index] if index < cell_count else ""
            value = cache.get(cell)
            if value is None:
                value = self._parse_cell(row_number, index, item_field, parse_value, cell, cache)
            values[value_index] = value
            if item_field.attribute == "sku":
                sku_key = self._check_sku(row_number, value)
        return None if len(self.sheet.errors) > error_count else "\t".join((str(row_number), sku_key, *values)) + "\n"

    def _parse_cell(
        self,
        row_number: int,
        index: int,
        item_field: ItemField,
        parse_value: Callable[[str], str],
        cell: str,
        cache: dict[str, str],
    ) -> str:
        flaw = self.table.flaws.get((row_number, index))
        if flaw:
            self._add_error(row_number, item_field.name, flaw, CELL_FLAW_MESSAGES[flaw], cell)
            return COPY_NULL
        if not cell or cell.isspace():
            return COPY_NULL
        try:
            value = parse_value(cell if item_field.kind == TEXT else cell.strip())
        except CellError as error:
            self._add_error(row_number, item_field.name, error.code, str(error), cell)
            return COPY_NULL
        escaped = value.translate(COPY_ESCAPES) or COPY_NULL
        if len(cache) < CELL_CACHE_SIZE and not self.table.flaws:
            cache[cell] = escaped
        return escaped

    def _check_sku(self, row_number: int, sku: str) -> str:
        if sku == COPY_NULL:
            if not self.sheet.errors or self.sheet.errors[-1][:2] != (row_number, "sku"):
                self._add_error(row_number, "sku", "required", mark_for_translation("Must not be empty."))
            return ""
        key = fold_sku(sku)
        first_row = self.row_by_sku.setdefault(key, row_number)
        if first_row != row_number:
            message = mark_for_translation("Row %(num)s already has this item number.")
            self._add_error(row_number, "sku", "duplicate", message % {"num": first_row}, sku)
        return key

    def _add_error(self, row_number: int, column: str, code: str, message: str, value: str = "") -> None:
        if len(self.sheet.errors) < MAX_ERRORS:
            self.sheet.errors.append(RowError(row_number, column, code, message, value[:MAX_VALUE_LENGTH]))


POINT_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.(\d+))?")
COMMA_NUMBER = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d{1,12})(?:,(\d+))?|\d{1,12}\.(\d+)")
POINT_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:\.\d{3})+")
ISO_DATE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]00:00(?::00)?)?")
DAY_FIRST_DATE = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})")
CellParser = Callable[[str], str]


class CellError(ValueError):
    """A cell that cannot be read."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def build_cell_parser(field: ItemField, *, decimal_comma: bool) -> CellParser:
    """Return the parser for the cells of a column that are not blank; it raises CellError."""
    if field.kind == DATE:
        return parse_day
    if field.kind in DECIMAL_PLACES:
        return lambda cell: parse_number(cell, field, decimal_comma=decimal_comma)
    if field.kind == LINK:
        return lambda cell: parse_link(cell, field)
    return lambda cell: parse_text(cell, field)


def parse_text(cell: str, field: ItemField) -> str:
    """Return trimmed text in NFC, without the quote that an export puts before a formula."""
    if CONTROL.search(cell):
        raise CellError("invalid_characters", mark_for_translation("Control characters are not allowed."))
    value = unescape(normalize_text(cell))
    if len(value) > field.max_length:
        message = mark_for_translation("Must have at most %(num)s characters.")
        raise CellError("too_long", message % {"num": field.max_length})
    return value


def parse_link(cell: str, field: ItemField) -> str:
    url = parse_text(cell, field)
    if not is_url(url, ("https",)):
        raise CellError("invalid_url", mark_for_translation("Must be an address that begins with https://."))
    return url


def parse_number(cell: str, field: ItemField, *, decimal_comma: bool) -> str:
    """Parse `1234.5`, `1,234.5`, `1 234,50` and, with a decimal comma, `1234,567`; prices may have a currency."""
    digits = strip_amount(cell) if field.kind == PRICE else SPACES.sub("", cell)
    if digits.startswith(("-", "−")):
        raise CellError("too_small", mark_for_translation("Must be at least 0."))
    if CERTAIN_COMMA.fullmatch(digits) or (decimal_comma and COMMA_NUMBER.fullmatch(digits)):
        normalized = (
            digits.replace(".", "").replace(",", ".")
            if "," in digits or POINT_GROUPED_NUMBER.fullmatch(digits)
            else digits
        )
    elif POINT_NUMBER.fullmatch(digits):
        normalized = digits.replace(",", "")
    else:
        raise CellError("invalid_number", mark_for_translation("Must be a number like 12 or 12.5."))
    value = Decimal(normalized)
    if value > field.max_value:
        raise CellError("too_large", mark_for_translation("Must be at most %(num)s.") % {"num": field.max_value})
    rounded = round(value, DECIMAL_PLACES[field.kind])
    if rounded != value:
        message = mark_for_translation("Must have at most %(num)s decimals.")
        raise CellError("too_precise", message % {"num": DECIMAL_PLACES[field.kind]})
    return str(rounded)


def parse_day(cell: str) -> str:
    """Parse `2027-02-03`, `2027/2/3`, and with the day first `03.02.2027` or `03/02/2027`."""
    iso, day_first = ISO_DATE.fullmatch(cell), DAY_FIRST_DATE.fullmatch(cell)
    try:
        if iso:
            parsed_day = date(int(iso[1]), int(iso[2]), int(iso[3]))
        elif day_first:
            parsed_day = date(int(day_first[4]), int(day_first[3]), int(day_first[1]))
        else:
            raise ValueError(cell)
        if not 1900 <= parsed_day.year < 9999:
            raise ValueError(cell)
    except ValueError as error:
        raise CellError("invalid_date", mark_for_translation("Must be a day like 2027-02-28 or 28.02.2027.")) from error
    return parsed_day.isoformat()
