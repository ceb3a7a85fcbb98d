"""Moving places from a block to another one, or to a new one."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, NotRequired, TypedDict

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from app.accounts.caller import Caller
from app.allocations import queries, sql, states
from app.allocations.actions.blocks import (
    Holder,
    after_block_reduced,
    build_holder_values,
    resolve_release_at,
    store_new_block,
)
from app.allocations.actions.guest_lists import check_free_slots
from app.allocations.errors import AlreadyAdmitted, AlreadyClaimed, BlockInvoiced, BlockMismatch
from app.allocations.links import check_event_open
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.queries import BlockRow, lock_block
from app.allocations.release_plan import PlannedStep, build_release_plan
from app.allocations.sql import build_organiser_actor
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import ValidationFailed
from app.core.languages import mark_for_translation
from app.core.transaction import transaction

PLACES_INVOICED_MESSAGE = "The invoice of one of the blocks is issued, so places can neither leave it nor come to it."
ADMITTED_MESSAGE = "A guest of these places has been admitted, so they stay in their block."
TWICE_MESSAGE = mark_for_translation("Occurs twice in the list.")
UNKNOWN_PLACE_MESSAGE = mark_for_translation("The block has no such place now.")
SAME_OPEN_LINK_MESSAGE = "A guest of these places has a place of the other block's open link already."


class NewBlock(TypedDict):
    """A block that is split off. What is left out of kind, price and release time is that of the first block."""

    name: NotRequired[str | None]
    kind: NotRequired[str]
    holder: NotRequired[Holder | None]
    unit_price_minor: NotRequired[int | None]
    release_at: NotRequired[datetime | None]
    release_plan: NotRequired[list[PlannedStep] | None]
    notes: NotRequired[str | None]


class MovedBlocks(NamedTuple):
    """The block that lost places and the block that got them."""

    source: BlockRow
    target: BlockRow


def move_slots(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    to_block_id: str | None = None,
    new_block: NewBlock | None = None,
    quantity: int | None = None,
    slot_ids: Sequence[str] = (),
) -> MovedBlocks:
    """Move free places, or those of `slot_ids`, to another block or to a new one; return both blocks.

    Price, discounts and release time of that block then apply to them. Guests keep their links, codes and tickets.

    Raises NotFound, ValidationFailed, BlockMismatch, InsufficientSlots, BlockInvoiced, AlreadyAdmitted, AlreadyClaimed,
    EventClosed.
    """
    if to_block_id == block_id:
        raise ValidationFailed.of("toBlockId", "contradiction", "Must be another block.")
    with transaction() as session:
        if to_block_id is None:
            source: BlockRow = lock_block(session, caller, event_id, block_id)
            to_block_id = _create_split_block(session, caller, source, new_block or {})
        else:
            source = _lock_blocks(session, caller, event_id, block_id, to_block_id)
        if queries.has_invoice(session, block_id, to_block_id):
            raise BlockInvoiced(PLACES_INVOICED_MESSAGE)
        if slot_ids:
            _check_slots(session, block_id, to_block_id, slot_ids)
        else:
            check_free_slots(source, quantity or 0)
        params = {
            **build_organiser_actor(caller).build_params("move"),
            "block_id": block_id,
            "to_block_id": to_block_id,
            "event_id": event_id,
            "slot_ids": list(slot_ids),
            "quantity": len(slot_ids) or quantity,
        }
        moved = session.scalar(sql.MOVE_CHOSEN_SLOTS if slot_ids else sql.MOVE_FREE_SLOTS, params)
        if moved != params["quantity"]:
            raise AlreadyAdmitted(ADMITTED_MESSAGE)
        data = {"toBlock": to_block_id, "quantity": moved}
        record(session, Action.SLOTS_MOVED, event_id=event_id, subject=block_id, data=data)
        after_block_reduced(session, source)
    return MovedBlocks(
        source=queries.get_block(caller, event_id, block_id), target=queries.get_block(caller, event_id, to_block_id)
    )


def _lock_blocks(session: Session, caller: Caller, event_id: str, block_id: str, to_block_id: str) -> BlockRow:
    blocks = queries.lock_two_blocks(session, caller, event_id, (block_id, to_block_id))
    if blocks[block_id]["ticket_type_id"] != blocks[to_block_id]["ticket_type_id"]:
        raise BlockMismatch()
    return blocks[block_id]


def _create_split_block(session: Session, caller: Caller, source: BlockRow, terms: NewBlock) -> str:
    """Insert a block without places beside a locked one. It uses no promo code, but keeps the discounts."""
    check_event_open(source)
    price_minor = terms.get("unit_price_minor")
    if price_minor is None:
        price_minor = source["unit_price_minor"]
    present_release_at = None if source["release_time_passed"] else source["release_at"]
    release_at = (
        resolve_release_at(source["timezone"], terms["release_at"]) if "release_at" in terms else present_release_at
    )
    block = AllocationBlock(
        event_id=source["event_id"],
        ticket_type_id=source["ticket_type_id"],
        quantity=0,
        kind=terms.get("kind") or source["kind"],
        name=terms.get("name"),
        notes=terms.get("notes"),
        unit_price_minor=price_minor,
        discounts=source["discounts"] if price_minor else [],
        release_at=release_at,
        release_plan=build_release_plan(
            terms.get("release_plan") or [],
            timezone=source["timezone"],
            ends_at=source["ends_at"],
            release_at=release_at,
            path="newBlock.releasePlan",
        ),
        created_by=caller.id,
        guests_may_pass_on=source["guests_may_pass_on"],
        guests_may_give_back=source["guests_may_give_back"],
        **build_holder_values(terms.get("holder")),
    )
    store_new_block(session, block)
    return block.id


def _check_slots(session: Session, block_id: str, to_block_id: str, slot_ids: Sequence[str]) -> None:
    """Raises ValidationFailed for places that are not of the block or have ended, AlreadyAdmitted, AlreadyClaimed."""
    statement = select(AllocationSlot.id, AllocationSlot.status).where(
        AllocationSlot.id.in_(slot_ids), AllocationSlot.block_id == block_id, AllocationSlot.ended_at.is_(None)
    )
    statuses = {row.id: row.status for row in session.execute(statement)}
    counts = Counter(slot_ids)
    problems = [
        {
            "path": f"slotIds[{index}]",
            "code": "duplicate" if slot_id in statuses else "unknown_value",
            "message": TWICE_MESSAGE if slot_id in statuses else UNKNOWN_PLACE_MESSAGE,
        }
        for index, slot_id in enumerate(slot_ids)
        if slot_id not in statuses or counts[slot_id] > 1
    ]
    if problems:
        raise ValidationFailed(problems)
    if states.ADMITTED in statuses.values():
        raise AlreadyAdmitted(ADMITTED_MESSAGE)
    _check_open_link_guests(session, to_block_id, slot_ids)


def _check_open_link_guests(session: Session, to_block_id: str, slot_ids: Sequence[str]) -> None:
    """Raises AlreadyClaimed if a guest would have two places of one open link."""
    moved, present = aliased(AllocationSlot), aliased(AllocationSlot)
    statement = select(moved.id).where(
        moved.id.in_(slot_ids),
        moved.via == states.OPEN_LINK,
        moved.id == moved.party_id,
        present.block_id == to_block_id,
        present.via == states.OPEN_LINK,
        present.id == present.party_id,
        present.email == moved.email,
        present.ended_at.is_(None),
    )
    if session.scalar(statement.limit(1)) is not None:
        raise AlreadyClaimed(SAME_OPEN_LINK_MESSAGE)
