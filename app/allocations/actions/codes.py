"""Claim codes: each opens one place, once."""

from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import books, claiming, links
from app.allocations.errors import InsufficientSlots
from app.core.transaction import transaction

TRIES = 3
GIVE = books.sql(
    books.changing(
        f"""picked AS (
            SELECT id, row_number() OVER (ORDER BY id) AS number FROM allocation_slot
             WHERE block_id = :block_id AND given_at IS NULL AND ended_at IS NULL ORDER BY id LIMIT :count),
        touched AS (
            UPDATE allocation_slot s
               SET status = 'invited', via = 'code', code = c.code, given_at = now(), version = s.version + 1
              FROM picked p JOIN unnest(CAST(:codes AS text[])) WITH ORDINALITY c (code, number) USING (number)
             WHERE s.id = p.id
            RETURNING {books.SLOT}, 'available' AS was, s.status AS became, NULL::text AS gate, s.code)""",
        "SELECT id, code FROM touched ORDER BY id",
    )
)


def make_codes(caller: Caller, event_id: str, block_id: str, *, count: int | None = None) -> list[dict[str, str]]:
    """Gives a code to so many free places of a block, or to all of them: `slot_id` and `code` of each.

    A code that somebody has already (one in a million calls) is made again. Raises NotFound, EventClosed,
    ReleaseTimePassed, InsufficientSlots.
    """
    for _ in range(TRIES - 1):
        try:
            return _made(caller, event_id, block_id, count)
        except IntegrityError as error:
            if "uq_allocation_slot_code" not in str(error.orig):
                raise
    return _made(caller, event_id, block_id, count)


def _made(caller: Caller, event_id: str, block_id: str, count: int | None) -> list[dict[str, str]]:
    with transaction() as session:
        block = books.locked(session, caller, event_id, block_id)
        claiming.check_giving(block)
        check_free(block, 0 if count is None else count)
        wanted = block["available"] if count is None else count
        return _given(session, block_id, wanted, books.organiser(caller)) if wanted else []


def check_free(block: Any, wanted: int) -> None:
    """Raises InsufficientSlots when a locked block has fewer free places."""
    free = block["available"]
    if wanted > free:
        said = f"{free} places of the block are free, {wanted} were asked for."
        raise InsufficientSlots(said, available=free, requested=wanted)


def _given(session: Session, block_id: str, count: int, actor: books.Actor) -> list[dict[str, str]]:
    codes = [links.new_code() for _ in range(count)]
    given = {"block_id": block_id, "count": count, "codes": codes, **books.acting(actor, "code")}
    return [{"slot_id": id, "code": code} for id, code in session.execute(GIVE, given)]
