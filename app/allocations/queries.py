"""Reads of blocks and slots by the owner of the event, and the holders of claimed slots for campaigns."""

from collections.abc import Sequence
from typing import Any, TypedDict

from sqlalchemy import RowMapping, Select, func, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import states
from app.allocations.block_access import BlockRow, BlocksQuery, owned_blocks_query
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.pricing import CostLine, PromoCode, build_quote
from app.core.db import db
from app.core.errors import NotFound
from app.events import queries as events
from app.events.capacity import capacity_use
from app.events.models import Event
from app.events.queries import READS, owned

BLOCK_CREATED_AT, SLOT_ID = AllocationBlock.created_at.expression, AllocationSlot.id.expression
"""What lists are sorted by."""
SlotsQuery = Select[*tuple[Any, ...]]
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


class BlockQuote(TypedDict):
    """The price of a block that is not created yet; `fits` if the public has that many places. VAT is in the total."""

    ticket_type_id: str
    quantity: int
    currency: str
    unit_price_minor: int
    lines: tuple[CostLine, ...]
    subtotal_minor: int
    discount_minor: int
    vat_minor: int
    total_minor: int
    vat_percent: float
    available: int
    fits: bool
    promo_code: PromoCode | None


def calculate_quote(
    caller: Caller,
    event_id: str,
    *,
    ticket_type_id: str,
    quantity: int,
    unit_price_minor: int | None = None,
    promo_code: str | None = None,
    **_: object,
) -> BlockQuote:
    """Return what a block would cost, and whether that many places are free. Raises NotFound, ValidationFailed."""
    event = events.get_event(caller, event_id)
    quote = build_quote(
        event,
        ticket_type_id=ticket_type_id,
        quantity=quantity,
        unit_price_minor=unit_price_minor,
        promo_code=promo_code,
    )
    cost = quote.cost
    available = capacity_use(event).available(quote.ticket_type.public)
    return {
        "ticket_type_id": ticket_type_id,
        "quantity": quantity,
        "currency": "NAD",
        "unit_price_minor": quote.unit_price_minor,
        "lines": cost.lines,
        "subtotal_minor": cost.subtotal_minor,
        "discount_minor": cost.discount_minor,
        "vat_minor": cost.vat_minor,
        "total_minor": cost.total_minor,
        "vat_percent": cost.vat_percent,
        "available": available,
        "fits": quantity <= available,
        "promo_code": quote.promo_code,
    }


def list_blocks_query(
    caller: Caller, event_id: str, *, status: str | None = None, kind: str | None = None, ticket_type_id: str = ""
) -> BlocksQuery:
    """Select the blocks of an event. Raises NotFound."""
    check_event_readable(caller, event_id)
    filters = {"status": status, "kind": kind, "ticket_type_id": ticket_type_id}
    conditions = [getattr(AllocationBlock, name) == value for name, value in filters.items() if value]
    return owned_blocks_query(caller, event_id).where(*conditions)


def check_event_readable(caller: Caller, event_id: str) -> None:
    """Raises NotFound if the caller may not read the event."""
    if db.session.scalar(select(Event.id).where(Event.id == event_id, owned(caller, READS))) is None:
        raise NotFound()


def get_block(caller: Caller, event_id: str, block_id: str) -> BlockRow:
    """Return a block. Raises NotFound."""
    statement = owned_blocks_query(caller, event_id).where(AllocationBlock.id == block_id)
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def list_slots_query(block_id: str, *, status: str | None = None, handed_out: bool = False) -> SlotsQuery:
    """Select the slots of a block, ended ones included; with `handed_out` only those that a guest has or had."""
    conditions = [AllocationSlot.block_id == block_id]
    if status is not None:
        conditions.append(AllocationSlot.status == status)
    if handed_out:
        conditions.append(AllocationSlot.given_at.is_not(None))
    return select(*SLOT_COLUMNS).where(*conditions)


def list_claim_codes(caller: Caller, event_id: str, block_id: str) -> Sequence[RowMapping]:
    """Return the claim codes of a block that have not ended, with who has used them. Raises NotFound."""
    get_block(caller, event_id, block_id)
    statement = select(CLAIM_CODE_COLUMN, *CODE_SLOT_COLUMNS).where(
        AllocationSlot.block_id == block_id, AllocationSlot.via == states.CODE, AllocationSlot.ended_at.is_(None)
    )
    return db.session.execute(statement.order_by(AllocationSlot.id)).mappings().all()


def find_taken_emails(session: Session, block_id: str, emails: Sequence[str]) -> set[str]:
    """Return which of these addresses have a slot in the block that has not ended."""
    statement = select(AllocationSlot.email).where(
        AllocationSlot.block_id == block_id,
        AllocationSlot.ended_at.is_(None),
        AllocationSlot.email == func.any(list(emails)),
    )
    return {email for email in session.scalars(statement) if email is not None}


def slot_holders_sql(event_sql: str) -> str:
    """Return SQL of `id, email, name, phone` of every claimed or admitted slot of an event."""
    return f"""
        SELECT s.id, s.email COLLATE "default" AS email, s.name, s.phone FROM allocation_slot s
         WHERE s.event_id = {event_sql} AND s.claimed_at IS NOT NULL AND s.ended_at IS NULL"""
