"""Creating and changing a block, moving its free places, releasing unclaimed ones to the public, and revoking single slots."""

from datetime import datetime
from typing import NamedTuple, NotRequired, TypedDict, Unpack

from sqlalchemy import RowMapping, func, select, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.quotas import SLOTS_QUOTA, count_unverified_use
from app.allocations import queries, sql, states
from app.allocations.actions.invites import check_free_slots
from app.allocations.errors import AlreadyAdmitted, BlockInvoiced, BlockMismatch, InsufficientTickets, SlotReleased
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.pricing import Quote, build_quote
from app.allocations.queries import BlockRow, lock_block
from app.allocations.sql import Actor, build_organiser_actor
from app.audit.actions import Action
from app.audit.log import record
from app.core.cache_invalidation import invalidate
from app.core.db import database_now
from app.core.errors import NotFound, StaleVersion, ValidationFailed
from app.core.formatting import format_count
from app.core.ids import new_id
from app.core.languages import mark_for_translation
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events import queries as events
from app.events.capacity import check_booking, type_availability
from app.events.models import Event, TicketType
from app.events.timezones import to_instant
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.errors import EventClosed

ALREADY_ADMITTED_MESSAGE = mark_for_translation("This ticket has been admitted, so it can no longer be revoked.")


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
    """A new block. Without `unit_price_minor` it has the present price; a naive `release_at` is in the event's zone.

    Guests may pass tickets on by default, but not those of staff and press, and give them back.
    """

    ticket_type_id: str
    quantity: int
    kind: str
    name: NotRequired[str | None]
    holder: NotRequired[Holder | None]
    unit_price_minor: NotRequired[int | None]
    promo_code: NotRequired[str | None]
    release_at: NotRequired[datetime | None]
    notes: NotRequired[str | None]
    guests_may_pass_on: NotRequired[bool | None]
    guests_may_give_back: NotRequired[bool]


class Release(TypedDict):
    """How many places a release gives back, and how many the public has before and after."""

    released: int
    public_available_before: int
    public_available_after: int


def create_block(caller: Caller, event_id: str, **terms: Unpack[BlockTerms]) -> str:
    """Take places from the public for a holder; return the block's id. Its price and discounts never change.

    Raises NotFound, ValidationFailed, EventClosed, InsufficientTickets, CapacityExceeded, PromoCodeExhausted,
    EmailNotVerified.
    """
    ticket_type_id, quantity, promo_code = terms["ticket_type_id"], terms["quantity"], terms.get("promo_code")
    holder = terms.get("holder") or {}
    may_pass_on = terms.get("guests_may_pass_on")
    if may_pass_on is None:
        may_pass_on = terms["kind"] not in states.PERSONAL_BLOCK_KINDS
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
            guests_may_pass_on=may_pass_on,
            guests_may_give_back=terms.get("guests_may_give_back", True),
            holder_name=holder.get("name"),
            holder_email=holder.get("email"),
            holder_phone=holder.get("phone"),
            holder_organisation=holder.get("organisation"),
        )
        session.add(block)
        session.flush()
        _insert_slots(session, block, build_organiser_actor(caller))
        data = {"kind": block.kind, "quantity": quantity}
        record(session, Action.BLOCK_CREATED, event_id=event_id, subject=block.id, data=data)
        if release_instant is not None:
            enqueue("allocations.release", run_at=release_instant, aggregate=block.id, block_id=block.id)
    return block.id


def update_block(
    caller: Caller, event_id: str, block_id: str, *, expected_version: int | None, **changes: bool
) -> None:
    """Change `guests_may_pass_on` and `guests_may_give_back` of a block. Raises NotFound, StaleVersion."""
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        if expected_version not in (None, block["version"]):
            raise StaleVersion()
        changed = {name: value for name, value in changes.items() if block[name] != value}
        if not changed:
            return
        session.execute(
            update(AllocationBlock)
            .where(AllocationBlock.id == block_id)
            .values(**changed, version=AllocationBlock.version + 1, updated_at=func.now())
            .execution_options(synchronize_session=False)
        )
        record(session, Action.BLOCK_CHANGED, event_id=event_id, subject=block_id, data={"changed": sorted(changed)})


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
        f"{ticket_type.name} has {format_count(available, 'free ticket')}; requested: {requested}.",
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
        blocks = queries.lock_two_blocks(session, caller, event_id, (block_id, to_block_id))
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
        "event_id": source["event_id"],
        "quantity": quantity,
    }
    # Both blocks are locked and enough places are free; so if none moved, the other block has an invoice.
    if not session.scalar(sql.MOVE_SLOTS, params):
        raise BlockInvoiced()
    data = {"toBlock": to_block_id, "quantity": quantity}
    record(session, Action.SLOTS_MOVED, event_id=source["event_id"], subject=source["id"], data=data)
    _after_block_reduced(session, source)


