"""Which slot or block a token or claim code opens, and whether the link is still valid.

A signed token proves itself. A code, or a token with a wrong signature, may be a guess: a client network has 20 failed
lookups in a minute; after that its codes are refused, also correct ones.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Row, or_, select
from sqlalchemy.orm import Session

from app.allocations import states
from app.allocations.block_access import BlockRow
from app.allocations.errors import ReleaseTimePassed
from app.allocations.link_tokens import Purpose, decode_token, parse_code
from app.allocations.models import AllocationSlot
from app.core import throttle
from app.core.db import db
from app.core.errors import AppError, LinkExpired, LinkUsed, NotFound, Throttled
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.invitations.errors import EventClosed

FAILED_LOOKUP_LIMIT = Rule("allocation-links", 20, timedelta(minutes=1))
UNKNOWN_TOKEN_MESSAGE = "This link or code is not valid; copy the whole of it from the message you got."
TOO_MANY_FAILURES_MESSAGE = "Too many wrong links or codes came from this network; wait for the seconds in Retry-After."
EVENT_CANCELLED_MESSAGE = "The event has been cancelled, so its links no longer work."
EVENT_OVER_MESSAGE = "The event is over."
RELEASE_TIME_PASSED_MESSAGE = (
    "Places that were not claimed in time went back on sale; ask the person who gave you this link."
)
LINK_REPLACED_MESSAGE = (
    "This link has ended, or a newer link has replaced it; ask the person who gave it to you for a new one."
)
SlotColumns = tuple[str, str, str, int, str | None, str | None, str | None, str | None, datetime | None]


@dataclass(frozen=True)
class ResolvedToken:
    """A slot's link or claim code (`claim`), or a link of a block. `generation` is None for a code."""

    purpose: Purpose
    id: str
    generation: int | None


def resolve_token(token: str, network: str, *purposes: Purpose) -> ResolvedToken:
    """Return the slot or block that a token or claim code opens. Raises NotFound, Throttled."""
    link = decode_token(token)
    if link is not None and link.purpose in purposes:
        return ResolvedToken(link.purpose, link.id, link.generation)
    _check_failed_lookups(network)
    code = parse_code(token) if "claim" in purposes else None
    slot_id = code and db.session.scalar(select(AllocationSlot.id).where(has_code(code)))
    if not slot_id:
        count_failed_lookup(network)
        raise NotFound(UNKNOWN_TOKEN_MESSAGE)
    return ResolvedToken("claim", slot_id, None)


def has_code(code: str) -> ColumnElement[bool]:
    """The condition that this is the ticket code of a slot, or the code it was claimed with."""
    return or_(AllocationSlot.code == code, AllocationSlot.claim_code == code)


def count_failed_lookup(network: str) -> None:
    """Count a wrong token or code. Raises Throttled if concurrent requests have used up the limit."""
    with transaction() as session:
        limit_statuses = throttle.hit_all(session, *throttle.by_network(FAILED_LOOKUP_LIMIT, network))
    _raise_throttled([limit_status.seconds for limit_status in limit_statuses if limit_status.exceeded])


def _check_failed_lookups(network: str) -> None:
    limit_statuses = throttle.get_status(*throttle.by_network(FAILED_LOOKUP_LIMIT, network))
    _raise_throttled([limit_status.seconds for limit_status in limit_statuses if limit_status.spent])


def _raise_throttled(retry_seconds: list[int]) -> None:
    if retry_seconds:
        raise Throttled(TOO_MANY_FAILURES_MESSAGE, retry_after=max(retry_seconds))


def check_block_link(block: BlockRow, resolved_token: ResolvedToken) -> None:
    """Raises LinkExpired unless the open or allocator link of a block is valid."""
    check_block_claimable(block)
    purpose = resolved_token.purpose
    if not block[f"{purpose}_live"] or block[f"{purpose}_generation"] != resolved_token.generation:
        raise LinkExpired(LINK_REPLACED_MESSAGE)
    if purpose == "open" and block["open_expired"]:
        raise LinkExpired()


def check_block_claimable(block: BlockRow) -> None:
    """Raises LinkExpired if all links of a block have ended."""
    for column, message in (
        ("event_cancelled", EVENT_CANCELLED_MESSAGE),
        ("event_over", EVENT_OVER_MESSAGE),
        ("release_time_passed", RELEASE_TIME_PASSED_MESSAGE),
    ):
        if block[column]:
            raise LinkExpired(message)


def check_block_open(block: BlockRow) -> None:
    """Raises EventClosed or ReleaseTimePassed if new links or codes of a block would open nothing."""
    check_event_open(block)
    if block["release_time_passed"]:
        raise ReleaseTimePassed(releaseAt=block["release_at"])


def check_event_open(block: BlockRow) -> None:
    """Raises EventClosed if the event of a block is over, archived or cancelled."""
    if block["event_cancelled"] or block["event_over"]:
        raise EventClosed("The event is over, archived or cancelled, so its places can no longer be given out.")


def count_open_link_slots(block: BlockRow) -> int:
    """Return how many places the open link of a block can still give out."""
    available: int = block["available"]
    max_claims: int | None = block["open_max_claims"]
    return available if max_claims is None else min(available, max_claims - block["open_claims"])


def load_linked_slot(session: Session, id: str) -> Row[*SlotColumns]:
    """Return the slot that a claim link or code opens, as it is now."""
    columns = (
        AllocationSlot.id,
        AllocationSlot.block_id,
        AllocationSlot.status,
        AllocationSlot.generation,
        AllocationSlot.name,
        AllocationSlot.email,
        AllocationSlot.phone,
        AllocationSlot.via,
        AllocationSlot.claimed_at,
    )
    return session.execute(select(*columns).where(AllocationSlot.id == id)).one()


def find_link_error(slot: Row[*SlotColumns], resolved_token: ResolvedToken) -> AppError | None:
    """Return why the link or code of a slot opens nothing any more; None while it is valid."""
    if slot.status in (states.REVOKED, states.RELEASED):
        return LinkExpired(LINK_REPLACED_MESSAGE)
    if resolved_token.generation not in (None, slot.generation):
        return LinkExpired(LINK_REPLACED_MESSAGE)
    if slot.status in (states.CLAIMED, states.ADMITTED):
        return LinkUsed("This place has been claimed with this link or code already.", claimedAt=slot.claimed_at)
    return None if slot.status == states.INVITED else LinkExpired(LINK_REPLACED_MESSAGE)
