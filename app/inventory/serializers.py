"""Items and movements as JSON, written by hand: a schema would take most of the time of a page.

See docs/decisions/stock-serializers.md. A test compares the keys with those of the schemas.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import ColumnElement, DateTime, Double, Numeric, RowMapping, and_, cast, func, literal_column

from app.core.clock import rfc3339
from app.inventory.item_fields import ITEM_FIELDS, JsonObject
from app.inventory.models import AnyColumn, Columns

Row = Mapping[str, object] | RowMapping
_ITEM_KEYS = (
    ("id", "id"),
    *((field.attribute, field.name) for field in ITEM_FIELDS),
    ("available", "available"),
    ("on_order", "onOrder"),
    ("is_low", "lowStock"),
    ("version", "version"),
    ("archived_at", "archivedAt"),
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


def list_json_columns(columns: Columns) -> list[AnyColumn]:
    """Return the columns of an item, converted by PostgreSQL for JSON, in the order of `ITEM_JSON_KEYS`.

    Exact numbers become doubles and times become text; days stay dates.
    """
    values = {"is_low": and_(columns.is_low, columns.archived_at.is_(None))}
    return [values.get(column, _json_value_sql(columns[column])).label(name) for column, name in _ITEM_KEYS]


def serialize_item(row: Row) -> JsonObject:
    """Return an item as JSON. An archived item is never low."""
    item = {name: _serialize_value(row[column]) for column, name in _ITEM_KEYS}
    return item if row["archived_at"] is None else {**item, "lowStock": False}


def serialize_movement(row: Row) -> JsonObject:
    """Return a movement as JSON."""
    return {name: _serialize_value(row[column]) for column, name in _MOVEMENT_KEYS}


def format_movement_id(seq: int) -> str:
    """Return the id of a movement: 24 hexadecimal digits in the order in which movements were recorded."""
    return f"{seq:024x}"


def _serialize_value(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    return value.isoformat() if isinstance(value, date) else value


def _json_value_sql(column: AnyColumn) -> AnyColumn:
    if isinstance(column.type, Numeric):
        return cast(column, Double)
    if isinstance(column.type, DateTime):
        time_format: ColumnElement[str] = literal_column("""'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'""")
        return func.to_char(func.timezone(literal_column("'UTC'"), column), time_format)
    return column
