"""Giving what nobody has claimed back to the public: by hand, or by itself at its time.

Revoking: the ticket dies at once, and the place goes back to the block or to the public.
"""

from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import queries, slot_changes, states
from app.allocations.errors import AlreadyAdmitted, SlotReleased
from app.allocations.models import AllocationSlot
from app.core.cache_invalidation import invalidate
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.capacity import type_availability

# What is free goes first, then whom nobody has heard of for the longest.
RELEASE_SLOTS = slot_changes.build_statement(
    slot_changes.slot_change_sql(
        f"""picked AS (
            SELECT id, status FROM allocation_slot
             WHERE block_id = :block_id AND status IN ('available', 'invited') AND ended_at IS NULL
             ORDER BY given_at NULLS FIRST, id LIMIT :quantity),
        touched AS (
            UPDATE allocation_slot s SET status = 'released', ended_at = now(), version = s.version + 1,
                   generation = s.generation + 1
              FROM picked p WHERE s.id = p.id
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, p.status AS was, s.status AS became, NULL::text AS gate)""",
        "SELECT count(*) FROM touched",
    )
)


def release_unused_slots(
    caller: Caller, event_id: str, block_id: str, *, quantity: int | None = None
) -> dict[str, int]:
    """Releases available and invited slots (or so many of them): their links die. Raises NotFound."""
    with transaction() as session:
        block = slot_changes.lock_block(session, caller, event_id, block_id)
        return release_slots(session, block, slot_changes.build_organiser_actor(caller), quantity)


def preview_release(caller: Caller, event_id: str, block_id: str, *, quantity: int | None = None) -> dict[str, int]:
    """What a release would do. Raises NotFound."""
    block = queries.get_block_row(caller, event_id, block_id)
    unused_count = block["available"] + block["invited"]
    release_count = unused_count if quantity is None else min(quantity, unused_count)
    availability = type_availability(block["ticket_type_id"])
    return _serialize_release(release_count, availability.places(), availability.places(more_allocated=-release_count))


def release_slots(
    session: Session, block: Any, actor: slot_changes.Actor, quantity: int | None = None
) -> dict[str, int]:
    """The same for a locked block."""
    unused_count = block["available"] + block["invited"]
    release_count, released = unused_count if quantity is None else min(quantity, unused_count), 0
    if release_count:
        params = {"block_id": block["id"], "quantity": release_count, **slot_changes.actor_params(actor, "release")}
        released = session.execute(RELEASE_SLOTS, params).scalar_one()
        after_block_reduced(session, block)
    availability = type_availability(block["ticket_type_id"])
    return _serialize_release(released, availability.places(more_allocated=released), availability.places())


def _serialize_release(released: int, before: int, after: int) -> dict[str, int]:
    return {"released": released, "public_available_before": before, "public_available_after": after}


ALREADY_ADMITTED_MESSAGE = "Somebody has been admitted with this ticket, so it cannot be taken back any more."
REVOKE_CTE = f"""ended AS (
        UPDATE allocation_slot s SET status = 'revoked', ended_at = now(), version = s.version + 1,
               generation = s.generation + 1
         WHERE s.id = :slot_id AND s.status = :was
        RETURNING {slot_changes.SLOT_COLUMNS_SQL}, s.event_id, CAST(:was AS text) AS was, s.status AS became)"""
REVOKED_SLOT_SQL = "SELECT id, block_id, ticket_type_id, was, became, NULL::text AS gate FROM ended"
REVOKE_TO_PUBLIC = slot_changes.build_statement(
    slot_changes.slot_change_sql(f"{REVOKE_CTE}, touched AS ({REVOKED_SLOT_SQL})", "SELECT id FROM touched")
)
REVOKE_TO_BLOCK = slot_changes.build_statement(
    slot_changes.slot_change_sql(
        f"""{REVOKE_CTE},
        fresh AS (
            INSERT INTO allocation_slot AS s (id, block_id, event_id, ticket_type_id)
            SELECT :fresh_id, block_id, event_id, ticket_type_id FROM ended
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, NULL::text AS was, s.status AS became, NULL::text AS gate),
        touched AS ({REVOKED_SLOT_SQL} UNION ALL SELECT * FROM fresh)""",
        "SELECT id FROM touched",
    )
)


def revoke_slot(caller: Caller, event_id: str, block_id: str, slot_id: str, *, return_to: str) -> dict[str, Any]:
    """Ends a slot. One that is ended already is answered as it is; one that was admitted stays.

    Raises NotFound, AlreadyAdmitted, SlotReleased.
    """
    with transaction() as session:
        block = slot_changes.lock_block(session, caller, event_id, block_id)
        slot = _get_slot(session, block_id, slot_id)
        to_public = return_to == "public"
        end_locked_slot(
            session, block, slot, actor=slot_changes.build_organiser_actor(caller), verb="revoke", to_public=to_public
        )
        return {**_get_slot(session, block_id, slot_id), "return_to": return_to}


def end_locked_slot(
    session: Session, block: Any, slot: Any, *, actor: slot_changes.Actor, verb: str, to_public: bool
) -> None:
    """Ends a slot of a locked block, whatever it is but admitted. Raises AlreadyAdmitted, SlotReleased."""
    if slot["status"] == states.REVOKED:
        return
    if slot["status"] == states.ADMITTED:
        raise AlreadyAdmitted(ALREADY_ADMITTED_MESSAGE)
    if slot["status"] == states.RELEASED:
        raise SlotReleased()
    params = {
        "slot_id": slot["id"],
        "was": slot["status"],
        "fresh_id": new_id(),
        **slot_changes.actor_params(actor, verb),
    }
    if session.execute(REVOKE_TO_PUBLIC if to_public else REVOKE_TO_BLOCK, params).first() is None:
        raise AlreadyAdmitted(ALREADY_ADMITTED_MESSAGE)
    if to_public:
        after_block_reduced(session, block)


def after_block_reduced(session: Session, block: Any) -> None:
    """What follows when a block has become smaller: the public sees it, and a priced one gets its credit note."""
    invalidate(session, "tickets")
    if block["unit_price_minor"]:
        enqueue("allocations.credit", block_id=block["id"])


def _get_slot(session: Session, block_id: str, slot_id: str) -> RowMapping:
    statement = select(*queries.SLOT_COLUMNS).where(AllocationSlot.id == slot_id, AllocationSlot.block_id == block_id)
    row = session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row
