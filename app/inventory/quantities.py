"""Quantities in words, without zeros that say nothing."""

from decimal import Decimal


def spoken(quantity: Decimal, unit: str | None = None) -> str:
    """`12.5 kg`; just the figure where there is no unit."""
    figure = f"{quantity.normalize():f}"
    return f"{figure} {unit}" if unit else figure
