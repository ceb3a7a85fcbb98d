"""Reads of blocks and their slots, always through the owner.

Who has claimed a place of an event, as SQL for those who write to them.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import RowMapping, Select, func, select

from app.accounts.caller import Caller
from app.allocations import serializers, slot_changes, states
from app.allocations.models import CLAIMED_SLOT_CONDITION, AllocationBlock, AllocationSlot
from app.allocations.pricing import build_quote
from app.core.db import db
from app.core.errors import NotFound
from app.events import queries as events
from app.events.capacity import capacity_use
from app.events.models import Event
from app.events.queries import READS, owned

BLOCK_SORTS: dict[str, Any] = {"createdAt": AllocationBlock.created_at}
SLOT_SORTS: dict[str, Any] = {"id": AllocationSlot.id}
SLOT_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.status,
    AllocationSlot.via,
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
    AllocationSlot.id.label("slot_id"),
    AllocationSlot.status,
    AllocationSlot.name,
    AllocationSlot.email,
)


def calculate_quote(
    caller: Caller,
    event_id: str,
    *,
    ticket_type_id: str,
    quantity: int,
    unit_price_minor: int | None = None,
    promo_code: str | None = None,
    **_: Any,
) -> dict[str, Any]:
    """What a block would cost, and whether that many are free. Raises NotFound, ValidationFailed."""
    event = events.get_event(caller, event_id)
    quote = build_quote(
        event,
        ticket_type_id=ticket_type_id,
        quantity=quantity,
        unit_price_minor=unit_price_minor,
        promo_code=promo_code,
    )
    available = capacity_use(event).available(quote.ticket_type.public)
    return {
        "ticket_type_id": ticket_type_id,
        "quantity": quantity,
        "currency": "NAD",
        "unit_price_minor": quote.unit_price_minor,
        **asdict(quote.cost),
        "available": available,
        "fits": quantity <= available,
        "promo_code": quote.promo_code,
    }


def list_blocks_query(
    caller: Caller, event_id: str, *, status: str | None = None, kind: str | None = None, ticket_type_id: str = ""
) -> Select[Any]:
    """The blocks of an event. Raises NotFound."""
    check_event_readable(caller, event_id)
    filters = {"status": status, "kind": kind, "ticket_type_id": ticket_type_id}
    conditions = [getattr(AllocationBlock, name) == value for name, value in filters.items() if value]
    return slot_changes.owned_blocks_query(caller, event_id).where(*conditions)


def check_event_readable(caller: Caller, event_id: str) -> None:
    """Raises NotFound for an event that is not the caller's."""
    if db.session.scalar(select(Event.id).where(Event.id == event_id, owned(caller, READS))) is None:
        raise NotFound()


def get_block(caller: Caller, event_id: str, block_id: str) -> dict[str, Any]:
    """One block. Raises NotFound."""
    return serializers.serialize_block(get_block_row(caller, event_id, block_id))


def get_block_row(caller: Caller, event_id: str, block_id: str) -> RowMapping:
    """The same as it stands. Raises NotFound."""
    statement = slot_changes.owned_blocks_query(caller, event_id).where(AllocationBlock.id == block_id)
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def list_slots_query(block_id: str, *, status: str | None = None, handed_out: bool = False) -> Select[Any]:
    """The slots of a block, history included; with `handed_out` those that somebody has or had an invitation to."""
    statement: Any = select(*SLOT_COLUMNS).where(AllocationSlot.block_id == block_id)
    if status is not None:
        statement = statement.where(AllocationSlot.status == status)
    handed_out_statement: Select[Any] = (
        statement.where(AllocationSlot.given_at.is_not(None)) if handed_out else statement
    )
    return handed_out_statement


def list_claim_codes(caller: Caller, event_id: str, block_id: str) -> Sequence[RowMapping]:
    """The claim codes of a block that have not been ended, with who has used them. Raises NotFound."""
    get_block_row(caller, event_id, block_id)
    statement = select(CLAIM_CODE_COLUMN, *CODE_SLOT_COLUMNS).where(
        AllocationSlot.block_id == block_id, AllocationSlot.via == states.CODE, AllocationSlot.ended_at.is_(None)
    )
    return db.session.execute(statement.order_by(AllocationSlot.id)).mappings().all()


def find_taken_emails(session: Any, block_id: str, emails: Sequence[str], via: str | None = None) -> set[str]:
    """Which of these addresses have a living slot in the block."""
    conditions = [AllocationSlot.block_id == block_id, AllocationSlot.ended_at.is_(None)]
    if via is not None:
        conditions.append(AllocationSlot.via == via)
    email_condition = AllocationSlot.email == func.any(list(emails))
    return set(session.scalars(select(AllocationSlot.email).where(*conditions, email_condition)))


_CLAIMED_CONDITION = " AND ".join(f"allocation_slot.{condition}" for condition in CLAIMED_SLOT_CONDITION.split(" AND "))


def slot_holders_sql(event_sql: str) -> str:
    """SQL: `id, email, name, phone` of every claimed and admitted slot of that event."""
    return f"""SELECT allocation_slot.id, allocation_slot.email COLLATE "default" AS email, allocation_slot.name,
               allocation_slot.phone
          FROM allocation_slot WHERE allocation_slot.event_id = {event_sql} AND {_CLAIMED_CONDITION}"""
