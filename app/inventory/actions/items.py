"""Creating, changing and adjusting items."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Unpack, cast

from sqlalchemy import RowMapping, func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.db import DriverRow
from app.core.errors import NotFound, StaleVersion
from app.core.ids import new_id
from app.core.transaction import transaction, write_row
from app.events.models import Event
from app.events.queries import hold_event, owned, ownership_params
from app.inventory import adjustments
from app.inventory.adjustment_sql import CREATE_ITEM_SQL, RECORD_CORRECTIONS_SQL, RESULT_COLUMNS, adjustment_sql
from app.inventory.adjustments import Adjustment
from app.inventory.errors import InsufficientStock, ItemArchived, QuantityTooLarge, SkuTaken, StaleStock
from app.inventory.item_fields import (
    ATTRIBUTES,
    BUCKETS,
    MAX_QUANTITY,
    AdjustedItem,
    ItemRow,
    ItemValues,
    fold_sku,
)
from app.inventory.models import ITEM_TABLE
from app.inventory.serializers import format_movement_id
from app.inventory.sql import (
    ITEM_COLUMN_NAMES,
    MOVEMENT_COLUMN_NAMES,
    next_moved_at_sql,
)


def create_item(*, caller: Caller, event_id: str, **values: Unpack[ItemValues]) -> ItemRow:
    """Create an item with the movements of its opening stock. Raises NotFound, SkuTaken, InsufficientStock."""
    params = {attribute: values.get(attribute) for attribute in ATTRIBUTES}
    with transaction() as session:
        if session.scalar(hold_event(select(Event.id).where(Event.id == event_id, owned(caller)))) is None:
            raise NotFound()
        _check_available(values["on_hand"], values["reserved"], values["damaged"])
        keys = {"id": new_id(), "event": event_id, "caller": caller.id, "sku_key": fold_sku(values["sku"])}
        row = session.execute(CREATE_ITEM_SQL, {**params, **keys}).mappings().first()
    if row is None:
        raise SkuTaken()
    return cast(ItemRow, dict(row))


def update_item(
    *,
    caller: Caller,
    event_id: str,
    item_id: str,
    expected_version: int | None,
    archived: bool | None = None,
    **changes: Unpack[ItemValues],
) -> ItemRow:
    """Change an item; a changed quantity is recorded as a `correction`. `archived` archives or restores it.

    Fields that keep their value change nothing. Raises NotFound, StaleVersion, ItemArchived, SkuTaken, InsufficientStock.
    """
    with transaction() as session:
        current = _lock_item(session, caller, event_id, item_id)
        if expected_version not in (None, current["version"]):
            raise StaleVersion()
        new_values = {name: value for name, value in changes.items() if current[name] != value}
        is_archived = current["archived_at"] is not None
        if new_values and is_archived and archived is not False:
            raise ItemArchived()
        if archived not in (None, is_archived):
            new_values["archived_at"] = func.now() if archived else None
        if not new_values:
            return cast(ItemRow, {column_name: current[column_name] for column_name in ITEM_COLUMN_NAMES})
        _check_available(*({**current, **new_values}[column] for column in BUCKETS.values()))
        row = _update_item_row(session, item_id, new_values)
        deltas = {name: row[column] - current[column] for name, column in BUCKETS.items() if column in new_values}
        corrections = {"buckets": list(deltas), "deltas": list(deltas.values()), "was_low": current["is_low"]}
        session.execute(RECORD_CORRECTIONS_SQL, {**corrections, "id": item_id, "caller": caller.id})
    return cast(ItemRow, dict(row))


def _lock_item(session: OrmSession, caller: Caller, event_id: str, item_id: str) -> RowMapping:
    result = session.execute(
        select(ITEM_TABLE)
        .join(Event, Event.id == ITEM_TABLE.c.event_id)
        .where(ITEM_TABLE.c.id == item_id, ITEM_TABLE.c.event_id == event_id, owned(caller))
        .with_for_update(key_share=True, of=ITEM_TABLE)
    )
    row = result.mappings().first()
    if row is None:
        raise NotFound()
    return row


def _update_item_row(session: OrmSession, item_id: str, new_values: Mapping[str, object]) -> RowMapping:
    values: dict[str, object] = {**new_values, "version": ITEM_TABLE.c.version + 1, "updated_at": func.now()}
    if isinstance(new_values.get("sku"), str):
        values["sku_key"] = fold_sku(str(new_values["sku"]))
    if set(new_values) & set(BUCKETS.values()):
        values["moved_at"] = text(next_moved_at_sql("inventory_item"))
    try:
        with session.begin_nested():
            statement = (
                update(ITEM_TABLE)
                .where(ITEM_TABLE.c.id == item_id)
                .values(values)
                .returning(*(ITEM_TABLE.c[name] for name in ITEM_COLUMN_NAMES))
            )
            return session.execute(statement).mappings().one()
    except IntegrityError as error:
        raise SkuTaken() from error


def _check_available(on_hand: Decimal, reserved: Decimal, damaged: Decimal) -> None:
    available = on_hand - reserved - damaged
    if available < 0:
        raise InsufficientStock(on_hand=on_hand, reserved=reserved, damaged=damaged, available=available)


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
    expected_version: int | None = None,
) -> AdjustedItem:
    """Change one bucket of an item by `delta` or to `counted`; return the item with the movement.

    A movement from before a count changes the difference that the count found, not the present quantity. Raises
    NotFound, ItemArchived, InsufficientStock, QuantityTooLarge, StaleStock, StaleVersion, ValidationFailed.
    """
    params: Adjustment = {
        "item": item_id,
        "event": event_id,
        "caller": caller.id,
        **ownership_params(caller),
        "delta": delta,
        "counted": counted,
        "reason": reason or ("count" if counted is not None else "correction"),
        "note": note,
        "reference": reference,
        "expected": expected_on_hand,
        "expected_version": expected_version,
        "occurred_at": None,
        "bucket": bucket,
    }
    if occurred_at is None:
        return _parse_adjustment_row(write_row(adjustment_sql(bucket), params), params)
    with transaction():
        row = adjustments.record_backdated_movement(params, occurred_at)
        return _parse_adjustment_row(row, params)


def _parse_adjustment_row(row: DriverRow | None, params: Adjustment) -> AdjustedItem:
    if row is None:
        raise NotFound()
    item = dict(zip(RESULT_COLUMNS, row, strict=True))
    if item["done"]:
        movement = {column: item[f"movement_{column}"] for column in MOVEMENT_COLUMN_NAMES}
        movement["id"] = format_movement_id(movement["seq"])
        return cast(AdjustedItem, {**item, "movement": movement})
    if item["archived_at"] is not None:
        raise ItemArchived()
    if params["expected_version"] not in (None, item["version"]):
        raise StaleVersion()
    if params["expected"] not in (None, item["on_hand"]):
        raise StaleStock(on_hand=item["on_hand"])
    quantities = {name: item[name] for name in ("on_hand", "reserved", "damaged", "available")}
    if params["bucket"] == "onHand" and (params["delta"] or 0) > MAX_QUANTITY - item[BUCKETS["onHand"]]:
        raise QuantityTooLarge(**quantities)
    raise InsufficientStock(**quantities)
