"""Claim codes: each opens one place, once."""

from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import link_tokens, slot_changes
from app.allocations.errors import InsufficientSlots
from app.core.transaction import transaction

MAX_ATTEMPTS = 3
ASSIGN_CODES = slot_changes.build_statement(
    slot_changes.slot_change_sql(
        f"""picked AS (
            SELECT id, row_number() OVER (ORDER BY id) AS number FROM allocation_slot
             WHERE block_id = :block_id AND given_at IS NULL AND ended_at IS NULL ORDER BY id LIMIT :count),
        touched AS (
            UPDATE allocation_slot s
               SET status = 'invited', via = 'code', code = c.code, given_at = now(), version = s.version + 1
              FROM picked p JOIN unnest(CAST(:codes AS text[])) WITH ORDINALITY c (code, number) USING (number)
             WHERE s.id = p.id
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, 'available' AS was, s.status AS became, NULL::text AS gate,
                   s.code)""",
        "SELECT id, code FROM touched ORDER BY id",
    )
)


def create_claim_codes(
    caller: Caller, event_id: str, block_id: str, *, count: int | None = None
) -> list[dict[str, str]]:
    """Gives a code to so many free places of a block, or to all of them: `slot_id` and `code` of each.

    A code that somebody has already (one in a million calls) is made again. Raises NotFound, EventClosed,
    ReleaseTimePassed, InsufficientSlots.
    """
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return _try_create_codes(caller, event_id, block_id, count)
        except IntegrityError as error:
            if "uq_allocation_slot_code" not in str(error.orig):
                raise
    return _try_create_codes(caller, event_id, block_id, count)


def _try_create_codes(caller: Caller, event_id: str, block_id: str, count: int | None) -> list[dict[str, str]]:
    with transaction() as session:
        block = slot_changes.lock_block(session, caller, event_id, block_id)
        link_tokens.check_block_open(block)
        check_free_slots(block, 0 if count is None else count)
        code_count = block["available"] if count is None else count
        return (
            _assign_codes(session, block_id, code_count, slot_changes.build_organiser_actor(caller))
            if code_count
            else []
        )


def check_free_slots(block: Any, requested: int) -> None:
    """Raises InsufficientSlots when a locked block has fewer free places."""
    available = block["available"]
    if requested > available:
        message = f"{available} places of the block are free, {requested} were asked for."
        raise InsufficientSlots(message, available=available, requested=requested)


def _assign_codes(session: Session, block_id: str, count: int, actor: slot_changes.Actor) -> list[dict[str, str]]:
    codes = [link_tokens.generate_code() for _ in range(count)]
    params = {"block_id": block_id, "count": count, "codes": codes, **slot_changes.actor_params(actor, "code")}
    return [{"slot_id": id, "code": code} for id, code in session.execute(ASSIGN_CODES, params)]
