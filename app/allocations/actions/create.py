"""Making a block."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.quotas import PLACES, count_unverified
from app.allocations import books
from app.allocations.errors import InsufficientTickets
from app.allocations.models import AllocationBlock
from app.allocations.terms import Terms, terms_of
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.freshness import changed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events import queries as events
from app.events.capacity import check_booking
from app.events.models import Event, TicketType
from app.events.times import instant
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.errors import EventClosed

RESERVE = books.sql(
    books.changing(
        f"""touched AS (
            INSERT INTO allocation_slot AS s (id, block_id, event_id, ticket_type_id)
            SELECT unnest(CAST(:ids AS text[])), :block_id, :event_id, :ticket_type_id
            RETURNING {books.SLOT}, NULL::text AS was, s.status AS became, NULL::text AS gate)""",
        "SELECT id FROM typed",
    )
)


def create_block(
    caller: Caller,
    event_id: str,
    *,
    ticket_type_id: str,
    quantity: int,
    kind: str,
    holder: Mapping[str, Any] | None = None,
    unit_price_minor: int | None = None,
    promo_code: str | None = None,
    release_at: datetime | None = None,
    **words: Any,
) -> str:
    """Takes places from the public for a holder; the block's id. The terms of the moment are its terms for ever.

    Raises NotFound, ValidationFailed, EventClosed, InsufficientTickets, CapacityExceeded, PromoCodeExhausted,
    EmailNotVerified.
    """
    with transaction() as session:
        event = events.lock_for_booking(session, caller, event_id, limited=promo_code is not None)
        count_unverified(session, caller, PLACES, quantity)
        terms = terms_of(
            event,
            ticket_type_id=ticket_type_id,
            quantity=quantity,
            unit_price_minor=unit_price_minor,
            promo_code=promo_code,
        )
        moment = _release_at(event, release_at)
        _check(event, terms)
        block = AllocationBlock(
            event_id=event_id,
            ticket_type_id=ticket_type_id,
            quantity=quantity,
            kind=kind,
            release_at=moment,
            unit_price_minor=terms.unit_price_minor,
            discounts=[each.kept() for each in terms.discounts],
            promo_code=promo_code,
            created_by=caller.id,
            **words,
            **{f"holder_{name}": value for name, value in (holder or {}).items()},
        )
        session.add(block)
        session.flush()
        _reserve(session, block, books.organiser(caller))
        if moment is not None:
            enqueue("allocations.release", run_at=moment, aggregate=block.id, block_id=block.id)
    return block.id


def _reserve(session: Session, block: AllocationBlock, actor: books.Actor) -> None:
    ids = [new_id() for _ in range(block.quantity)]
    places = {name: getattr(block, name) for name in ("event_id", "ticket_type_id")}
    given = {"ids": ids, "block_id": block.id, **places, **books.acting(actor, "create")}
    if session.scalar(RESERVE, given) is None:
        raise _too_few(session.get_one(TicketType, block.ticket_type_id, populate_existing=True), block.quantity)
    changed(session, "tickets")


def _check(event: Event, terms: Terms) -> None:
    if event.visibility in (CANCELLED, ARCHIVED):
        raise EventClosed("The event is archived or cancelled; it takes no allocations any more.")
    if terms.ticket_type.public < terms.quantity:
        raise _too_few(terms.ticket_type, terms.quantity)
    check_booking(event, terms.quantity)
    if terms.promo_code is not None:
        terms.promo_code.check()


def _release_at(event: Event, moment: datetime | None) -> datetime | None:
    """A naive time is in the event's time zone."""
    if moment is None:
        return None
    found = instant(moment, event.timezone)
    if found <= database_now():
        raise ValidationFailed.of("releaseAt", "in_the_past", "Must be in the future.")
    return found


def _too_few(ticket_type: TicketType, wanted: int) -> InsufficientTickets:
    free = max(0, ticket_type.public)
    return InsufficientTickets(
        f"{ticket_type.name}: {free} tickets are free, {wanted} were asked for.", available=free, requested=wanted
    )
