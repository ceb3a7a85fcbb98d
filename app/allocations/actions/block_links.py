"""The links of a block: the holder's, and the one for anybody. The same call gives the same link again."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import link_tokens, serializers, slot_changes
from app.allocations.models import AllocationBlock
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.transaction import transaction
from app.events.time_conversion import to_instant


def update_allocator_link(
    caller: Caller, event_id: str, block_id: str, *, rotate: bool = False, revoke: bool = False
) -> dict[str, Any]:
    """The holder's link; `rotate` puts a new one in its place, `revoke` ends it.

    Raises NotFound, EventClosed, ReleaseTimePassed.
    """
    with transaction() as session:
        block = dict(slot_changes.lock_block(session, caller, event_id, block_id))
        _update_block(session, block, _build_link_values(block, "allocator", rotate=rotate, revoke=revoke))
    return serializers.serialize_allocator_link(block)


def update_open_link(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    rotate: bool = False,
    revoke: bool = False,
    expires_at: datetime | None = None,
    **limits: int | None,
) -> dict[str, Any]:
    """The link for anybody, with how many places it gives out in all and to one; what is not given stays as it is.

    A new link counts from zero. Raises NotFound, ValidationFailed, EventClosed, ReleaseTimePassed.
    """
    with transaction() as session:
        block = dict(slot_changes.lock_block(session, caller, event_id, block_id))
        values = _build_link_values(block, "open", rotate=rotate, revoke=revoke)
        if "open_generation" in values:
            values |= {"open_claims": 0, **({"open_expires_at": None} if block["open_expired"] else {})}
        values |= {f"open_{name}": value for name, value in limits.items() if value is not None}
        if expires_at is not None:
            values["open_expires_at"] = _resolve_expires_at(expires_at, block["timezone"])
        _check_max_claims({**block, **values})
        _update_block(session, block, values)
    return serializers.serialize_open_link(block)


def _build_link_values(block: dict[str, Any], purpose: str, *, rotate: bool, revoke: bool) -> dict[str, Any]:
    is_live, generation = block[f"{purpose}_live"], block[f"{purpose}_generation"]
    if revoke:
        return {f"{purpose}_live": False} if is_live else {}
    link_tokens.check_block_open(block)
    if is_live and not rotate:
        return {}
    return {f"{purpose}_live": True, f"{purpose}_generation": generation + 1}


def _update_block(session: Session, block: dict[str, Any], values: dict[str, Any]) -> None:
    values = {name: value for name, value in values.items() if block[name] != value}
    if not values:
        return
    session.execute(
        update(AllocationBlock)
        .where(AllocationBlock.id == block["id"])
        .values(**values, version=AllocationBlock.version + 1, updated_at=func.now())
        .execution_options(synchronize_session=False)
    )
    block.update(values, open_expired=_is_past(values.get("open_expires_at", block["open_expires_at"])))


def _resolve_expires_at(expires_at: datetime, timezone: str) -> datetime:
    expiry_instant = to_instant(expires_at, timezone)
    if _is_past(expiry_instant):
        raise ValidationFailed.of("expiresAt", "in_the_past", "Must be in the future.")
    return expiry_instant


def _is_past(moment: datetime | None) -> bool:
    return moment is not None and moment <= database_now()


def _check_max_claims(block: dict[str, Any]) -> None:
    max_claims = block["open_max_claims"]
    if max_claims is not None and max_claims < block["open_claims"]:
        message = f"{block['open_claims']} places have been claimed on this link already; rotate it to count anew."
        raise ValidationFailed.of("maxClaims", "too_small", message)
