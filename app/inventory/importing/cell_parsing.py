"""Parsers of cells, which return text for COPY. A cell that cannot be read raises CellError with a code and a message."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal

from app.core.addresses import is_url
from app.core.spreadsheet_cells import unescape
from app.core.text_normalization import CONTROL, normalize_text
from app.inventory.item_fields import DATE, DECIMAL_PLACES, LINK, ItemField

POINT_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.(\d+))?")
COMMA_NUMBER = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d{1,12})(?:,(\d+))?|\d{1,12}\.(\d+)")
POINT_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:\.\d{3})+")
SPACES = re.compile(r"[\s\u00a0\u202f']")
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
        raise CellError("invalid_characters", "Control characters are not allowed.")
    value = unescape(normalize_text(cell))
    if len(value) > field.max_length:
        raise CellError("too_long", f"Must have at most {field.max_length} characters.")
    return value


def parse_link(cell: str, field: ItemField) -> str:
    url = parse_text(cell, field)
    if not is_url(url, ("https",)):
        raise CellError("invalid_url", "Must be an address that begins with https://.")
    return url


def parse_number(cell: str, field: ItemField, *, decimal_comma: bool) -> str:
    """Parse `1234.5`, `1,234.5` and, with a decimal comma, `1234,5` and `1.234,5`."""
    digits = SPACES.sub("", cell)
    if digits.startswith(("-", "−")):
        raise CellError("too_small", "Must be at least 0.")
    if decimal_comma and (COMMA_NUMBER.fullmatch(digits)):
        normalized = (
            digits.replace(".", "").replace(",", ".")
            if "," in digits or POINT_GROUPED_NUMBER.fullmatch(digits)
            else digits
        )
    elif POINT_NUMBER.fullmatch(digits):
        normalized = digits.replace(",", "")
    else:
        raise CellError("invalid_number", "Must be a number like 12 or 12.5.")
    value = Decimal(normalized)
    if value > field.max_value:
        raise CellError("too_large", f"Must be at most {field.max_value}.")
    rounded = round(value, DECIMAL_PLACES[field.kind])
    if rounded != value:
        raise CellError("too_precise", f"Must have at most {DECIMAL_PLACES[field.kind]} decimals.")
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
        raise CellError("invalid_date", "Must be a day like 2027-02-28 or 28.02.2027.") from error
    return parsed_day.isoformat()
