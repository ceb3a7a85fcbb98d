"""Claim codes: each opens one place, once."""

from typing import TypedDict

from sqlalchemy.exc import IntegrityError

from app.accounts.caller import Caller
from app.allocations import sql
from app.allocations.block_access import BlockRow, build_organiser_actor, lock_block
from app.allocations.errors import InsufficientSlots
from app.allocations.link_checks import check_block_open
from app.allocations.link_tokens import generate_code
from app.core.transaction import transaction

MAX_ATTEMPTS = 3


class ClaimCode(TypedDict):
    slot_id: str
    code: str


def create_claim_codes(caller: Caller, event_id: str, block_id: str, *, count: int | None = None) -> list[ClaimCode]:
    """Give a code to so many free places of a block, or to all of them.

    If a code exists already (one in a million calls), all are generated again. Raises NotFound, EventClosed,
    ReleaseTimePassed, InsufficientSlots.
    """
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return _try_create_codes(caller, event_id, block_id, count)
        except IntegrityError as error:
            if "uq_allocation_slot_code" not in str(error.orig):
                raise
    return _try_create_codes(caller, event_id, block_id, count)


def check_free_slots(block: BlockRow, requested: int) -> None:
    """Raises InsufficientSlots if a locked block has fewer free places."""
    available = block["available"]
    if requested > available:
        message = f"{available} places of the block are free, {requested} were asked for."
        raise InsufficientSlots(message, available=available, requested=requested)


def _try_create_codes(caller: Caller, event_id: str, block_id: str, count: int | None) -> list[ClaimCode]:
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        check_block_open(block)
        check_free_slots(block, 0 if count is None else count)
        code_count = block["available"] if count is None else count
        if not code_count:
            return []
        params = {
            **build_organiser_actor(caller).build_params("code"),
            "block_id": block_id,
            "count": code_count,
            "codes": [generate_code() for _ in range(code_count)],
        }
        rows = session.execute(sql.ASSIGN_CLAIM_CODES, params)
        return [{"slot_id": id, "code": code} for id, code in rows]
