"""When a claim, open or allocator link counts, and why one does not."""

from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.allocations import states
from app.allocations.errors import ReleaseTimePassed
from app.allocations.finding import Key
from app.allocations.models import AllocationSlot
from app.core.errors import AppError, LinkExpired, LinkUsed
from app.invitations.errors import EventClosed

CALLED_OFF = "The event has been called off, and its links with it."
EVENT_OVER = "The event is over."
OVER = "The places that were not claimed in time went back to the public; ask who gave you this link."
REPLACED = "This link has ended, or a newer one has replaced it; ask who gave it to you for the present one."
SLOT = (
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


def check_block(block: Any, key: Key) -> None:
    """Whether a block's own link counts. Raises LinkExpired."""
    check_event(block)
    kind = key.purpose
    if not block[f"{kind}_live"] or block[f"{kind}_generation"] != key.generation:
        raise LinkExpired(REPLACED)
    if kind == "open" and block["open_expired"]:
        raise LinkExpired()


def check_event(block: Any) -> None:
    """Whether anything can still be claimed in the block. Raises LinkExpired."""
    for ended, reason in (("called_off", CALLED_OFF), ("event_over", EVENT_OVER), ("over", OVER)):
        if block[ended]:
            raise LinkExpired(reason)


def check_giving(block: Any) -> None:
    """Whether links and codes of the block would still open something, for verbs that give them out.

    Raises EventClosed, ReleaseTimePassed.
    """
    check_event_open(block)
    if block["over"]:
        raise ReleaseTimePassed(releaseAt=block["release_at"])


def check_event_open(block: Any) -> None:
    """Whether the block's event is still to come or under way. Raises EventClosed."""
    if block["called_off"] or block["event_over"]:
        raise EventClosed("The event is over, archived or cancelled; nobody can be given a place any more.")


def slot(session: Session, id: str) -> RowMapping:
    """A slot as it stands now."""
    return session.execute(select(*SLOT).where(AllocationSlot.id == id)).mappings().one()


def death(found: Any, key: Key) -> AppError | None:
    """Why a slot's link or code opens nothing any more; None while it does."""
    if found["status"] in (states.REVOKED, states.RELEASED):
        return LinkExpired(REPLACED)
    if key.generation not in (None, found["generation"]):
        return LinkExpired(REPLACED)
    if found["status"] in (states.CLAIMED, states.ADMITTED):
        return LinkUsed("This place has been claimed with this link or code already.", claimedAt=found["claimed_at"])
    return None if found["status"] == states.INVITED else LinkExpired(REPLACED)
