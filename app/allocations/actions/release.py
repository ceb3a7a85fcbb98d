"""Giving what nobody has claimed back to the public: by hand, or by itself at its time."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import books, queries
from app.allocations.actions.revoke import shrunk
from app.core.db import db
from app.core.transaction import transaction
from app.events.models import TicketType

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
        "SELECT (SELECT public FROM typed) AS public, (SELECT count(*) FROM touched) AS released",
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
    before = db.session.scalars(select(TicketType.public).where(TicketType.id == block["ticket_type_id"])).one()
    return _told(unused if quantity is None else min(quantity, unused), before)


def release(session: Session, block: Any, actor: books.Actor, quantity: int | None = None) -> dict[str, int]:
    """The same for a locked block."""
    unused = block["available"] + block["invited"]
    wanted = unused if quantity is None else min(quantity, unused)
    if not wanted:
        public = session.scalars(select(TicketType.public).where(TicketType.id == block["ticket_type_id"])).one()
        return _told(0, public)
    given = {"block_id": block["id"], "quantity": wanted, **books.acting(actor, "release")}
    row = session.execute(RELEASE, given).one()
    shrunk(session, block)
    return _told(row.released, row.public - row.released)


def _told(released: int, before: int) -> dict[str, int]:
    return {"released": released, "public_available_before": before, "public_available_after": before + released}
