"""How rows of the stock go out: by hand, because a schema would take most of the time of a page (see
docs/decisions/stock-rows-by-hand.md); a test holds both together."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from app.core.clock import rfc3339
from app.inventory.columns import COLUMNS

_ITEM = (
    ("id", "id"), *((each.attribute, each.name) for each in COLUMNS), ("available", "available"),
    ("on_order", "onOrder"), ("is_low", "lowStock"), ("version", "version"), ("created_at", "createdAt"),
    ("updated_at", "updatedAt"),
)  # fmt: skip
_MOVEMENT = (
    ("id", "id"), ("item_id", "itemId"), ("bucket", "bucket"), ("delta", "delta"), ("on_hand_after", "onHandAfter"),
    ("reason", "reason"), ("note", "note"), ("reference", "reference"), ("counted", "counted"),
    ("occurred_at", "occurredAt"), ("recorded_at", "recordedAt"), ("actor_id", "actor"),
)  # fmt: skip


def item_shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """An item as it goes out."""
    return {name: _wire(row[column]) for column, name in _ITEM}


def movement_shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A movement as it goes out."""
    return {name: _wire(row[column]) for column, name in _MOVEMENT}


def movement_id(seq: int) -> str:
    """A movement's id: it has the form of all ids, and follows the order in which movements were recorded."""
    return f"{seq:024x}"


def _wire(value: Any) -> Any:
    kind = type(value)
    if kind is Decimal:
        return float(value)
    if kind is datetime:
        return rfc3339(value)
    return value.isoformat() if kind is date else value
