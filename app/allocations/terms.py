"""What a block would cost: the present price unless another was agreed, and the discounts that apply."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.allocations.prices import Cost, Discount, bulk_discount, cost
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.events.models import Event, TicketType
from app.events.prices import current_phase


@dataclass(frozen=True)
class Terms:
    """For whom nothing is written yet: the ticket type, the price of one place, and what comes off it."""

    ticket_type: TicketType
    quantity: int
    unit_price_minor: int
    discounts: tuple[Discount, ...]

    @property
    def cost(self) -> Cost:
        return cost(self.ticket_type.name, self.quantity, self.unit_price_minor, self.discounts)


def terms_of(
    event: Event, *, ticket_type_id: str, quantity: int, unit_price_minor: int | None, promo_code: str | None
) -> Terms:
    """What so many places of the event cost now. Raises ValidationFailed for a type or promo code it does not have."""
    found = next((each for each in event.ticket_types if each.id == ticket_type_id), None)
    problems = []
    if found is None:
        problems.append(_problem("ticketTypeId", "unknown_value", "The event has no ticket type with this id."))
    promo = _promo(event, promo_code, ticket_type_id, database_now()) if promo_code else None
    if promo_code and promo is None:
        problems.append(_problem("promoCode", "unknown_value", "This code does not count for these tickets now."))
    if problems or found is None:
        raise ValidationFailed(problems)
    price = _price(found) if unit_price_minor is None else unit_price_minor
    bulk = bulk_discount(event.bulk_discounts, quantity)
    return Terms(found, quantity, price, tuple(each for each in (bulk, promo) if each is not None and price))


def _price(ticket_type: TicketType) -> int:
    phase = current_phase(ticket_type.phases, sold=ticket_type.sold, now=database_now())
    return phase.price_minor if phase else ticket_type.price_minor


def _promo(event: Event, code: str, ticket_type_id: str, now: datetime) -> Discount | None:
    for each in event.promo_codes:
        if each["code"].casefold() == code.casefold() and _counts(each, ticket_type_id, now):
            percent, amount = each.get("percentOff"), each.get("amountOffMinor")
            return Discount(each["code"], f"Promo code {each['code']}", percent_off=percent, amount_off_minor=amount)
    return None


def _counts(promo: Mapping[str, Any], ticket_type_id: str, now: datetime) -> bool:
    starts, ends = (_moment(promo.get(name)) for name in ("startsAt", "endsAt"))
    types = promo.get("ticketTypeIds")
    return (starts is None or starts <= now) and (ends is None or now < ends) and (not types or ticket_type_id in types)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _problem(path: str, code: str, message: str) -> dict[str, str]:
    return {"path": path, "code": code, "message": message}
