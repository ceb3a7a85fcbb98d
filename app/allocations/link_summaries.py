"""The links of a block as its organiser sees them: their URLs, whether they work, and how many places they give out."""

from datetime import datetime
from typing import NotRequired, TypedDict

from app.allocations import links
from app.allocations.links import count_open_link_slots
from app.allocations.queries import BlockRow

ACTIVE, EXPIRED, USED_UP, REVOKED, NONE = LINK_STATES = ("active", "expired", "used_up", "revoked", "none")


class LinkSummary(TypedDict):
    """A link of a block. `url` is None if there is none, or it has ended; only the open link has limits."""

    url: str | None
    status: str
    remaining: int
    expires_at: NotRequired[datetime | None]
    max_claims: NotRequired[int | None]
    max_per_claim: NotRequired[int]
    claims: NotRequired[int]


def describe_allocator_link(block: BlockRow) -> LinkSummary:
    """Return the link by which the holder hands out slots."""
    if not block["allocator_live"]:
        return _describe_missing_link(block["allocator_generation"])
    return {
        "url": links.build_link_url("allocator", block["id"], block["allocator_generation"]),
        "status": EXPIRED if _is_block_ended(block) else ACTIVE,
        "remaining": block["available"],
    }


def describe_open_link(block: BlockRow) -> LinkSummary:
    """Return the link by which anybody who has it claims a place."""
    if not block["open_live"]:
        return _describe_missing_link(block["open_generation"])
    remaining = count_open_link_slots(block)
    is_expired = block["open_expired"] or _is_block_ended(block)
    return {
        "url": links.build_link_url("open", block["id"], block["open_generation"]),
        "status": EXPIRED if is_expired else ACTIVE if remaining else USED_UP,
        "remaining": remaining,
        "expires_at": block["open_expires_at"],
        "max_claims": block["open_max_claims"],
        "max_per_claim": block["open_max_per_claim"],
        "claims": block["open_claims"],
    }


def _describe_missing_link(generation: int) -> LinkSummary:
    return {"url": None, "status": REVOKED if generation else NONE, "remaining": 0}


def _is_block_ended(block: BlockRow) -> bool:
    return bool(block["event_cancelled"] or block["event_over"] or block["release_time_passed"])
