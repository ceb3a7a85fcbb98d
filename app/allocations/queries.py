"""Reads of blocks and their slots, always through the owner."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import RowMapping, Select, func, select

from app.accounts.caller import Caller
from app.allocations import books, shown, states
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.terms import terms_of
from app.core.db import db
from app.core.errors import NotFound
from app.events import queries as events
from app.events.capacity import capacity_use
from app.events.models import Event
from app.events.queries import READS, owned

BLOCK_SORTS: dict[str, Any] = {"createdAt": AllocationBlock.created_at}
SLOT_SORTS: dict[str, Any] = {"id": AllocationSlot.id}
SLOT = (
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
CLAIM_CODE = func.coalesce(AllocationSlot.claim_code, AllocationSlot.code).label("code")
WHOSE_CODE = (AllocationSlot.id.label("slot_id"), AllocationSlot.status, AllocationSlot.name, AllocationSlot.email)


def quote(
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
    event = events.event(caller, event_id)
    terms = terms_of(
        event,
        ticket_type_id=ticket_type_id,
        quantity=quantity,
        unit_price_minor=unit_price_minor,
        promo_code=promo_code,
    )
    free = capacity_use(event).available(terms.ticket_type.public)
    return {
        "ticket_type_id": ticket_type_id,
        "quantity": quantity,
        "currency": "NAD",
        "unit_price_minor": terms.unit_price_minor,
        **asdict(terms.cost),
        "available": free,
        "fits": quantity <= free,
        "promo_code": terms.promo_code,
    }


def listed(
    caller: Caller, event_id: str, *, status: str | None = None, kind: str | None = None, ticket_type_id: str = ""
) -> Select[Any]:
    """The blocks of an event. Raises NotFound."""
    check_event(caller, event_id)
    wanted = {"status": status, "kind": kind, "ticket_type_id": ticket_type_id}
    given = [getattr(AllocationBlock, name) == value for name, value in wanted.items() if value]
    return books.owned_blocks(caller, event_id).where(*given)


def check_event(caller: Caller, event_id: str) -> None:
    """Raises NotFound for an event that is not the caller's."""
    if db.session.scalar(select(Event.id).where(Event.id == event_id, owned(caller, READS))) is None:
        raise NotFound()


def block(caller: Caller, event_id: str, block_id: str) -> dict[str, Any]:
    """One block. Raises NotFound."""
    return shown.block(block_row(caller, event_id, block_id))


def block_row(caller: Caller, event_id: str, block_id: str) -> RowMapping:
    """The same as it stands. Raises NotFound."""
    statement = books.owned_blocks(caller, event_id).where(AllocationBlock.id == block_id)
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def slots(block_id: str, *, status: str | None = None, handed_out: bool = False) -> Select[Any]:
    """The slots of a block, history included; with `handed_out` those that somebody has or had an invitation to."""
    statement: Any = select(*SLOT).where(AllocationSlot.block_id == block_id)
    if status is not None:
        statement = statement.where(AllocationSlot.status == status)
    chosen: Select[Any] = statement.where(AllocationSlot.given_at.is_not(None)) if handed_out else statement
    return chosen


def codes(caller: Caller, event_id: str, block_id: str) -> Sequence[RowMapping]:
    """The claim codes of a block that have not been ended, with who has used them. Raises NotFound."""
    block_row(caller, event_id, block_id)
    statement = select(CLAIM_CODE, *WHOSE_CODE).where(
        AllocationSlot.block_id == block_id, AllocationSlot.via == states.CODE, AllocationSlot.ended_at.is_(None)
    )
    return db.session.execute(statement.order_by(AllocationSlot.id)).mappings().all()


def taken_addresses(session: Any, block_id: str, emails: Sequence[str], via: str | None = None) -> set[str]:
    """Which of these addresses have a living slot in the block."""
    conditions = [AllocationSlot.block_id == block_id, AllocationSlot.ended_at.is_(None)]
    if via is not None:
        conditions.append(AllocationSlot.via == via)
    wanted = AllocationSlot.email == func.any(list(emails))
    return set(session.scalars(select(AllocationSlot.email).where(*conditions, wanted)))
