"""What the bearer of a link is told: the event, for whom the place is, and what he can do. Nothing of others."""

from typing import Any

from sqlalchemy import Select, select

from app.allocations import books, claiming, queries, shown, states
from app.allocations.errors import NoSlotsLeft
from app.allocations.finding import Key, found
from app.allocations.models import AllocationBlock, AllocationSlot
from app.core.db import db
from app.core.errors import NotFound

EVENT = (
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


def claim(token: str, network: str) -> dict[str, Any]:
    """What a claim link, a code or an open link offers. Raises NotFound, Throttled, LinkExpired, LinkUsed,
    NoSlotsLeft."""
    key = found(token, network, "claim", "open")
    return _open(key) if key.purpose == "open" else _own(key)


def allocator(token: str, network: str) -> dict[str, Any]:
    """The block behind the holder's link. Raises NotFound, Throttled, LinkExpired."""
    key = found(token, network, "allocator")
    block = _block(AllocationBlock.id == key.id)
    claiming.check_block(block, key)
    counts = {name: block[name] for name in states.LIVING}
    return {**_about(block), "id": block["id"], "name": block["name"], "quantity": block["held"], **counts}


def handed_out(block_id: str) -> Select[Any]:
    """The places that the holder has handed out, for paging."""
    return queries.slots(block_id, handed_out=True).where(
        AllocationSlot.via == states.ALLOCATOR, AllocationSlot.ended_at.is_(None)
    )


def _own(key: Key) -> dict[str, Any]:
    slot = db.session.execute(select(*claiming.SLOT).where(AllocationSlot.id == key.id)).mappings().one()
    dead = claiming.death(slot, key)
    if dead is not None:
        raise dead
    block = _block(AllocationBlock.id == slot["block_id"])
    claiming.check_event(block)
    mine = {name: slot[name] for name in ("name", "email", "phone", "via")}
    return {**_about(block), **mine, "status": slot["status"], "remaining": 1, "max_per_claim": 1}


def _open(key: Key) -> dict[str, Any]:
    block = _block(AllocationBlock.id == key.id)
    claiming.check_block(block, key)
    left = shown.remaining(block)
    if left <= 0:
        raise NoSlotsLeft(remaining=0)
    most = min(block["open_max_per_claim"], left)
    return {
        **_about(block),
        "via": states.OPEN_LINK,
        "status": states.AVAILABLE,
        "remaining": left,
        "max_per_claim": most,
        "expires_at": block["open_expires_at"],
    }


def _block(condition: Any) -> Any:
    row = db.session.execute(books.joined().where(condition)).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _about(block: Any) -> dict[str, Any]:
    return {name: block[name] for name in EVENT}
