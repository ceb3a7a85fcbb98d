"""Revoking: the ticket dies at once, and the place goes back to the block or to the public."""

from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import books, queries, states
from app.allocations.errors import AlreadyAdmitted, SlotReleased
from app.allocations.models import AllocationSlot
from app.core.errors import NotFound
from app.core.freshness import changed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction

TOO_LATE = "Somebody has been admitted with this ticket, so it cannot be taken back any more."
END = f"""ended AS (
        UPDATE allocation_slot s SET status = 'revoked', ended_at = now(), version = s.version + 1,
               generation = s.generation + 1
         WHERE s.id = :slot_id AND s.status = :was
        RETURNING {books.SLOT}, s.event_id, CAST(:was AS text) AS was, s.status AS became)"""
ONE = "SELECT id, block_id, ticket_type_id, was, became, NULL::text AS gate FROM ended"
TO_PUBLIC = books.sql(books.changing(f"{END}, touched AS ({ONE})", "SELECT id FROM touched"))
TO_BLOCK = books.sql(
    books.changing(
        f"""{END},
        fresh AS (
            INSERT INTO allocation_slot AS s (id, block_id, event_id, ticket_type_id)
            SELECT :fresh_id, block_id, event_id, ticket_type_id FROM ended
            RETURNING {books.SLOT}, NULL::text AS was, s.status AS became, NULL::text AS gate),
        touched AS ({ONE} UNION ALL SELECT * FROM fresh)""",
        "SELECT id FROM touched",
    )
)


def revoke(caller: Caller, event_id: str, block_id: str, slot_id: str, *, return_to: str) -> dict[str, Any]:
    """Ends a slot. One that is ended already is answered as it is; one that was admitted stays.

    Raises NotFound, AlreadyAdmitted, SlotReleased.
    """
    with transaction() as session:
        block = books.locked(session, caller, event_id, block_id)
        slot = _slot(session, block_id, slot_id)
        to_public = return_to == "public"
        end_slot(session, block, slot, actor=books.organiser(caller), verb="revoke", to_public=to_public)
        return {**_slot(session, block_id, slot_id), "return_to": return_to}


def end_slot(session: Session, block: Any, slot: Any, *, actor: books.Actor, verb: str, to_public: bool) -> None:
    """Ends a slot of a locked block, whatever it is but admitted. Raises AlreadyAdmitted, SlotReleased."""
    if slot["status"] == states.REVOKED:
        return
    if slot["status"] == states.ADMITTED:
        raise AlreadyAdmitted(TOO_LATE)
    if slot["status"] == states.RELEASED:
        raise SlotReleased()
    given = {"slot_id": slot["id"], "was": slot["status"], "fresh_id": new_id(), **books.acting(actor, verb)}
    if session.execute(TO_PUBLIC if to_public else TO_BLOCK, given).first() is None:
        raise AlreadyAdmitted(TOO_LATE)
    if to_public:
        shrunk(session, block)


def shrunk(session: Session, block: Any) -> None:
    """What follows when a block has become smaller: the public sees it, and a priced one gets its credit note."""
    changed(session, "tickets")
    if block["unit_price_minor"]:
        enqueue("allocations.credit", block_id=block["id"])


def _slot(session: Session, block_id: str, slot_id: str) -> RowMapping:
    statement = select(*queries.SLOT).where(AllocationSlot.id == slot_id, AllocationSlot.block_id == block_id)
    row = session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row
