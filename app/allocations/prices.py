"""What a block costs: a price per place, discounts on it, VAT inside.

All amounts are whole cents of NAD. Discounts apply to the price of one place, one after the other (bulk, then promo
code), each rounded half up; so a total is always the places times what one of them costs, and a place that is given
back is worth exactly that. Terms are agreed when the block is made and stand at the block.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Protocol

from flask import current_app


@dataclass(frozen=True)
class Discount:
    """Off the price of one place: a percentage or an amount. `code` is `bulk`, or the promo code itself."""

    code: str
    label: str
    percent_off: float | None = None
    amount_off_minor: int | None = None

    def off(self, price_minor: int) -> int:
        """What is taken off a price; never more than the price."""
        if self.percent_off is None:
            return min(price_minor, self.amount_off_minor or 0)
        return min(price_minor, _rounded(Decimal(price_minor) * Decimal(str(self.percent_off)) / 100))

    def kept(self) -> dict[str, Any]:
        """As it stands at the block."""
        return asdict(self)


@dataclass(frozen=True)
class Line:
    """A line of a quote or an invoice; a discount's amounts are negative."""

    description: str
    quantity: int
    unit_price_minor: int
    amount_minor: int


@dataclass(frozen=True)
class Cost:
    """Lines, and their sums: `total = subtotal - discount`, of which `vat` is the part that is tax."""

    lines: tuple[Line, ...]
    subtotal_minor: int
    discount_minor: int
    vat_minor: int
    total_minor: int
    vat_percent: float


class Priced(Protocol):
    """What has agreed terms: an `AllocationBlock`."""

    unit_price_minor: Any
    discounts: Any
    held: Any


def cost(description: str, quantity: int, unit_price_minor: int, discounts: Iterable[Discount]) -> Cost:
    """What so many places cost at these terms, with VAT at the present rate."""
    lines = [Line(description, quantity, unit_price_minor, quantity * unit_price_minor)]
    net = unit_price_minor
    for each in discounts:
        off = each.off(net)
        net -= off
        lines.append(Line(each.label, quantity, -off, -off * quantity))
    subtotal, total = quantity * unit_price_minor, quantity * net
    percent: float = current_app.extensions["settings"].VAT_PERCENT
    return Cost(tuple(lines), subtotal, subtotal - total, vat_inside(total, percent), total, percent)


def cost_of(block: Priced, description: str, quantity: int | None = None) -> Cost:
    """What a block's places cost (those it holds now, unless told how many) at the terms agreed with it."""
    return cost(description, block.held if quantity is None else quantity, block.unit_price_minor, agreed(block))


def agreed(block: Priced) -> tuple[Discount, ...]:
    """The discounts that were agreed with a block."""
    return tuple(Discount(**each) for each in block.discounts)


def bulk_discount(offers: Iterable[Mapping[str, Any]], quantity: int) -> Discount | None:
    """The best of an event's bulk discounts that so many places reach."""
    reached = [each for each in offers if each["minQuantity"] <= quantity]
    best = max(reached, key=lambda each: each["percentOff"], default=None)
    if best is None or not best["percentOff"]:
        return None
    percent = best["percentOff"]
    return Discount("bulk", f"Bulk discount {percent:g} % (from {best['minQuantity']} places)", percent_off=percent)


def vat_inside(total_minor: int, percent: float) -> int:
    """The VAT that an amount contains."""
    rate = Decimal(str(percent))
    return _rounded(Decimal(total_minor) * rate / (100 + rate))


def _rounded(amount: Decimal) -> int:
    return int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP))
