"""What the holder of a link sees: the event, the place, and their own slots; no data of other people."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, cast

from sqlalchemy import ColumnElement, RowMapping, func, select

from app.allocations import links, slot_queries, states
from app.allocations.errors import NoSlotsLeft
from app.allocations.links import ResolvedToken, decode_token, parse_code, resolve_token
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.queries import BlockRow, find_block
from app.allocations.slot_queries import SlotsQuery
from app.core.db import db
from app.core.errors import NotFound
from app.events.event_rows import belongs_to

PAGE_SIZE = 50
BY_HOLDER_COUNT = (
    select(func.count())
    .where(
        belongs_to(AllocationSlot.block_id, AllocationBlock),
        AllocationSlot.via == states.ALLOCATOR,
        AllocationSlot.ended_at.is_(None),
    )
    .correlate(AllocationBlock)
    .scalar_subquery()
    .label("by_holder")
)


class EventOffer(TypedDict):
    """The event of a link, and who keeps the place."""

    event_name: str
    venue: str
    city: str
    starts_at: datetime
    ends_at: datetime
    timezone: str
    organiser_id: str
    organiser_name: str
    contact_email: str
    ticket_type_name: str
    valid_from: datetime | None
    valid_until: datetime | None
    holder_organisation: str | None
    release_at: datetime | None


class OfferOptions(TypedDict, total=False):
    """What only a claim link or code has (the guest), or only an open link (its end)."""

    name: str | None
    email: str | None
    phone: str | None
    expires_at: datetime | None


class ClaimOffer(EventOffer, OfferOptions):
    """What a claim link, a code or an open link gives: `remaining` places, `max_per_claim` of them at a time."""

    status: str
    via: str | None
    remaining: int
    max_per_claim: int


class AllocatorBlock(EventOffer):
    """A block as its allocator link shows it. `quantity` is how many places it holds now.

    `handed_out_by_organiser` is how many of them the holder has not handed out: the organiser did, or their links and codes.
    """

    id: str
    name: str | None
    quantity: int
    available: int
    invited: int
    claimed: int
    admitted: int
    handed_out_by_organiser: int


@dataclass(frozen=True)
class LinkContact:
    """What even an expired link shows: the event's name, and whom to write to."""

    organiser_id: str
    event: str
    organiser: str
    contact: str


@dataclass(frozen=True)
class AllocatorSlotPage:
    """A page of the places that a holder has given out; the next page starts after the slot `after`."""

    rows: Sequence[RowMapping]
    after: str | None


def get_claim_offer(token: str, network: str) -> ClaimOffer:
    """Return the offer of a claim link, a code or an open link.

    Raises NotFound, Throttled, LinkExpired, LinkUsed, NoSlotsLeft.
    """
    resolved_token = resolve_token(token, network, "claim", "open")
    return _get_open_link_offer(resolved_token) if resolved_token.purpose == "open" else _get_slot_offer(resolved_token)


def get_allocator_block(token: str, network: str) -> AllocatorBlock:
    """Return the block of an allocator link. Raises NotFound, Throttled, LinkExpired."""
    resolved_token = resolve_token(token, network, "allocator")
    block = _get_block(resolved_token.id, BY_HOLDER_COUNT)
    links.check_block_link(block, resolved_token)
    return {
        **_build_event_offer(block),
        "id": block["id"],
        "name": block["name"],
        "quantity": block["held"],
        "available": block["available"],
        "invited": block["invited"],
        "claimed": block["claimed"],
        "admitted": block["admitted"],
        "handed_out_by_organiser": block["held"] - block["available"] - block["by_holder"],
    }


def list_allocator_slots_query(block_id: str) -> SlotsQuery:
    """Select the places that the holder has handed out."""
    return slot_queries.list_slots_query(block_id, handed_out=True).where(
        AllocationSlot.via == states.ALLOCATOR, AllocationSlot.ended_at.is_(None)
    )


def load_allocator_slot_page(block_id: str, after: str = "") -> AllocatorSlotPage:
    """Return the next fifty places that the holder has handed out."""
    statement = list_allocator_slots_query(block_id).where(AllocationSlot.id > after).order_by(AllocationSlot.id)
    rows = db.session.execute(statement.limit(PAGE_SIZE + 1)).mappings().all()
    return AllocatorSlotPage(rows[:PAGE_SIZE], rows[PAGE_SIZE - 1]["id"] if len(rows) > PAGE_SIZE else None)


def find_allocator_slot(block_id: str, slot_id: str) -> RowMapping | None:
    """Return one place that the holder has handed out."""
    return (
        db.session.execute(list_allocator_slots_query(block_id).where(AllocationSlot.id == slot_id)).mappings().first()
    )


def find_link_contact(token: str) -> LinkContact | None:
    """Return the contact for a token or code that was issued, valid or expired; None for any other."""
    link, code = decode_token(token), parse_code(token)
    if link is not None and link.purpose in ("open", "allocator"):
        condition = AllocationBlock.id == link.id
    elif link is not None or code is not None:
        slot_condition = AllocationSlot.id == link.id if link is not None else links.has_code(str(code))
        condition = AllocationBlock.id == select(AllocationSlot.block_id).where(slot_condition).scalar_subquery()
    else:
        return None
    block = find_block(condition)
    if block is None:
        return None
    return LinkContact(block["sender_id"], block["event_name"], block["organiser_name"], block["contact_email"])


def _get_slot_offer(resolved_token: ResolvedToken) -> ClaimOffer:
    slot = links.load_linked_slot(db.session(), resolved_token.id)
    link_error = links.find_link_error(slot, resolved_token)
    if link_error is not None:
        raise link_error
    block = _get_block(slot.block_id)
    links.check_block_claimable(block)
    offer = {
        **_build_event_offer(block),
        "name": slot.name,
        "email": slot.email,
        "phone": slot.phone,
        "via": slot.via,
        "status": slot.status,
        "remaining": 1,
        "max_per_claim": 1,
    }
    return cast(ClaimOffer, offer)


def _get_open_link_offer(resolved_token: ResolvedToken) -> ClaimOffer:
    block = _get_block(resolved_token.id)
    links.check_block_link(block, resolved_token)
    remaining = links.count_open_link_slots(block)
    if remaining <= 0:
        raise NoSlotsLeft(remaining=0)
    offer = {
        **_build_event_offer(block),
        "via": states.OPEN_LINK,
        "status": states.AVAILABLE,
        "remaining": remaining,
        "max_per_claim": min(block["open_max_per_claim"], remaining),
        "expires_at": block["open_expires_at"],
    }
    return cast(ClaimOffer, offer)


def _get_block(block_id: str, *columns: ColumnElement[int]) -> RowMapping:
    block = find_block(AllocationBlock.id == block_id, *columns)
    if block is None:
        raise NotFound()
    return block


def _build_event_offer(block: BlockRow) -> EventOffer:
    return {
        "event_name": block["event_name"],
        "venue": block["venue"],
        "city": block["city"],
        "starts_at": block["starts_at"],
        "ends_at": block["ends_at"],
        "timezone": block["timezone"],
        "organiser_id": block["sender_id"],
        "organiser_name": block["organiser_name"],
        "contact_email": block["contact_email"],
        "ticket_type_name": block["ticket_type_name"],
        "valid_from": block["valid_from"],
        "valid_until": block["valid_until"],
        "holder_organisation": block["holder_organisation"],
        "release_at": block["release_at"],
    }
