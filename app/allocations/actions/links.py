"""The links of a block: the holder's, and the one for anybody. The same call gives the same link again."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import books, claiming, shown
from app.allocations.models import AllocationBlock
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.transaction import transaction
from app.events.times import instant


def change_allocator_link(
    caller: Caller, event_id: str, block_id: str, *, rotate: bool = False, revoke: bool = False
) -> dict[str, Any]:
    """The holder's link; `rotate` puts a new one in its place, `revoke` ends it.

    Raises NotFound, EventClosed, ReleaseTimePassed.
    """
    with transaction() as session:
        block = dict(books.locked(session, caller, event_id, block_id))
        _set(session, block, _turned(block, "allocator", rotate=rotate, revoke=revoke))
    return shown.allocator_link(block)


def change_open_link(
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
        block = dict(books.locked(session, caller, event_id, block_id))
        values = _turned(block, "open", rotate=rotate, revoke=revoke)
        if "open_generation" in values:
            values |= {"open_claims": 0, **({"open_expires_at": None} if block["open_expired"] else {})}
        values |= {f"open_{name}": value for name, value in limits.items() if value is not None}
        if expires_at is not None:
            values["open_expires_at"] = _until(expires_at, block["timezone"])
        _check({**block, **values})
        _set(session, block, values)
    return shown.open_link(block)


def _turned(block: dict[str, Any], kind: str, *, rotate: bool, revoke: bool) -> dict[str, Any]:
    live, generation = block[f"{kind}_live"], block[f"{kind}_generation"]
    if revoke:
        return {f"{kind}_live": False} if live else {}
    claiming.check_giving(block)
    if live and not rotate:
        return {}
    return {f"{kind}_live": True, f"{kind}_generation": generation + 1}


def _set(session: Session, block: dict[str, Any], values: dict[str, Any]) -> None:
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


def _until(moment: datetime, zone: str) -> datetime:
    found = instant(moment, zone)
    if _is_past(found):
        raise ValidationFailed.of("expiresAt", "in_the_past", "Must be in the future.")
    return found


def _is_past(moment: datetime | None) -> bool:
    return moment is not None and moment <= database_now()


def _check(block: dict[str, Any]) -> None:
    most = block["open_max_claims"]
    if most is not None and most < block["open_claims"]:
        said = f"{block['open_claims']} places have been claimed on this link already; rotate it to count anew."
        raise ValidationFailed.of("maxClaims", "too_small", said)
