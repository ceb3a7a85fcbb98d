"""Giving what nobody has claimed back to the public: by hand, or by itself at its time."""

from typing import Any

from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import books, queries
from app.allocations.actions.revoke import shrunk
from app.core.transaction import transaction
from app.events.capacity import type_availability

# What is free goes first, then whom nobody has heard of for the longest.
RELEASE = books.sql(
    books.changing(
        f"""picked AS (
            SELECT id, status FROM allocation_slot
             WHERE block_id = :block_id AND status IN ('available', 'invited') AND ended_at IS NULL
             ORDER BY given_at NULLS FIRST, id LIMIT :quantity),
        touched AS (
            UPDATE allocation_slot s SET status = 'released', ended_at = now(), version = s.version + 1,
                   generation = s.generation + 1
              FROM picked p WHERE s.id = p.id
            RETURNING {books.SLOT}, p.status AS was, s.status AS became, NULL::text AS gate)""",
        "SELECT count(*) FROM touched",
    )
)


def release_unused(caller: Caller, event_id: str, block_id: str, *, quantity: int | None = None) -> dict[str, int]:
    """Releases available and invited slots (or so many of them): their links die. Raises NotFound."""
    with transaction() as session:
        block = books.locked(session, caller, event_id, block_id)
        return release(session, block, books.organiser(caller), quantity)


def preview_release(caller: Caller, event_id: str, block_id: str, *, quantity: int | None = None) -> dict[str, int]:
    """What a release would do. Raises NotFound."""
    block = queries.block_row(caller, event_id, block_id)
    unused = block["available"] + block["invited"]
    wanted = unused if quantity is None else min(quantity, unused)
    now = type_availability(block["ticket_type_id"])
    return _told(wanted, now.places(), now.places(more_allocated=-wanted))


def release(session: Session, block: Any, actor: books.Actor, quantity: int | None = None) -> dict[str, int]:
    """The same for a locked block."""
    unused = block["available"] + block["invited"]
    wanted, released = unused if quantity is None else min(quantity, unused), 0
    if wanted:
        given = {"block_id": block["id"], "quantity": wanted, **books.acting(actor, "release")}
        released = session.execute(RELEASE, given).scalar_one()
        shrunk(session, block)
    now = type_availability(block["ticket_type_id"])
    return _told(released, now.places(more_allocated=released), now.places())


def _told(released: int, before: int, after: int) -> dict[str, int]:
    return {"released": released, "public_available_before": before, "public_available_after": after}
