"""How rows of the stock go out: by hand, because a schema would take most of the time of a page (see
docs/decisions/stock-serializers.md); a test holds both together."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, DateTime, Double, Numeric, cast, func, literal_column

from app.core.clock import rfc3339
from app.inventory.item_fields import ITEM_FIELDS

_ITEM_KEYS = (
    ("id", "id"),
    *((field.attribute, field.name) for field in ITEM_FIELDS),
    ("available", "available"),
    ("on_order", "onOrder"),
    ("is_low", "lowStock"),
    ("version", "version"),
    ("created_at", "createdAt"),
    ("updated_at", "updatedAt"),
)
_MOVEMENT_KEYS = (
    ("id", "id"),
    ("item_id", "itemId"),
    ("bucket", "bucket"),
    ("delta", "delta"),
    ("on_hand_after", "onHandAfter"),
    ("reason", "reason"),
    ("note", "note"),
    ("reference", "reference"),
    ("counted", "counted"),
    ("occurred_at", "occurredAt"),
    ("recorded_at", "recordedAt"),
    ("actor_id", "actor"),
)

ITEM_JSON_KEYS = tuple(name for _, name in _ITEM_KEYS)


def list_json_columns(columns: Any) -> list[ColumnElement[Any]]:
    """The columns of items as PostgreSQL makes them ready to go out, in the order of `WIRE`: as JSON has no exact
    numbers, they come as doubles, which is what JSON makes of them; days come as days."""
    return [_json_value_sql(columns[column]).label(name) for column, name in _ITEM_KEYS]


def serialize_item(row: Mapping[str, Any]) -> dict[str, Any]:
    """An item as it goes out."""
    return {name: _serialize_value(row[column]) for column, name in _ITEM_KEYS}


def serialize_movement(row: Mapping[str, object]) -> dict[str, Any]:
    """A movement as it goes out."""
    return {name: _serialize_value(row[column]) for column, name in _MOVEMENT_KEYS}


def format_movement_id(seq: int) -> str:
    """A movement's id: it has the form of all ids, and follows the order in which movements were recorded."""
    return f"{seq:024x}"


def _serialize_value(value: Any) -> Any:
    value_type = type(value)
    if value_type is Decimal:
        return float(value)
    if value_type is datetime:
        return rfc3339(value)
    return value.isoformat() if value_type is date else value


def _json_value_sql(column: ColumnElement[Any]) -> ColumnElement[Any]:
    if isinstance(column.type, Numeric):
        return cast(column, Double)
    if isinstance(column.type, DateTime):
        time_format: ColumnElement[str] = literal_column("""'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'""")
        return func.to_char(func.timezone(literal_column("'UTC'"), column), time_format)
    return column
