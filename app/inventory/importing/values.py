"""Cells as values, in the words of the database. What cannot be read says why, by a code and a sentence."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal

from app.core.addresses import is_address
from app.core.formulas import unescape
from app.core.texts import CONTROL, tidy
from app.inventory.columns import DATE, LINK, PLACES, Column

POINT = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.(\d+))?")
COMMA = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d{1,12})(?:,(\d+))?|\d{1,12}\.(\d+)")
GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")
SPACES = re.compile(r"[\s\u00a0\u202f']")
ISO = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]00:00(?::00)?)?")
DAY_FIRST = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})")
Reader = Callable[[str], str]


class BadCell(ValueError):
    """A cell that cannot be read."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def reader_of(column: Column, *, decimal_comma: bool) -> Reader:
    """What reads the cells of a column that are not blank; it raises BadCell."""
    if column.kind == DATE:
        return day
    if column.kind in PLACES:
        return lambda cell: number(cell, column, decimal_comma=decimal_comma)
    if column.kind == LINK:
        return lambda cell: link(cell, column)
    return lambda cell: text(cell, column)


def text(cell: str, column: Column) -> str:
    """Trimmed text in NFC, as everywhere; the quotes that an export puts before formulas are taken off."""
    if CONTROL.search(cell):
        raise BadCell("invalid_characters", "Control characters are not allowed.")
    said = unescape(tidy(cell))
    if len(said) > column.longest:
        raise BadCell("too_long", f"Must have at most {column.longest} characters.")
    return said


def link(cell: str, column: Column) -> str:
    said = text(cell, column)
    if not is_address(said, ("https",)):
        raise BadCell("invalid_url", "Must be an address that begins with https://.")
    return said


def number(cell: str, column: Column, *, decimal_comma: bool) -> str:
    """`1234.5`, `1,234.5` and, where columns end with semicolons, `1234,5` and `1.234,5`."""
    said = SPACES.sub("", cell)
    if said.startswith(("-", "−")):
        raise BadCell("too_small", "Must be at least 0.")
    if decimal_comma and (COMMA.fullmatch(said)):
        plain = said.replace(".", "").replace(",", ".") if "," in said or GROUPED.fullmatch(said) else said
    elif POINT.fullmatch(said):
        plain = said.replace(",", "")
    else:
        raise BadCell("invalid_number", "Must be a number like 12 or 12.5.")
    value = Decimal(plain)
    if value > column.most:
        raise BadCell("too_large", f"Must be at most {column.most}.")
    exact = round(value, PLACES[column.kind])
    if exact != value:
        raise BadCell("too_precise", f"Must have at most {PLACES[column.kind]} decimals.")
    return str(exact)


def day(cell: str) -> str:
    """`2027-02-03`, `2027/2/3`, `03.02.2027` or `03/02/2027`, the day first."""
    iso, turned = ISO.fullmatch(cell), DAY_FIRST.fullmatch(cell)
    try:
        if iso:
            made = date(int(iso[1]), int(iso[2]), int(iso[3]))
        elif turned:
            made = date(int(turned[4]), int(turned[3]), int(turned[1]))
        else:
            raise ValueError(cell)
        if not 1900 <= made.year < 9999:
            raise ValueError(cell)
    except ValueError as error:
        raise BadCell("invalid_date", "Must be a day like 2027-02-28 or 28.02.2027.") from error
    return made.isoformat()
