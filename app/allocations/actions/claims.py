"""Claims: a slot by a claim link or code, or free slots by an open link or by the holder.

Slots that are claimed together are a party: they share `party_id`, and their tickets go out in one email.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypedDict

from sqlalchemy import TextClause
from sqlalchemy.orm import Session

from app.allocations import links, sql, states
from app.allocations.errors import AlreadyClaimed, NoSlotsLeft
from app.allocations.links import ResolvedToken, generate_code, resolve_token
from app.allocations.queries import BlockRow, lock_block_by_id, lock_block_of_slot
from app.allocations.sql import GUEST_ACTOR, Actor
from app.core.db import fetch_rows
from app.core.errors import ValidationFailed
from app.core.languages import find_page_language
from app.core.outbox import enqueue
from app.core.transaction import transaction


@dataclass(frozen=True)
class Claimant:
    """The guest, how their ticket reaches them, how many places they take, and the language of the page they are on."""

    name: str
    email: str
    phone: str | None = None
    delivery: str = states.E_TICKET
    quantity: int = 1
    language: str | None = field(default_factory=find_page_language)


class ClaimedSlot(TypedDict):
    """One place of a claim, with the code of its ticket."""

    slot_id: str
    code: str


class Claim(TypedDict):
    """A claim as its guest sees it. `slot_id` and `code` are those of the first place."""

    slot_id: str
    status: str
    code: str
    name: str
    email: str
    phone: str | None
    delivery: str
    quantity: int
    slots: list[ClaimedSlot]
    claimed_at: datetime
    event_name: str
    ticket_type_name: str
    ticket_url: str


class _TakenSlot(NamedTuple):
    """What the statements that claim return of each slot."""

    id: str
    code: str
    claimed_at: datetime
    generation: int


class _SlotMoved(Exception):
    """The slot moved to another block while the claim waited for the lock of the first one."""


def claim_slot(
    token: str,
    network: str,
    *,
    name: str,
    email: str,
    phone: str | None = None,
    delivery: str = states.E_TICKET,
    quantity: int = 1,
) -> Claim:
    """Claim the place of a claim link or a code, or places of an open link, and enqueue the ticket email.

    Concurrent claims of the last places succeed as often as there are places. Raises NotFound, Throttled, LinkExpired,
    LinkUsed, NoSlotsLeft, AlreadyClaimed, ValidationFailed.
    """
    claimant = Claimant(name, email, phone, delivery, quantity)
    resolved_token = resolve_token(token, network, "claim", "open")
    while True:
        try:
            with transaction() as session:
                if resolved_token.purpose == "open":
                    return _claim_by_open_link(resolved_token, claimant)
                return _claim_invited_slot(session, resolved_token, claimant)
        except _SlotMoved:
            continue


def claim_free_slots(
    block: BlockRow,
    claimant: Claimant,
    *,
    via: str,
    actor: Actor,
    allow_duplicates: bool = False,
) -> Claim:
    """Claim free slots of a locked block, of which the caller has checked that there are enough.

    Raises AlreadyClaimed if the address has a slot by the same kind of link, unless `allow_duplicates`.
    """
    params = {
        **vars(claimant),
        **actor.build_params("claim", open_link_claims=claimant.quantity if via == states.OPEN_LINK else 0),
        "block_id": block["id"],
        "event_id": block["event_id"],
        "via": via,
        "allow_duplicates": allow_duplicates,
        "codes": [generate_code() for _ in range(claimant.quantity)],
    }
    slots = _fetch_slots(sql.CLAIM_FREE_SLOTS, params)
    if not slots:
        raise AlreadyClaimed()
    enqueue_ticket_email(slots[0].id, slots[0].generation, slots=len(slots))
    return _build_claim(block, claimant, slots)


def enqueue_ticket_email(slot_id: str, generation: int, *, slots: int = 1) -> None:
    """Enqueue the email with the tickets, or the confirmation for will-call, of a claim of so many slots."""
    enqueue("allocations.ticket", slot_id=slot_id, generation=generation, slots=slots)


def _claim_invited_slot(session: Session, resolved_token: ResolvedToken, claimant: Claimant) -> Claim:
    if claimant.quantity != 1:
        raise ValidationFailed.of("quantity", "too_large", "This link is for one place.")
    block = lock_block_of_slot(resolved_token.id)
    links.check_block_claimable(block)
    params = {
        **vars(claimant),
        **GUEST_ACTOR.build_params("claim"),
        "slot_id": resolved_token.id,
        "block_id": block["id"],
        "event_id": block["event_id"],
        "generation": resolved_token.generation,
        "code": generate_code(),
    }
    slots = _fetch_slots(sql.CLAIM_INVITED_SLOT, params)
    if not slots:
        slot = links.load_linked_slot(session, resolved_token.id)
        if slot.block_id != block["id"]:
            raise _SlotMoved()
        raise links.find_link_error(slot, resolved_token) or NoSlotsLeft()
    enqueue_ticket_email(resolved_token.id, slots[0].generation)
    return _build_claim(block, claimant, slots)


def _claim_by_open_link(resolved_token: ResolvedToken, claimant: Claimant) -> Claim:
    block = lock_block_by_id(resolved_token.id)
    links.check_block_link(block, resolved_token)
    max_per_claim = block["open_max_per_claim"]
    if claimant.quantity > max_per_claim:
        raise ValidationFailed.of("quantity", "too_large", f"This link gives {max_per_claim} at a time.")
    remaining = links.count_open_link_slots(block)
    if remaining < claimant.quantity:
        raise NoSlotsLeft(remaining=remaining)
    return claim_free_slots(block, claimant, via=states.OPEN_LINK, actor=GUEST_ACTOR)


def _fetch_slots(statement: TextClause, params: Mapping[str, object]) -> list[_TakenSlot]:
    return [_TakenSlot(*row) for row in fetch_rows(statement, params)]


def _build_claim(block: BlockRow, claimant: Claimant, slots: Sequence[_TakenSlot]) -> Claim:
    return {
        "slot_id": slots[0].id,
        "status": states.CLAIMED,
        "code": slots[0].code,
        "name": claimant.name,
        "email": claimant.email,
        "phone": claimant.phone,
        "delivery": claimant.delivery,
        "quantity": len(slots),
        "slots": [{"slot_id": slot.id, "code": slot.code} for slot in slots],
        "claimed_at": slots[0].claimed_at,
        "event_name": block["event_name"],
        "ticket_type_name": block["ticket_type_name"],
        "ticket_url": links.build_link_url("ticket", slots[0].id, slots[0].generation),
    }
