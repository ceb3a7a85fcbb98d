"""Creating a block, releasing unclaimed places to the public, and revoking single slots."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NotRequired, TypedDict, Unpack

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.quotas import SLOTS_QUOTA, count_unverified_use
from app.allocations import queries, slot_queries, sql, states
from app.allocations.errors import AlreadyAdmitted, InsufficientTickets, SlotReleased
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.pricing import Quote, build_quote
from app.allocations.queries import BlockRow, lock_block
from app.allocations.release_plan import PlannedStep, build_release_plan, enqueue_release_plan
from app.allocations.sql import Actor, build_organiser_actor
from app.audit.actions import Action
from app.audit.log import record
from app.core.cache_invalidation import invalidate
from app.core.db import database_now
from app.core.errors import NotFound, ValidationFailed
from app.core.formatting import format_count
from app.core.ids import new_id
from app.core.languages import SOURCE_LANGUAGE, mark_for_translation, use_language
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events import queries as events
from app.events.capacity import check_booking, type_availability
from app.events.models import Event, TicketType
from app.events.timezones import to_instant
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.errors import EventClosed

HOLDER_FIELDS = ("name", "email", "phone", "organisation")
ALREADY_ADMITTED_MESSAGE = mark_for_translation("This ticket has been admitted, so it can no longer be revoked.")


class Holder(TypedDict, total=False):
    """The person or organisation that a block is for."""

    name: str | None
    email: str | None
    phone: str | None
    organisation: str | None


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
    release_plan: NotRequired[list[PlannedStep] | None]
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
    may_pass_on = terms.get("guests_may_pass_on")
    if may_pass_on is None:
        may_pass_on = terms["kind"] not in states.PERSONAL_BLOCK_KINDS
    with transaction() as session:
        event = events.lock_for_booking(session, caller, event_id, limited=promo_code is not None)
        count_unverified_use(session, caller, SLOTS_QUOTA, quantity)
        # The labels of the discounts are stored for the invoice, which is English.
        with use_language(SOURCE_LANGUAGE):
            quote = build_quote(
                event,
                ticket_type_id=ticket_type_id,
                quantity=quantity,
                unit_price_minor=terms.get("unit_price_minor"),
                promo_code=promo_code,
            )
        release_instant = resolve_release_at(event.timezone, terms.get("release_at"))
        release_plan = build_release_plan(
            terms.get("release_plan") or [],
            timezone=event.timezone,
            ends_at=event.ends_at,
            release_at=release_instant,
        )
        _check_availability(event, quote)
        block = AllocationBlock(
            event_id=event_id,
            ticket_type_id=ticket_type_id,
            quantity=quantity,
            kind=terms["kind"],
            release_at=release_instant,
            release_plan=release_plan,
            unit_price_minor=quote.unit_price_minor,
            discounts=[discount.to_json() for discount in quote.discounts],
            promo_code=promo_code,
            created_by=caller.id,
            name=terms.get("name"),
            notes=terms.get("notes"),
            guests_may_pass_on=may_pass_on,
            guests_may_give_back=terms.get("guests_may_give_back", True),
            **build_holder_values(terms.get("holder")),
        )
        store_new_block(session, block)
        insert_slots(
            session,
            block_id=block.id,
            event_id=event_id,
            ticket_type_id=ticket_type_id,
            count=quantity,
            actor=build_organiser_actor(caller),
        )
    return block.id


def build_holder_values(holder: Holder | None) -> dict[str, str | None]:
    """Return the columns of a holder; those that are not sent are None."""
    values: Mapping[str, Any] = holder or {}
    return {f"holder_{name}": values.get(name) for name in HOLDER_FIELDS}


def store_new_block(session: Session, block: AllocationBlock) -> None:
    """Insert a block that has no slots yet, and enqueue its releases."""
    session.add(block)
    session.flush()
    data = {"kind": block.kind, "quantity": block.quantity}
    record(session, Action.BLOCK_CREATED, event_id=block.event_id, subject=block.id, data=data)
    enqueue_release(block.id, block.release_at)
    enqueue_release_plan(block.id, block.release_plan)


def enqueue_release(block_id: str, release_at: datetime | None) -> None:
    if release_at is not None:
        enqueue("allocations.release", run_at=release_at, aggregate=block_id, block_id=block_id)


def insert_slots(
    session: Session, *, block_id: str, event_id: str, ticket_type_id: str, count: int, actor: Actor
) -> None:
    """Add free slots to a block; their places come from the public. Raises InsufficientTickets."""
    params = {
        **actor.build_params("create"),
        "ids": [new_id() for _ in range(count)],
        "block_id": block_id,
        "event_id": event_id,
        "ticket_type_id": ticket_type_id,
    }
    if session.scalar(sql.INSERT_SLOTS, params) is None:
        raise _build_insufficient_tickets(session.get_one(TicketType, ticket_type_id, populate_existing=True), count)
    invalidate(session, "tickets")


def check_type_availability(ticket_type: TicketType, count: int) -> None:
    """Raises InsufficientTickets if the public has fewer tickets of a type."""
    if ticket_type.public < count:
        raise _build_insufficient_tickets(ticket_type, count)


def _check_availability(event: Event, quote: Quote) -> None:
    if event.visibility in (CANCELLED, ARCHIVED):
        raise EventClosed("The event is archived or cancelled; it takes no allocations any more.")
    check_type_availability(quote.ticket_type, quote.quantity)
    check_booking(event, quote.quantity)
    if quote.promo_code is not None:
        quote.promo_code.check_remaining()


def resolve_release_at(timezone: str, release_at: datetime | None) -> datetime | None:
    """Return the time in UTC; a naive time is in the event's time zone. Raises ValidationFailed."""
    if release_at is None:
        return None
    release_instant = to_instant(release_at, timezone)
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
        after_block_reduced(session, block)
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
        after_block_reduced(session, block)


def after_block_reduced(session: Session, block: BlockRow) -> None:
    """Refresh the public ticket counts, and enqueue the credit note of a block that costs something."""
    invalidate(session, "tickets")
    if block["unit_price_minor"]:
        enqueue("allocations.credit", block_id=block["id"])


def _count_releasable(block: BlockRow, quantity: int | None) -> int:
    unused_count: int = block["available"] + block["invited"]
    return unused_count if quantity is None else min(quantity, unused_count)


def _get_slot(session: Session, block_id: str, slot_id: str) -> RowMapping:
    statement = select(*slot_queries.SLOT_COLUMNS).where(
        AllocationSlot.id == slot_id, AllocationSlot.block_id == block_id
    )
    row = session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row
