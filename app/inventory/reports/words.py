"""The values of a report in words, as they stand on paper."""

from datetime import date
from decimal import Decimal
from typing import Any

from app.core.money import spoken as money
from app.inventory.quantities import spoken as quantity
from app.inventory.reports.fields import COUNT, DAY, MINOR, PRICE, QUANTITY, Field

NOTHING = "—"


def said(field: Field, value: Any) -> str:
    """One cell."""
    if value is None or (field.quiet and not value):
        return NOTHING if field.kind in (MINOR, PRICE, DAY) else ""
    if field.kind == MINOR:
        return money(int(value))
    if field.kind == PRICE:
        return money(round(Decimal(value) * 100))
    if field.kind in (QUANTITY, COUNT):
        return figure(value)
    return f"{short_day(value)} {value[:4]}".replace(" ", "\u00a0") if field.kind == DAY else str(value)


def figure(value: Any) -> str:
    """A quantity, its thousands apart, with the true sign for minus."""
    whole, _, decimals = quantity(Decimal(value)).partition(".")
    grouped = f"{int(whole):,}".replace(",", "\u202f").replace("-", "−")
    sign = "−" if whole == "-0" else ""
    return f"{sign}{grouped}.{decimals}" if decimals else grouped


def short_day(day: str) -> str:
    """`4 Dec`."""
    found = date.fromisoformat(day)
    return f"{found.day} {found:%b}"
