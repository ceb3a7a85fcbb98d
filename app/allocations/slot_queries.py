"""Reads of slots: the places of a block with their guests, one place, claim codes, and addresses that have a place."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, func, select, true
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import states
from app.allocations.models import AllocationSlot
from app.allocations.queries import get_block
from app.audit.actions import Action
from app.audit.log import record_export
from app.core.db import db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.queries import owned
from app.events.search_words import contains_sql

SLOT_ID = AllocationSlot.id.expression
SLOT_SORTS: dict[str, ColumnElement[Any]] = {"name": AllocationSlot.name_key.expression, "id": SLOT_ID}
"""What lists of places are sorted by."""
SlotsQuery = Select[*tuple[object, ...]]
SLOT_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.status,
    AllocationSlot.via,
    AllocationSlot.generation,
    AllocationSlot.name,
    AllocationSlot.email,
    AllocationSlot.phone,
    AllocationSlot.code,
    AllocationSlot.delivery,
    AllocationSlot.party_id,
    AllocationSlot.party_size,
    AllocationSlot.version,
    AllocationSlot.given_at,
    AllocationSlot.reminded_at,
    AllocationSlot.claimed_at,
    AllocationSlot.admitted_at,
    AllocationSlot.gate,
    AllocationSlot.ended_at,
)
CLAIM_CODE_COLUMN = func.coalesce(AllocationSlot.claim_code, AllocationSlot.code).label("code")
CODE_SLOT_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.id.label("slot_id"),
    AllocationSlot.status,
    AllocationSlot.name,
    AllocationSlot.email,
)


def list_slots_query(
    block_id: str, *, status: str | None = None, q: str | None = None, handed_out: bool = False
) -> SlotsQuery:
    """Select the slots of a block, ended ones included; with `handed_out` only those that a guest has or had.

    `q` is a part of the name or of the address of the guest.
    """
    conditions = [AllocationSlot.block_id == block_id]
    if status is not None:
        conditions.append(AllocationSlot.status == status)
    if q:
        conditions.append(contains_sql(AllocationSlot.name, q) | contains_sql(AllocationSlot.email, q))
    if handed_out:
        conditions.append(AllocationSlot.given_at.is_not(None))
    return select(*SLOT_COLUMNS).where(*conditions)


def get_slot(caller: Caller, event_id: str, slot_id: str) -> RowMapping:
    """Return a slot of an event, with the id of its block. Raises NotFound."""
    statement = (
        select(*SLOT_COLUMNS, AllocationSlot.block_id)
        .join(Event, Event.id == AllocationSlot.event_id)
        .where(AllocationSlot.id == slot_id, AllocationSlot.event_id == event_id, owned(caller))
    )
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def count_party_outside(slot: RowMapping) -> int:
    """Return how many of the party of a slot are not admitted yet; 0 without a party."""
    if slot["party_size"] == 1:
        return 0
    is_outside = AllocationSlot.party_size > 1, AllocationSlot.status == states.CLAIMED
    statement = select(func.count()).where(AllocationSlot.party_id == slot["party_id"], *is_outside)
    return db.session.scalar(statement) or 0


def list_claim_codes_query(block_id: str) -> SlotsQuery:
    """Select the claim codes of a block that have not ended, with who has used them."""
    return select(CLAIM_CODE_COLUMN, *CODE_SLOT_COLUMNS).where(
        AllocationSlot.block_id == block_id, AllocationSlot.via == states.CODE, AllocationSlot.ended_at.is_(None)
    )


def list_claim_codes(caller: Caller, event_id: str, block_id: str) -> Sequence[RowMapping]:
    """Return the claim codes of a block that have not ended, with who has used them. It is recorded. Raises NotFound."""
    get_block(caller, event_id, block_id)
    record_export(Action.CODES_EXPORTED, event_id=event_id, subject=block_id)
    return db.session.execute(list_claim_codes_query(block_id).order_by(AllocationSlot.id)).mappings().all()


def find_taken_guests(session: Session, block_id: str, keys: Sequence[str], *, via: str | None = None) -> set[str]:
    """Return which of these addresses, or of these names of guests without one, have a slot in the block.

    The names are folded. With `via`, only slots that were handed out in this way count.
    """
    is_via = AllocationSlot.via == via if via is not None else true()
    is_address = AllocationSlot.email == func.any(list(keys))
    is_named = AllocationSlot.email.is_(None) & AllocationSlot.name.is_not(None)
    statement = select(AllocationSlot.email, AllocationSlot.name).where(
        AllocationSlot.block_id == block_id, AllocationSlot.ended_at.is_(None), is_via, is_address | is_named
    )
    return {email or fold_guest_name(name or "") for email, name in session.execute(statement)}


def fold_guest_name(name: str) -> str:
    """Return a name as it is compared: without case and with single blanks."""
    return " ".join(name.split()).casefold()
