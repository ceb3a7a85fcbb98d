"""What a block costs: the price of a place, discounts, promo codes, VAT.

Amounts are whole cents of NAD and contain VAT. The bulk discount, then the promo code, reduce the price of one place,
each rounded half up. So a total is the number of places times the reduced price, and each place that is
given back is worth exactly that. Price and discounts are stored with the block when it is created.

A promo code is used once by each block that was created with it, without regard to case. Editing the event's codes, and
releasing or revoking places, do not change the count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from flask import current_app
from sqlalchemy import func, select

from app.allocations.errors import PromoCodeExhausted
from app.allocations.models import AllocationBlock, DiscountJson
from app.core.db import database_now, db
from app.core.errors import ValidationFailed
from app.core.languages import gettext, ngettext
from app.events.models import Event, StoredObject, TicketType
from app.events.ticket_types import current_phase
from app.invoicing.documents import calculate_vat, round_half_up


@dataclass(frozen=True)
class Discount:
    """A reduction of the price of one place, by a percentage or an amount. `code` is `bulk`, or the promo code."""

    code: str
    label: str
    percent_off: float | None = None
    amount_off_minor: int | None = None

    def calculate_reduction(self, price_minor: int) -> int:
        """Return the reduction of a price, at most the price."""
        if self.percent_off is None:
            return min(price_minor, self.amount_off_minor or 0)
        return min(price_minor, round_half_up(Decimal(price_minor) * Decimal(str(self.percent_off)) / 100))

    def to_json(self) -> DiscountJson:
        """Return the discount as a block stores it."""
        return {
            "code": self.code,
            "label": self.label,
            "percent_off": self.percent_off,
            "amount_off_minor": self.amount_off_minor,
        }


@dataclass(frozen=True)
class CostLine:
    """A line of a quote or an invoice; a discount's amounts are negative."""

    description: str
    quantity: int
    unit_price_minor: int
    amount_minor: int


@dataclass(frozen=True)
class Cost:
    """Lines and their sums: `total = subtotal - discount`. The total contains `vat`."""

    lines: tuple[CostLine, ...]
    subtotal_minor: int
    discount_minor: int
    vat_minor: int
    total_minor: int
    vat_percent: float


def _calculate_cost(description: str, quantity: int, unit_price_minor: int, discounts: Iterable[Discount]) -> Cost:
    """Return the cost of so many places, with VAT at the present rate."""
    lines = [CostLine(description, quantity, unit_price_minor, quantity * unit_price_minor)]
    net_price = unit_price_minor
    for discount in discounts:
        reduction = discount.calculate_reduction(net_price)
        net_price -= reduction
        lines.append(CostLine(discount.label, quantity, -reduction, -reduction * quantity))
    subtotal, total = quantity * unit_price_minor, quantity * net_price
    vat_percent: float = current_app.extensions["settings"].VAT_PERCENT
    return Cost(tuple(lines), subtotal, subtotal - total, calculate_vat(total, vat_percent), total, vat_percent)


def calculate_block_cost(block: AllocationBlock, description: str) -> Cost:
    """Return the cost of the places that a block holds now, at its price and discounts."""
    discounts = [Discount(**discount) for discount in block.discounts]
    return _calculate_cost(description, block.held, block.unit_price_minor, discounts)


def calculate_row_cost(row: Mapping[Any, Any]) -> Cost:
    """Return the same for a row of `queries.blocks_query`."""
    discounts = [Discount(**discount) for discount in row["discounts"]]
    return _calculate_cost(row["ticket_type_name"], row["held"], row["unit_price_minor"], discounts)


def calculate_place_price(row: Mapping[Any, Any]) -> int:
    """Return what one place of such a row costs after its discounts, in cents. An issued invoice charges the same."""
    return sum(line.unit_price_minor for line in calculate_row_cost(row).lines)


def _find_bulk_discount(bulk_discounts: Iterable[StoredObject], quantity: int) -> Discount | None:
    """Return the best bulk discount of an event for so many places."""
    applicable_discounts = [discount for discount in bulk_discounts if discount["minQuantity"] <= quantity]
    best_discount = max(applicable_discounts, key=lambda discount: discount["percentOff"], default=None)
    if best_discount is None or not best_discount["percentOff"]:
        return None
    percent = best_discount["percentOff"]
    condition = ngettext("from %(num)s place", "from %(num)s places", best_discount["minQuantity"])
    return Discount(
        "bulk",
        gettext("Bulk discount %(percent)s %% (%(condition)s)", percent=f"{percent:g}", condition=condition),
        percent_off=percent,
    )


