"""What the holder of a block does by their own link: hands out, renames, takes back."""

from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.allocations import link_tokens, slot_changes, states
from app.allocations.actions import claims
from app.allocations.actions.claims import Claimant
from app.allocations.actions.releases import end_locked_slot
from app.allocations.errors import AlreadyAdmitted, AlreadyClaimed, NoSlotsLeft
from app.allocations.link_tokens import ResolvedToken, resolve_token
from app.allocations.models import AllocationSlot
from app.core.errors import LinkExpired, NotFound
from app.core.ids import new_id
from app.core.transaction import transaction

SLOT_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.status,
    AllocationSlot.name,
    AllocationSlot.email,
    AllocationSlot.phone,
    AllocationSlot.delivery,
    AllocationSlot.code,
    AllocationSlot.generation,
    AllocationSlot.version,
)
REASSIGN_SLOT = slot_changes.build_statement(
    slot_changes.slot_event_sql(
        f"""touched AS (
            UPDATE allocation_slot s
               SET name = :name, email = :email, phone = :phone, delivery = :delivery, code = :code,
                   party_id = :party_id, party_size = 1, generation = s.generation + 1, version = s.version + 1
             WHERE s.id = :slot_id AND s.status = 'claimed'
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, s.status AS was, s.status AS became, NULL::text AS gate,
                   s.generation),
        counted AS (UPDATE allocation_block b SET version = b.version + 1, updated_at = now()
                      FROM touched t WHERE b.id = t.block_id)""",
        "SELECT generation FROM touched",
    )
)


def run_allocator_action(token: str, network: str, *, action: str, **request_fields: Any) -> dict[str, Any]:
    """What a holder asks for: `hand_out`, `rename` or `take_back`. Raises what those do."""
    if action == "take_back":
        return reclaim_slot(token, network, slot_id=request_fields["slot_id"])
    if action == "rename":
        return reassign_slot(token, network, **request_fields)
    guest_fields = {name: value for name, value in request_fields.items() if name != "slot_id"}
    return hand_out_slots(token, network, **guest_fields)


def hand_out_slots(token: str, network: str, *, allow_duplicates: bool = False, **guest_fields: Any) -> dict[str, Any]:
    """Gives somebody a place, or a party of several; the ticket goes to them.

    Raises NotFound, Throttled, LinkExpired, NoSlotsLeft, AlreadyClaimed.
    """
    claimant = Claimant(**guest_fields)
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = _lock_allocator_block(session, resolved_token)
        if block["available"] < claimant.quantity:
            raise NoSlotsLeft("No place of the block is free for that.", remaining=block["available"])
        rows = claims.assign_slots(
            session,
            block["id"],
            claimant,
            via=states.ALLOCATOR,
            actor=slot_changes.HOLDER_ACTOR,
            allow_duplicates=allow_duplicates,
        )
        if not rows:
            raise AlreadyClaimed("This address has a place already; send allowDuplicates to give it another.")
        return claims.serialize_claim(block, claimant, rows)


def reassign_slot(token: str, network: str, *, slot_id: str, **guest_fields: Any) -> dict[str, Any]:
    """Gives a handed-out place to somebody else: the old ticket dies, a new one goes out. What is not sent stays.

    The place leaves the party that it was handed out with: the guest before cannot enter on it any more.
    Raises NotFound, Throttled, LinkExpired, AlreadyAdmitted.
    """
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = _lock_allocator_block(session, resolved_token)
        slot = _get_allocator_slot(session, block["id"], slot_id)
        if slot["status"] == states.ADMITTED:
            raise AlreadyAdmitted()
        if slot["status"] != states.CLAIMED:
            raise LinkExpired("This place is not with anybody any more; hand out another.")
        new_values = {name: guest_fields.get(name) or slot[name] for name in ("name", "email", "phone", "delivery")}
        if any(new_values[name] != slot[name] for name in new_values):
            new_ids = {"code": link_tokens.generate_code(), "party_id": new_id()}
            params = {
                **new_values,
                **new_ids,
                "slot_id": slot_id,
                **slot_changes.actor_params(slot_changes.HOLDER_ACTOR, "rename"),
            }
            generation = session.scalar(REASSIGN_SLOT, params)
            if generation is None:
                raise AlreadyAdmitted()
            claims.enqueue_ticket_email(slot_id, generation)
        return {**_get_allocator_slot(session, block["id"], slot_id), "slot_id": slot_id}


def reclaim_slot(token: str, network: str, *, slot_id: str) -> dict[str, Any]:
    """Ends a place that was handed out; it is free again, as a new one. Twice changes nothing more.

    Raises NotFound, Throttled, LinkExpired, AlreadyAdmitted.
    """
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = _lock_allocator_block(session, resolved_token)
        slot = _get_allocator_slot(session, block["id"], slot_id)
        end_locked_slot(session, block, slot, actor=slot_changes.HOLDER_ACTOR, verb="take_back", to_public=False)
        return {**_get_allocator_slot(session, block["id"], slot_id), "slot_id": slot_id}


def _lock_allocator_block(session: Session, resolved_token: ResolvedToken) -> RowMapping:
    """The block behind the holder's link, locked. Raises NotFound, LinkExpired."""
    block = slot_changes.lock_block_by_id(session, block_id=resolved_token.id)
    link_tokens.check_block_link(block, resolved_token)
    return block


def _get_allocator_slot(session: Session, block_id: str, slot_id: str) -> RowMapping:
    """A place that was handed out by this link: others' guests are not the holder's to move."""
    conditions = (AllocationSlot.block_id == block_id, AllocationSlot.via == states.ALLOCATOR)
    row = session.execute(select(*SLOT_COLUMNS).where(AllocationSlot.id == slot_id, *conditions)).mappings().first()
    if row is None:
        raise NotFound()
    return row
