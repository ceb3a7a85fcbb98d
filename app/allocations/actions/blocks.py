"""Creating a block, and moving free places between blocks of the same ticket type."""

from datetime import datetime
from typing import NamedTuple, NotRequired, TypedDict, Unpack

from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.quotas import SLOTS_QUOTA, count_unverified_use
from app.allocations import block_access, queries, sql
from app.allocations.actions.claim_codes import check_free_slots
from app.allocations.actions.releases import after_block_reduced
from app.allocations.block_access import Actor, BlockRow, build_organiser_actor
from app.allocations.errors import BlockMismatch, InsufficientTickets
from app.allocations.invoicing.errors import BlockInvoiced
from app.allocations.models import AllocationBlock
from app.allocations.pricing import Quote, build_quote
from app.core.cache_invalidation import invalidate
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events import queries as events
from app.events.capacity import check_booking
from app.events.models import Event, TicketType
from app.events.time_conversion import to_instant
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.errors import EventClosed


class Holder(TypedDict, total=False):
    """The person or organisation that a block is for."""

    name: str | None
    email: str | None
    phone: str | None
    organisation: str | None


class MovedBlocks(NamedTuple):
    """The block that lost places and the block that got them."""

    source: BlockRow
    target: BlockRow


class BlockTerms(TypedDict):
    """A new block. Without `unit_price_minor` it has the present price; a naive `release_at` is in the event's zone."""

    ticket_type_id: str
    quantity: int
    kind: str
    name: NotRequired[str | None]
    holder: NotRequired[Holder | None]
    unit_price_minor: NotRequired[int | None]
    promo_code: NotRequired[str | None]
    release_at: NotRequired[datetime | None]
    notes: NotRequired[str | None]


def create_block(caller: Caller, event_id: str, **terms: Unpack[BlockTerms]) -> str:
    """Take places from the public for a holder; return the block's id. Its price and discounts never change.

    Raises NotFound, ValidationFailed, EventClosed, InsufficientTickets, CapacityExceeded, PromoCodeExhausted,
    EmailNotVerified.
    """
    ticket_type_id, quantity, promo_code = terms["ticket_type_id"], terms["quantity"], terms.get("promo_code")
    holder = terms.get("holder") or {}
    with transaction() as session:
        event = events.lock_for_booking(session, caller, event_id, limited=promo_code is not None)
        count_unverified_use(session, caller, SLOTS_QUOTA, quantity)
        quote = build_quote(
            event,
            ticket_type_id=ticket_type_id,
            quantity=quantity,
            unit_price_minor=terms.get("unit_price_minor"),
            promo_code=promo_code,
        )
        release_instant = _resolve_release_at(event, terms.get("release_at"))
        _check_availability(event, quote)
        block = AllocationBlock(
            event_id=event_id,
            ticket_type_id=ticket_type_id,
            quantity=quantity,
            kind=terms["kind"],
            release_at=release_instant,
            unit_price_minor=quote.unit_price_minor,
            discounts=[discount.to_json() for discount in quote.discounts],
            promo_code=promo_code,
            created_by=caller.id,
            name=terms.get("name"),
            notes=terms.get("notes"),
            holder_name=holder.get("name"),
            holder_email=holder.get("email"),
            holder_phone=holder.get("phone"),
            holder_organisation=holder.get("organisation"),
        )
        session.add(block)
        session.flush()
        _insert_slots(session, block, build_organiser_actor(caller))
        if release_instant is not None:
            enqueue("allocations.release", run_at=release_instant, aggregate=block.id, block_id=block.id)
    return block.id


def _insert_slots(session: Session, block: AllocationBlock, actor: Actor) -> None:
    params = {
        **actor.build_params("create"),
        "ids": [new_id() for _ in range(block.quantity)],
        "block_id": block.id,
        "event_id": block.event_id,
        "ticket_type_id": block.ticket_type_id,
    }
    if session.scalar(sql.INSERT_SLOTS, params) is None:
        raise _build_insufficient_tickets(
            session.get_one(TicketType, block.ticket_type_id, populate_existing=True), block.quantity
        )
    invalidate(session, "tickets")


def _check_availability(event: Event, quote: Quote) -> None:
    if event.visibility in (CANCELLED, ARCHIVED):
        raise EventClosed("The event is archived or cancelled; it takes no allocations any more.")
    if quote.ticket_type.public < quote.quantity:
        raise _build_insufficient_tickets(quote.ticket_type, quote.quantity)
    check_booking(event, quote.quantity)
    if quote.promo_code is not None:
        quote.promo_code.check_remaining()


def _resolve_release_at(event: Event, release_at: datetime | None) -> datetime | None:
    """Return the time in UTC; a naive time is in the event's time zone. Raises ValidationFailed."""
    if release_at is None:
        return None
    release_instant = to_instant(release_at, event.timezone)
    if release_instant <= database_now():
        raise ValidationFailed.of("releaseAt", "in_the_past", "Must be in the future.")
    return release_instant


def _build_insufficient_tickets(ticket_type: TicketType, requested: int) -> InsufficientTickets:
    available = max(0, ticket_type.public)
    return InsufficientTickets(
        f"{ticket_type.name}: {available} tickets are free, {requested} were asked for.",
        available=available,
        requested=requested,
    )


def move_slots(caller: Caller, event_id: str, block_id: str, *, to_block_id: str, quantity: int) -> MovedBlocks:
    """Move free places to another block, whose price and discounts then apply to them; return both blocks.

    Raises NotFound, ValidationFailed, BlockMismatch, InsufficientSlots, BlockInvoiced.
    """
    if to_block_id == block_id:
        raise ValidationFailed.of("toBlockId", "contradiction", "Must be another block.")
    with transaction() as session:
        blocks = block_access.lock_two_blocks(session, caller, event_id, (block_id, to_block_id))
        source, target = blocks[block_id], blocks[to_block_id]
        if source["ticket_type_id"] != target["ticket_type_id"]:
            raise BlockMismatch()
        check_free_slots(source, quantity)
        _move_locked_slots(session, source, to_block_id, quantity, build_organiser_actor(caller))
    return MovedBlocks(
        source=queries.get_block(caller, event_id, block_id), target=queries.get_block(caller, event_id, to_block_id)
    )


def _move_locked_slots(session: Session, source: BlockRow, to_block_id: str, quantity: int, actor: Actor) -> None:
    params = {
        **actor.build_params("move"),
        "block_id": source["id"],
        "to_block_id": to_block_id,
        "quantity": quantity,
    }
    # Both blocks are locked and enough places are free; so if none moved, the other block has an invoice.
    if not session.scalar(sql.MOVE_SLOTS, params):
        raise BlockInvoiced()
    after_block_reduced(session, source)
