"""Places that a block gives up: releasing unclaimed slots to the public, and revoking single slots."""

from typing import TypedDict

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import queries, sql, states
from app.allocations.block_access import Actor, BlockRow, build_organiser_actor, lock_block
from app.allocations.errors import AlreadyAdmitted, SlotReleased
from app.allocations.models import AllocationSlot
from app.core.cache_invalidation import invalidate
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.capacity import type_availability

ALREADY_ADMITTED_MESSAGE = "This ticket has been admitted, so it can no longer be revoked."


class Release(TypedDict):
    """How many places a release gives back, and how many the public has before and after."""

    released: int
    public_available_before: int
    public_available_after: int


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
        params = {**actor.build_params("release"), "block_id": block["id"], "quantity": release_count}
        released = session.execute(sql.RELEASE_SLOTS, params).scalar_one()
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
        "old_status": slot["status"],
        "new_slot_id": new_id(),
    }
    if session.execute(sql.REVOKE_TO_PUBLIC if to_public else sql.REVOKE_TO_BLOCK, params).first() is None:
        raise AlreadyAdmitted(ALREADY_ADMITTED_MESSAGE)
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
    statement = select(*queries.SLOT_COLUMNS).where(AllocationSlot.id == slot_id, AllocationSlot.block_id == block_id)
    row = session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row
