"""Changing how much there is."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.accounts.caller import Caller
from app.core.errors import NotFound
from app.core.transaction import transaction, write_row
from app.events.queries import WRITES
from app.inventory import adjusting, late
from app.inventory.book import MOVEMENT
from app.inventory.columns import BUCKETS, MOST
from app.inventory.errors import InsufficientStock, QuantityTooLarge, StaleStock
from app.inventory.shown import movement_id


def adjust(
    *,
    caller: Caller,
    event_id: str,
    item_id: str,
    delta: Decimal | None = None,
    counted: Decimal | None = None,
    bucket: str = "onHand",
    reason: str | None = None,
    note: str | None = None,
    reference: str | None = None,
    occurred_at: datetime | None = None,
    expected_on_hand: Decimal | None = None,
) -> dict[str, Any]:
    """The item after one bucket moved by `delta`, or to what was counted, with its movement.

    What happened before a later count changes what that count found missing, and not what there is now. Raises
    NotFound, InsufficientStock, QuantityTooLarge, StaleStock, ValidationFailed.
    """
    asked = {
        "item": item_id,
        "event": event_id,
        "caller": caller.id,
        "all": caller.has_tier(WRITES),
        "delta": delta,
        "counted": counted,
        "reason": reason or ("count" if counted is not None else "correction"),
        "note": note,
        "reference": reference,
        "expected": expected_on_hand,
        "occurred_at": None,
        "bucket": bucket,
    }
    if occurred_at is None:
        return _answered(write_row(adjusting.statement(bucket), asked), asked)
    with transaction() as session:
        row = late.book(session, bucket, asked, occurred_at)
        return _answered(row, asked)


def _answered(row: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    if row is None:
        raise NotFound()
    found = dict(zip(adjusting.COLUMNS, row, strict=True))
    if found["done"]:
        movement = {item: found[f"movement_{item}"] for item in MOVEMENT}
        return {**found, "movement": {**movement, "id": movement_id(movement["seq"])}}
    if asked["expected"] not in (None, found["on_hand"]):
        raise StaleStock(on_hand=found["on_hand"])
    quantities = {name: found[name] for name in ("on_hand", "reserved", "damaged", "available")}
    if asked["bucket"] == "onHand" and (asked["delta"] or 0) > MOST - found[BUCKETS["onHand"]]:
        raise QuantityTooLarge(**quantities)
    raise InsufficientStock(**quantities)
