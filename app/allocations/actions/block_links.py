"""The allocator link and the open link of a block. A second call returns the same link."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations.block_access import BlockRow, lock_block
from app.allocations.link_checks import check_block_open
from app.allocations.models import AllocationBlock
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.transaction import transaction
from app.events.time_conversion import to_instant

LinkValues = dict[str, int | bool | datetime | None]


def update_allocator_link(
    caller: Caller, event_id: str, block_id: str, *, rotate: bool = False, revoke: bool = False
) -> BlockRow:
    """Turn on the allocator link, replace it (`rotate`) or end it (`revoke`); return the block.

    Raises NotFound, EventClosed, ReleaseTimePassed.
    """
    with transaction() as session:
        block = dict(lock_block(session, caller, event_id, block_id))
        _update_block(session, block, _build_link_values(block, "allocator", rotate=rotate, revoke=revoke))
    return block


def update_open_link(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    rotate: bool = False,
    revoke: bool = False,
    expires_at: datetime | None = None,
    max_claims: int | None = None,
    max_per_claim: int | None = None,
) -> BlockRow:
    """Turn on the open link with its limits, replace it or end it; return the block. Values left out stay.

    `max_claims` limits the places in all, `max_per_claim` those of one claim. A new link counts its claims from zero.
    Raises NotFound, ValidationFailed, EventClosed, ReleaseTimePassed.
    """
    with transaction() as session:
        block = dict(lock_block(session, caller, event_id, block_id))
        values = _build_link_values(block, "open", rotate=rotate, revoke=revoke)
        if "open_generation" in values:
            values["open_claims"] = 0
            if block["open_expired"]:
                values["open_expires_at"] = None
        if max_claims is not None:
            values["open_max_claims"] = max_claims
        if max_per_claim is not None:
            values["open_max_per_claim"] = max_per_claim
        if expires_at is not None:
            values["open_expires_at"] = _resolve_expires_at(expires_at, block["timezone"])
        _check_max_claims({**block, **values})
        _update_block(session, block, values)
    return block


def _build_link_values(block: BlockRow, purpose: str, *, rotate: bool, revoke: bool) -> LinkValues:
    is_live, generation = block[f"{purpose}_live"], block[f"{purpose}_generation"]
    if revoke:
        return {f"{purpose}_live": False} if is_live else {}
    check_block_open(block)
    if is_live and not rotate:
        return {}
    return {f"{purpose}_live": True, f"{purpose}_generation": generation + 1}


def _update_block(session: Session, block: dict[Any, Any], values: LinkValues) -> None:
    changed_values = {name: value for name, value in values.items() if block[name] != value}
    if not changed_values:
        return
    session.execute(
        update(AllocationBlock)
        .where(AllocationBlock.id == block["id"])
        .values(**changed_values, version=AllocationBlock.version + 1, updated_at=func.now())
        .execution_options(synchronize_session=False)
    )
    block.update(changed_values)
    block["open_expired"] = _is_past(block["open_expires_at"])


def _resolve_expires_at(expires_at: datetime, timezone: str) -> datetime:
    expiry_instant = to_instant(expires_at, timezone)
    if _is_past(expiry_instant):
        raise ValidationFailed.of("expiresAt", "in_the_past", "Must be in the future.")
    return expiry_instant


def _is_past(moment: datetime | None) -> bool:
    return moment is not None and moment <= database_now()


def _check_max_claims(block: BlockRow) -> None:
    max_claims = block["open_max_claims"]
    if max_claims is not None and max_claims < block["open_claims"]:
        message = (
            f"{block['open_claims']} places have been claimed on this link already; rotate it to start again at 0."
        )
        raise ValidationFailed.of("maxClaims", "too_small", message)
