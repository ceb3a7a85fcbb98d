"""What a block would cost: the present price unless another was agreed, and the discounts that apply."""

from dataclasses import dataclass

from app.allocations.prices import Cost, Discount, bulk_discount, cost
from app.allocations.promo_codes import PromoCode, find_promo_code
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
    promo_code: PromoCode | None = None

    @property
    def cost(self) -> Cost:
        return cost(self.ticket_type.name, self.quantity, self.unit_price_minor, self.discounts)


def terms_of(
    event: Event, *, ticket_type_id: str, quantity: int, unit_price_minor: int | None, promo_code: str | None
) -> Terms:
    """What so many places of the event cost now. A promo code that is used up takes nothing off.

    Raises ValidationFailed for a type or promo code that the event does not have.
    """
    found = next((each for each in event.ticket_types if each.id == ticket_type_id), None)
    problems = []
    if found is None:
        problems.append(_problem("ticketTypeId", "unknown_value", "The event has no ticket type with this id."))
    promo = find_promo_code(event, promo_code, ticket_type_id, database_now()) if promo_code else None
    if promo_code and promo is None:
        problems.append(_problem("promoCode", "unknown_value", "This code does not count for these tickets now."))
    if problems or found is None:
        raise ValidationFailed(problems)
    price = _price(found) if unit_price_minor is None else unit_price_minor
    bulk = bulk_discount(event.bulk_discounts, quantity)
    promo_discount = promo.discount if promo is not None and not promo.exhausted else None
    discounts = tuple(each for each in (bulk, promo_discount) if each is not None and price)
    return Terms(found, quantity, price, discounts, promo)


def _price(ticket_type: TicketType) -> int:
    phase = current_phase(ticket_type.phases, sold=ticket_type.sold, now=database_now())
    return phase.price_minor if phase else ticket_type.price_minor


def _problem(path: str, code: str, message: str) -> dict[str, str]:
    return {"path": path, "code": code, "message": message}