@dataclass(frozen=True)
class PromoCode:
    """A promo code that is valid now, its discount and its uses. `max_uses` is None without a limit."""

    code: str
    discount: Discount
    max_uses: int | None
    used: int

    @property
    def remaining(self) -> int | None:
        return None if self.max_uses is None else max(0, self.max_uses - self.used)

    @property
    def is_exhausted(self) -> bool:
        return self.remaining == 0

    def check_remaining(self) -> None:
        """Raises PromoCodeExhausted if no use is left. Reliable only under the lock of the event."""
        if self.is_exhausted:
            raise PromoCodeExhausted(code=self.code, maxUses=self.max_uses, used=self.used)


def _find_promo_code(event: Event, code: str, ticket_type_id: str, now: datetime) -> PromoCode | None:
    """Return the event's promo code for a ticket type, None if it has none that is valid now."""
    for promo in event.promo_codes:
        if promo["code"].casefold() == code.casefold() and _is_promo_code_valid(promo, ticket_type_id, now):
            percent, amount = promo.get("percentOff"), promo.get("amountOffMinor")
            label = gettext("Promo code %(code)s", code=promo["code"])
            discount = Discount(promo["code"], label, percent_off=percent, amount_off_minor=amount)
            return PromoCode(promo["code"], discount, promo.get("maxUses"), _count_promo_code_uses(event.id, code))
    return None


def _count_promo_code_uses(event_id: str, code: str) -> int:
    """Return how many blocks of the event were created with the code."""
    statement = (
        select(AllocationBlock.promo_code, func.count())
        .where(AllocationBlock.event_id == event_id, AllocationBlock.promo_code.is_not(None))
        .group_by(AllocationBlock.promo_code)
    )
    return sum(
        count for spelling, count in db.session.execute(statement) if (spelling or "").casefold() == code.casefold()
    )


def _is_promo_code_valid(promo: StoredObject, ticket_type_id: str, now: datetime) -> bool:
    starts_at, ends_at = _parse_time(promo.get("startsAt")), _parse_time(promo.get("endsAt"))
    ticket_type_ids = promo.get("ticketTypeIds")
    return (
        (starts_at is None or starts_at <= now)
        and (ends_at is None or now < ends_at)
        and (not ticket_type_ids or ticket_type_id in ticket_type_ids)
    )


def _parse_time(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


@dataclass(frozen=True)
class Quote:
    """The price of a block that is not created yet."""

    ticket_type: TicketType
    quantity: int
    unit_price_minor: int
    discounts: tuple[Discount, ...]
    promo_code: PromoCode | None = None

    @property
    def cost(self) -> Cost:
        return _calculate_cost(self.ticket_type.name, self.quantity, self.unit_price_minor, self.discounts)


def build_quote(
    event: Event, *, ticket_type_id: str, quantity: int, unit_price_minor: int | None, promo_code: str | None
) -> Quote:
    """Return the present price of so many places, with labels in the language in use.

    A promo code that is used up does not reduce the price.

    Raises ValidationFailed if the event does not have the ticket type or promo code.
    """
    ticket_type = next((candidate for candidate in event.ticket_types if candidate.id == ticket_type_id), None)
    problems = []
    if ticket_type is None:
        problems.append(_build_problem("ticketTypeId", "unknown_value", "The event has no ticket type with this id."))
    promo = _find_promo_code(event, promo_code, ticket_type_id, database_now()) if promo_code else None
    if promo_code and promo is None:
        problems.append(_build_problem("promoCode", "unknown_value", "This code does not count for these tickets now."))
    if problems or ticket_type is None:
        raise ValidationFailed(problems)
    price_minor = get_current_price(ticket_type, database_now()) if unit_price_minor is None else unit_price_minor
    bulk_discount = _find_bulk_discount(event.bulk_discounts, quantity)
    promo_discount = promo.discount if promo is not None and not promo.is_exhausted else None
    discounts = [discount for discount in (bulk_discount, promo_discount) if discount is not None and price_minor]
    return Quote(ticket_type, quantity, price_minor, tuple(discounts), promo)


def get_current_price(ticket_type: TicketType, now: datetime) -> int:
    """Return the price of the phase that a ticket type is in, or else its own."""
    phase = current_phase(ticket_type.phases, sold=ticket_type.sold, now=now)
    return phase.price_minor if phase else ticket_type.price_minor


def _build_problem(path: str, code: str, message: str) -> dict[str, str]:
    return {"path": path, "code": code, "message": message}
