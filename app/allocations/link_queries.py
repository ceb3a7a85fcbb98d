"""What the bearer of a link is told: the event, for whom the place is, and what they can do. Nothing of others."""

from typing import Any

from sqlalchemy import Select, select

from app.allocations import link_tokens, queries, serializers, slot_changes, states
from app.allocations.errors import NoSlotsLeft
from app.allocations.link_tokens import ResolvedToken, resolve_token
from app.allocations.models import AllocationBlock, AllocationSlot
from app.core.db import db
from app.core.errors import NotFound

EVENT_FIELDS = (
    "event_name",
    "venue",
    "city",
    "starts_at",
    "ends_at",
    "timezone",
    "organiser_name",
    "contact_email",
    "ticket_type_name",
    "holder_organisation",
    "release_at",
)


def get_claim_offer(token: str, network: str) -> dict[str, Any]:
    """What a claim link, a code or an open link offers. Raises NotFound, Throttled, LinkExpired, LinkUsed,
    NoSlotsLeft."""
    resolved_token = resolve_token(token, network, "claim", "open")
    return _get_open_link_offer(resolved_token) if resolved_token.purpose == "open" else _get_slot_offer(resolved_token)


def get_allocator_block(token: str, network: str) -> dict[str, Any]:
    """The block behind the holder's link. Raises NotFound, Throttled, LinkExpired."""
    resolved_token = resolve_token(token, network, "allocator")
    block = _get_block(AllocationBlock.id == resolved_token.id)
    link_tokens.check_block_link(block, resolved_token)
    slot_counts = {name: block[name] for name in states.ACTIVE_SLOT_STATES}
    return {
        **_serialize_event(block),
        "id": block["id"],
        "name": block["name"],
        "quantity": block["held"],
        **slot_counts,
    }


def list_allocator_slots_query(block_id: str) -> Select[Any]:
    """The places that the holder has handed out, for paging."""
    return queries.list_slots_query(block_id, handed_out=True).where(
        AllocationSlot.via == states.ALLOCATOR, AllocationSlot.ended_at.is_(None)
    )


def _get_slot_offer(resolved_token: ResolvedToken) -> dict[str, Any]:
    slot = (
        db.session.execute(select(*link_tokens.CLAIM_SLOT_COLUMNS).where(AllocationSlot.id == resolved_token.id))
        .mappings()
        .one()
    )
    link_error = link_tokens.find_link_error(slot, resolved_token)
    if link_error is not None:
        raise link_error
    block = _get_block(AllocationBlock.id == slot["block_id"])
    link_tokens.check_block_claimable(block)
    guest_fields = {name: slot[name] for name in ("name", "email", "phone", "via")}
    return {**_serialize_event(block), **guest_fields, "status": slot["status"], "remaining": 1, "max_per_claim": 1}


def _get_open_link_offer(resolved_token: ResolvedToken) -> dict[str, Any]:
    block = _get_block(AllocationBlock.id == resolved_token.id)
    link_tokens.check_block_link(block, resolved_token)
    remaining = serializers.count_open_link_slots(block)
    if remaining <= 0:
        raise NoSlotsLeft(remaining=0)
    max_per_claim = min(block["open_max_per_claim"], remaining)
    return {
        **_serialize_event(block),
        "via": states.OPEN_LINK,
        "status": states.AVAILABLE,
        "remaining": remaining,
        "max_per_claim": max_per_claim,
        "expires_at": block["open_expires_at"],
    }


def _get_block(condition: Any) -> Any:
    row = db.session.execute(slot_changes.blocks_query().where(condition)).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _serialize_event(block: Any) -> dict[str, Any]:
    return {name: block[name] for name in EVENT_FIELDS}
