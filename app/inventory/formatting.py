"""Quantities in words, without zeros that say nothing.

The values of a report in words, as they stand on paper.
"""

from datetime import date
from decimal import Decimal
from typing import Any

from app.core.money import format_money as format_money
from app.inventory.reports.fields import COUNT, DAY, MINOR, PRICE, QUANTITY, Field


def format_quantity(quantity: Decimal, unit: str | None = None) -> str:
    """`12.5 kg`; just the figure where there is no unit."""
    number = f"{quantity.normalize():f}"
    return f"{number} {unit}" if unit else number


EMPTY_CELL = "—"


def format_cell(field: Field, value: Any) -> str:
    """One cell."""
    if value is None or (field.hides_zero and not value):
        return EMPTY_CELL if field.kind in (MINOR, PRICE, DAY) else ""
    if field.kind == MINOR:
        return format_money(int(value))
    if field.kind == PRICE:
        return format_money(round(Decimal(value) * 100))
    if field.kind in (QUANTITY, COUNT):
        return format_number(value)
    return f"{format_short_day(value)} {value[:4]}".replace(" ", "\u00a0") if field.kind == DAY else str(value)


def format_number(value: Any) -> str:
    """A quantity, its thousands apart, with the true sign for minus."""
    whole, _, decimals = format_quantity(Decimal(value)).partition(".")
    grouped = f"{int(whole):,}".replace(",", "\u202f").replace("-", "−")
    sign = "−" if whole == "-0" else ""
    return f"{sign}{grouped}.{decimals}" if decimals else grouped


def format_short_day(day: str) -> str:
    """`4 Dec`."""
    parsed_day = date.fromisoformat(day)
    return f"{parsed_day.day} {parsed_day:%b}"
