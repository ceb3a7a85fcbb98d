"""What the holder of a block does by their allocator link: hand out places, rename guests, take places back."""

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.allocations import sql, states
from app.allocations.actions.claims import Claim, Claimant, claim_free_slots, enqueue_ticket_email
from app.allocations.actions.releases import end_locked_slot
from app.allocations.block_access import HOLDER_ACTOR, lock_block_by_id
from app.allocations.errors import AlreadyAdmitted, AlreadyClaimed, NoSlotsLeft
from app.allocations.link_checks import ResolvedToken, check_block_link, resolve_token
from app.allocations.link_tokens import generate_code
from app.allocations.models import AllocationSlot
from app.core.errors import LinkExpired, NotFound
from app.core.ids import new_id
from app.core.transaction import transaction

SLOT_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.id.label("slot_id"),
    AllocationSlot.status,
    AllocationSlot.name,
    AllocationSlot.email,
    AllocationSlot.phone,
    AllocationSlot.delivery,
    AllocationSlot.code,
    AllocationSlot.generation,
    AllocationSlot.version,
)
AllocatorSlot = RowMapping
"""A slot with SLOT_COLUMNS, as its guest and its holder see it."""


def hand_out_slots(
    token: str,
    network: str,
    *,
    name: str,
    email: str,
    phone: str | None = None,
    delivery: str = states.E_TICKET,
    quantity: int = 1,
    allow_duplicates: bool = False,
) -> Claim:
    """Claim a place for a guest, or a party of several; the tickets go to the guest.

    Raises NotFound, Throttled, LinkExpired, NoSlotsLeft, AlreadyClaimed.
    """
    claimant = Claimant(name, email, phone, delivery, quantity)
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = _lock_allocator_block(session, resolved_token)
        if block["available"] < claimant.quantity:
            raise NoSlotsLeft("No place of the block is free for that.", remaining=block["available"])
        try:
            return claim_free_slots(
                session,
                block,
                claimant,
                via=states.ALLOCATOR,
                actor=HOLDER_ACTOR,
                allow_duplicates=allow_duplicates,
            )
        except AlreadyClaimed:
            message = "This address has a place already; send allowDuplicates to give it another."
            raise AlreadyClaimed(message) from None


def reassign_slot(
    token: str,
    network: str,
    *,
    slot_id: str,
    name: str | None = None,
    email: str | None = None,
    phone: str | None = None,
    delivery: str | None = None,
) -> AllocatorSlot:
    """Give a handed-out place to another guest: the old ticket ends, and a new one is emailed. Fields left out stay.

    The place leaves its party, so the earlier guest cannot enter on it. Raises NotFound, Throttled, LinkExpired,
    AlreadyAdmitted.
    """
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = _lock_allocator_block(session, resolved_token)
        slot = _get_allocator_slot(session, block["id"], slot_id)
        if slot["status"] == states.ADMITTED:
            raise AlreadyAdmitted()
        if slot["status"] != states.CLAIMED:
            raise LinkExpired("This place was taken back; hand out another.")
        guest = {
            "name": name or slot["name"],
            "email": email or slot["email"],
            "phone": phone or slot["phone"],
            "delivery": delivery or slot["delivery"],
        }
        if all(value == slot[column] for column, value in guest.items()):
            return slot
        params = {
            **guest,
            **HOLDER_ACTOR.build_params("rename"),
            "slot_id": slot_id,
            "code": generate_code(),
            "party_id": new_id(),
        }
        generation = session.scalar(sql.REASSIGN_SLOT, params)
        if generation is None:
            raise AlreadyAdmitted()
        enqueue_ticket_email(slot_id, generation)
        return _get_allocator_slot(session, block["id"], slot_id)


def reclaim_slot(token: str, network: str, *, slot_id: str) -> AllocatorSlot:
    """End a place that was handed out; a new free one replaces it. A second call changes nothing.

    Raises NotFound, Throttled, LinkExpired, AlreadyAdmitted.
    """
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = _lock_allocator_block(session, resolved_token)
        slot = _get_allocator_slot(session, block["id"], slot_id)
        end_locked_slot(session, block, slot, actor=HOLDER_ACTOR, verb="take_back", to_public=False)
        return _get_allocator_slot(session, block["id"], slot_id)


def _lock_allocator_block(session: Session, resolved_token: ResolvedToken) -> RowMapping:
    block = lock_block_by_id(session, resolved_token.id)
    check_block_link(block, resolved_token)
    return block


def _get_allocator_slot(session: Session, block_id: str, slot_id: str) -> AllocatorSlot:
    """A place that was handed out by the allocator link; the holder cannot change other guests. Raises NotFound."""
    conditions = (AllocationSlot.block_id == block_id, AllocationSlot.via == states.ALLOCATOR)
    row = session.execute(select(*SLOT_COLUMNS).where(AllocationSlot.id == slot_id, *conditions)).mappings().first()
    if row is None:
        raise NotFound()
    return row