def release_unused_slots(caller: Caller, event_id: str, block_id: str, *, quantity: int | None = None) -> Release:
    """Release available and invited slots, all or `quantity` of them. Their links end. Raises NotFound."""
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        return release_slots(session, block, build_organiser_actor(caller), quantity)


def preview_release(caller: Caller, event_id: str, block_id: str, *, quantity: int | None = None) -> Release:
    """Return what a release would do. Raises NotFound."""
    block = queries.get_block(caller, event_id, block_id)
    release_count = _count_releasable(block, quantity)
    availability = type_availability(block["ticket_type_id"])
    return {
        "released": release_count,
        "public_available_before": availability.places(),
        "public_available_after": availability.places(more_allocated=-release_count),
    }


def release_slots(session: Session, block: BlockRow, actor: Actor, quantity: int | None = None) -> Release:
    """Release unclaimed slots of a locked block."""
    release_count, released = _count_releasable(block, quantity), 0
    if release_count:
        params = {
            **actor.build_params("release"),
            "block_id": block["id"],
            "event_id": block["event_id"],
            "quantity": release_count,
        }
        released = session.execute(sql.RELEASE_SLOTS, params).scalar_one()
        data = {"quantity": released}
        record(session, Action.SLOTS_RELEASED, event_id=block["event_id"], subject=block["id"], data=data)
        _after_block_reduced(session, block)
    availability = type_availability(block["ticket_type_id"])
    return {
        "released": released,
        "public_available_before": availability.places(more_allocated=released),
        "public_available_after": availability.places(),
    }


def revoke_slot(caller: Caller, event_id: str, block_id: str, slot_id: str, *, return_to: str) -> dict[str, object]:
    """End a slot; its place returns to the block or to the public. A revoked slot stays as it is.

    Raises NotFound, AlreadyAdmitted, SlotReleased.
    """
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        slot = _get_slot(session, block_id, slot_id)
        actor = build_organiser_actor(caller)
        end_locked_slot(session, block, slot, actor=actor, verb="revoke", to_public=return_to == "public")
        return {**_get_slot(session, block_id, slot_id), "return_to": return_to}


def end_locked_slot(
    session: Session, block: BlockRow, slot: RowMapping, *, actor: Actor, verb: str, to_public: bool
) -> None:
    """End a slot of a locked block. Raises AlreadyAdmitted, SlotReleased."""
    if slot["status"] == states.REVOKED:
        return
    if slot["status"] == states.ADMITTED:
        raise AlreadyAdmitted(ALREADY_ADMITTED_MESSAGE)
    if slot["status"] == states.RELEASED:
        raise SlotReleased()
    params = {
        **actor.build_params(verb),
        "slot_id": slot["id"],
        "event_id": block["event_id"],
        "old_status": slot["status"],
        "new_slot_id": new_id(),
    }
    if session.execute(sql.REVOKE_TO_PUBLIC if to_public else sql.REVOKE_TO_BLOCK, params).first() is None:
        raise AlreadyAdmitted(ALREADY_ADMITTED_MESSAGE)
    data = {"block": block["id"], "by": actor.role, "returnTo": "public" if to_public else "block"}
    record(session, Action.SLOT_REVOKED, event_id=block["event_id"], subject=slot["id"], data=data)
    if to_public:
        _after_block_reduced(session, block)


def _after_block_reduced(session: Session, block: BlockRow) -> None:
    """Refresh the public ticket counts, and enqueue the credit note of a block that costs something."""
    invalidate(session, "tickets")
    if block["unit_price_minor"]:
        enqueue("allocations.credit", block_id=block["id"])


def _count_releasable(block: BlockRow, quantity: int | None) -> int:
    unused_count: int = block["available"] + block["invited"]
    return unused_count if quantity is None else min(quantity, unused_count)


def _get_slot(session: Session, block_id: str, slot_id: str) -> RowMapping:
    statement = select(*queries.SLOT_COLUMNS).where(AllocationSlot.id == slot_id, AllocationSlot.block_id == block_id)
    row = session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row
