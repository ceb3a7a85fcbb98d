"""Creating and changing items.

Changing how much there is.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import RowMapping, Table, func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import NotFound, StaleVersion
from app.core.ids import new_id
from app.core.transaction import transaction, write_row
from app.events.models import Event
from app.events.queries import WRITES, hold_event, owned
from app.inventory import adjustments
from app.inventory.errors import InsufficientStock, QuantityTooLarge, SkuTaken, StaleStock
from app.inventory.item_fields import ATTRIBUTES, BUCKETS, ITEM_FIELDS, MAX_QUANTITY, fold_sku
from app.inventory.models import StockItem
from app.inventory.movement_sql import (
    CHANNEL,
    INSERT_MOVEMENTS_CTE,
    ITEM_COLUMN_NAMES,
    MOVEMENT_COLUMN_NAMES,
    NEXT_MOVED_AT_SQL,
    item_change_sql,
)
from app.inventory.serializers import format_movement_id

ITEM_TABLE = cast(Table, StockItem.__table__)
OPENING_NOTE = "opening stock"
_VALUES = ", ".join(f":{attribute}" for attribute in ATTRIBUTES)
_OPENING_ENTRIES = ", ".join(f"('{bucket}', {column})" for bucket, column in BUCKETS.items())
CREATE_ITEM_SQL = text(f"""
WITH moved AS (
    INSERT INTO inventory_item (id, event_id, sku_key, {", ".join(ATTRIBUTES)})
    SELECT :id, e.id, :sku_key, {_VALUES} FROM event e WHERE e.id = :event
    ON CONFLICT (event_id, sku_key) DO NOTHING
    RETURNING *, true AS was_low
), entries AS (
    SELECT event_id, id AS item_id, bucket, delta, on_hand AS on_hand_after, 'correction' AS reason,
           '{OPENING_NOTE}' AS note, NULL AS reference, NULL::numeric AS counted, :caller AS actor_id,
           moved_at AS occurred_at
      FROM moved, LATERAL (VALUES {_OPENING_ENTRIES}) AS entry (bucket, delta) WHERE delta <> 0
), {INSERT_MOVEMENTS_CTE}, {item_change_sql("created")}
SELECT {", ".join(ITEM_COLUMN_NAMES)}, pg_notify('{CHANNEL}', event_id) FROM moved
""")
RECORD_CORRECTIONS_SQL = text(f"""
WITH moved AS (SELECT i.*, CAST(:was_low AS boolean) AS was_low FROM inventory_item i WHERE i.id = :id), entries AS (
    SELECT event_id, id AS item_id, bucket, delta, on_hand AS on_hand_after, 'correction' AS reason, NULL AS note,
           NULL AS reference, NULL::numeric AS counted, :caller AS actor_id, moved_at AS occurred_at
      FROM moved, unnest(CAST(:buckets AS text[]), CAST(:deltas AS numeric[])) AS entry (bucket, delta)
), {INSERT_MOVEMENTS_CTE}, {item_change_sql("changed")}
SELECT pg_notify('{CHANNEL}', event_id) FROM moved
""")


def create_item(*, caller: Caller, event_id: str, **values: Any) -> dict[str, Any]:
    """The new item, its opening stock booked. Raises NotFound, SkuTaken, InsufficientStock."""
    fields = {field.attribute: values.get(field.attribute) for field in ITEM_FIELDS}
    with transaction() as session:
        if session.scalar(hold_event(select(Event.id).where(Event.id == event_id, owned(caller, WRITES)))) is None:
            raise NotFound()
        _check_available(fields)
        keys = {"id": new_id(), "event": event_id, "caller": caller.id, "sku_key": fold_sku(values["sku"])}
        row = session.execute(CREATE_ITEM_SQL, {**fields, **keys}).mappings().first()
    if row is None:
        raise SkuTaken()
    return dict(row)


def update_item(
    *, caller: Caller, event_id: str, item_id: str, expected_version: int | None, **changes: Any
) -> dict[str, Any]:
    """The item with these fields changed; a changed quantity is a `correction` in its book.

    What is sent as it stands already changes nothing. Raises NotFound, StaleVersion, SkuTaken, InsufficientStock.
    """
    with transaction() as session:
        current = _lock_item(session, caller, event_id, item_id)
        if expected_version not in (None, current["version"]):
            raise StaleVersion()
        new_values = {name: value for name, value in changes.items() if current[name] != value}
        if not new_values:
            return {column_name: current[column_name] for column_name in ITEM_COLUMN_NAMES}
        _check_available({**current, **new_values})
        row = _update_item_row(session, item_id, new_values)
        deltas = {
            name: new_values[column] - current[column] for name, column in BUCKETS.items() if column in new_values
        }
        corrections = {"buckets": list(deltas), "deltas": list(deltas.values()), "was_low": current["is_low"]}
        session.execute(RECORD_CORRECTIONS_SQL, {**corrections, "id": item_id, "caller": caller.id})
    return row


def _lock_item(session: OrmSession, caller: Caller, event_id: str, item_id: str) -> RowMapping:
    result = session.execute(
        select(ITEM_TABLE)
        .join(Event, Event.id == ITEM_TABLE.c.event_id)
        .where(ITEM_TABLE.c.id == item_id, ITEM_TABLE.c.event_id == event_id, owned(caller, WRITES))
        .with_for_update(key_share=True, of=ITEM_TABLE)
    )
    row = result.mappings().first()
    if row is None:
        raise NotFound()
    return row


def _update_item_row(
    session: OrmSession, item_id: str, new_values: Mapping[str, Decimal | date | str | None]
) -> dict[str, Any]:
    values: dict[str, Any] = {**new_values, "version": ITEM_TABLE.c.version + 1, "updated_at": func.now()}
    if isinstance(new_values.get("sku"), str):
        values["sku_key"] = fold_sku(str(new_values["sku"]))
    if set(new_values) & set(BUCKETS.values()):
        values["moved_at"] = text(NEXT_MOVED_AT_SQL.replace("i.moved_at", "inventory_item.moved_at"))
    try:
        with session.begin_nested():
            statement = (
                update(ITEM_TABLE)
                .where(ITEM_TABLE.c.id == item_id)
                .values(values)
                .returning(*(ITEM_TABLE.c[name] for name in ITEM_COLUMN_NAMES))
            )
            return dict(session.execute(statement).mappings().one())
    except IntegrityError as error:
        raise SkuTaken() from error


def _check_available(item: Mapping[str, Any]) -> None:
    if item["on_hand"] - item["reserved"] - item["damaged"] < 0:
        raise InsufficientStock(
            **{column: item[column] for column in BUCKETS.values()},
            available=item["on_hand"] - item["reserved"] - item["damaged"],
        )


def adjust_item(
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
    params = {
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
        return _parse_adjustment_row(write_row(adjustments.adjustment_sql(bucket), params), params)
    with transaction() as session:
        row = adjustments.record_backdated_movement(session, bucket, params, occurred_at)
        return _parse_adjustment_row(row, params)


def _parse_adjustment_row(row: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    if row is None:
        raise NotFound()
    item = dict(zip(adjustments.RESULT_COLUMNS, row, strict=True))
    if item["done"]:
        movement = {column: item[f"movement_{column}"] for column in MOVEMENT_COLUMN_NAMES}
        return {**item, "movement": {**movement, "id": format_movement_id(movement["seq"])}}
    if params["expected"] not in (None, item["on_hand"]):
        raise StaleStock(on_hand=item["on_hand"])
    quantities = {name: item[name] for name in ("on_hand", "reserved", "damaged", "available")}
    if params["bucket"] == "onHand" and (params["delta"] or 0) > MAX_QUANTITY - item[BUCKETS["onHand"]]:
        raise QuantityTooLarge(**quantities)
    raise InsufficientStock(**quantities)
