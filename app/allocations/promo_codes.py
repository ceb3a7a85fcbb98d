"""Promo codes of an event, and how often each has been used.

A use is a block that was made with the code. Uses are counted from the blocks, by the code without regard to case, so
they stay what they were when the event's list of codes is edited. A block keeps its use when its places are released
or revoked: places that are moved into it later still have its discount.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.allocations.errors import PromoCodeExhausted
from app.allocations.models import AllocationBlock
from app.allocations.prices import Discount
from app.core.db import db
from app.events.models import Event


@dataclass(frozen=True)
class PromoCode:
    """A code that is valid now, with its discount and its uses. `max_uses` None: no limit."""

    code: str
    discount: Discount
    max_uses: int | None
    used: int

    @property
    def remaining(self) -> int | None:
        return None if self.max_uses is None else max(0, self.max_uses - self.used)

    @property
    def exhausted(self) -> bool:
        return self.remaining == 0

    def check(self) -> None:
        """Raises PromoCodeExhausted. Only a caller that has locked the event can rely on it."""
        if self.exhausted:
            raise PromoCodeExhausted(code=self.code, maxUses=self.max_uses, used=self.used)


def find_promo_code(event: Event, code: str, ticket_type_id: str, now: datetime) -> PromoCode | None:
    """The event's code for this ticket type, or None when it has none that is valid now."""
    for each in event.promo_codes:
        if each["code"].casefold() == code.casefold() and _is_valid(each, ticket_type_id, now):
            percent, amount = each.get("percentOff"), each.get("amountOffMinor")
            label = f"Promo code {each['code']}"
            discount = Discount(each["code"], label, percent_off=percent, amount_off_minor=amount)
            return PromoCode(each["code"], discount, each.get("maxUses"), count_uses(event.id, code))
    return None


def count_uses(event_id: str, code: str) -> int:
    """How many blocks of the event were made with the code."""
    statement = (
        select(AllocationBlock.promo_code, func.count())
        .where(AllocationBlock.event_id == event_id, AllocationBlock.promo_code.is_not(None))
        .group_by(AllocationBlock.promo_code)
    )
    uses = db.session.execute(statement).tuples()
    return sum(count for spelling, count in uses if (spelling or "").casefold() == code.casefold())


def _is_valid(promo: Mapping[str, Any], ticket_type_id: str, now: datetime) -> bool:
    starts, ends = (_parse_time(promo.get(name)) for name in ("startsAt", "endsAt"))
    types = promo.get("ticketTypeIds")
    return (starts is None or starts <= now) and (ends is None or now < ends) and (not types or ticket_type_id in types)


def _parse_time(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None
