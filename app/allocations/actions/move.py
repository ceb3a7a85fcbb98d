"""Moving free places from one block to another of the same ticket type."""

from typing import Any

from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import books, queries
from app.allocations.actions.codes import check_free
from app.allocations.actions.revoke import shrunk
from app.allocations.errors import BlockMismatch
from app.core.errors import ValidationFailed
from app.core.transaction import transaction

MOVE = books.sql(
    books.noting(
        f"""picked AS (
            SELECT id FROM allocation_slot
             WHERE block_id = :block_id AND given_at IS NULL AND ended_at IS NULL ORDER BY id LIMIT :quantity),
        touched AS (
            UPDATE allocation_slot s SET block_id = :to_block_id, version = s.version + 1
              FROM picked p WHERE s.id = p.id
            RETURNING {books.SLOT}, s.status AS was, s.status AS became, NULL::text AS gate),
        moves AS (
            SELECT CAST(:block_id AS text) AS block_id, 0 AS revoked, 0 AS released, 0 AS invited, 0 AS claimed,
                   0 AS admitted, -count(*) AS available FROM touched
            UNION ALL SELECT :to_block_id, 0, 0, 0, 0, 0, count(*) FROM touched),
        booked AS (
            UPDATE allocation_block b
               SET available = b.available + m.available, quantity = b.quantity + m.available,
                   status = {books.STATUS}, version = b.version + 1, updated_at = now()
              FROM moves m WHERE b.id = m.block_id)""",
        "SELECT count(*) FROM touched",
    )
)


def move_places(
    caller: Caller, event_id: str, block_id: str, *, to_block_id: str, quantity: int
) -> dict[str, dict[str, Any]]:
    """Moves so many free places; both blocks as they are then. The other block's terms hold for them from now on.

    Raises NotFound, ValidationFailed, BlockMismatch, InsufficientSlots.
    """
    if to_block_id == block_id:
        raise ValidationFailed.of("toBlockId", "contradiction", "Must be another block.")
    with transaction() as session:
        blocks = books.locked_two(session, caller, event_id, (block_id, to_block_id))
        source, target = blocks[block_id], blocks[to_block_id]
        if source["ticket_type_id"] != target["ticket_type_id"]:
            raise BlockMismatch()
        check_free(source, quantity)
        _move(session, source, to_block_id, quantity, books.organiser(caller))
    return {
        "from": queries.block(caller, event_id, block_id),
        "to": queries.block(caller, event_id, to_block_id),
    }


def _move(session: Session, source: Any, to_block_id: str, quantity: int, actor: books.Actor) -> None:
    given = {"block_id": source["id"], "to_block_id": to_block_id, "quantity": quantity, **books.acting(actor, "move")}
    session.execute(MOVE, given)
    shrunk(session, source)
