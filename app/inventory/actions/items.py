"""Creating and changing items."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import RowMapping, Table, func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import NotFound, StaleVersion
from app.core.ids import new_id
from app.core.transaction import transaction
from app.events.models import Event
from app.events.queries import WRITES, hold_event, owned
from app.inventory.book import BOOKED, CHANNEL, NEXT_MOMENT, SHOWN, told_of_items
from app.inventory.columns import ATTRIBUTES, BUCKETS, COLUMNS, sku_key
from app.inventory.errors import InsufficientStock, SkuTaken
from app.inventory.models import StockItem

ITEM = cast(Table, StockItem.__table__)
OPENING = "opening stock"
_VALUES = ", ".join(f":{attribute}" for attribute in ATTRIBUTES)
_ENTRIES = ", ".join(f"('{bucket}', {column})" for bucket, column in BUCKETS.items())
CREATE = text(f"""
WITH moved AS (
    INSERT INTO inventory_item (id, event_id, sku_key, {", ".join(ATTRIBUTES)})
    SELECT :id, e.id, :sku_key, {_VALUES} FROM event e WHERE e.id = :event
    ON CONFLICT (event_id, sku_key) DO NOTHING
    RETURNING *, true AS was_low
), entries AS (
    SELECT event_id, id AS item_id, bucket, delta, on_hand AS on_hand_after, 'correction' AS reason,
           '{OPENING}' AS note, NULL AS reference, NULL::numeric AS counted, :caller AS actor_id,
           moved_at AS occurred_at
      FROM moved, LATERAL (VALUES {_ENTRIES}) AS entry (bucket, delta) WHERE delta <> 0
), {BOOKED}, {told_of_items("created")}
SELECT {", ".join(SHOWN)}, pg_notify('{CHANNEL}', event_id) FROM moved
""")
BOOK = text(f"""
WITH moved AS (SELECT i.*, CAST(:was_low AS boolean) AS was_low FROM inventory_item i WHERE i.id = :id), entries AS (
    SELECT event_id, id AS item_id, bucket, delta, on_hand AS on_hand_after, 'correction' AS reason, NULL AS note,
           NULL AS reference, NULL::numeric AS counted, :caller AS actor_id, moved_at AS occurred_at
      FROM moved, unnest(CAST(:buckets AS text[]), CAST(:deltas AS numeric[])) AS entry (bucket, delta)
), {BOOKED}, {told_of_items("changed")}
SELECT pg_notify('{CHANNEL}', event_id) FROM moved
""")


def create_item(*, caller: Caller, event_id: str, **values: Any) -> dict[str, Any]:
    """The new item, its opening stock booked. Raises NotFound, SkuTaken, InsufficientStock."""
    given = {item.attribute: values.get(item.attribute) for item in COLUMNS}
    with transaction() as session:
        if session.scalar(hold_event(select(Event.id).where(Event.id == event_id, owned(caller, WRITES)))) is None:
            raise NotFound()
        _check_enough(given)
        asked = {"id": new_id(), "event": event_id, "caller": caller.id, "sku_key": sku_key(values["sku"])}
        row = session.execute(CREATE, {**given, **asked}).mappings().first()
    if row is None:
        raise SkuTaken()
    return dict(row)


def change_item(
    *, caller: Caller, event_id: str, item_id: str, expected_version: int | None, **changes: Any
) -> dict[str, Any]:
    """The item with these fields changed; a changed quantity is a `correction` in its book.

    What is sent as it stands already changes nothing. Raises NotFound, StaleVersion, SkuTaken, InsufficientStock.
    """
    with transaction() as session:
        was = _locked(session, caller, event_id, item_id)
        if expected_version not in (None, was["version"]):
            raise StaleVersion()
        new = {name: value for name, value in changes.items() if was[name] != value}
        if not new:
            return {item: was[item] for item in SHOWN}
        _check_enough({**was, **new})
        row = _changed(session, item_id, new)
        moved = {name: new[column] - was[column] for name, column in BUCKETS.items() if column in new}
        told = {"buckets": list(moved), "deltas": list(moved.values()), "was_low": was["is_low"]}
        session.execute(BOOK, {**told, "id": item_id, "caller": caller.id})
    return row


def _locked(session: OrmSession, caller: Caller, event_id: str, item_id: str) -> RowMapping:
    found = session.execute(
        select(ITEM)
        .join(Event, Event.id == ITEM.c.event_id)
        .where(ITEM.c.id == item_id, ITEM.c.event_id == event_id, owned(caller, WRITES))
        .with_for_update(key_share=True, of=ITEM)
    )
    row = found.mappings().first()
    if row is None:
        raise NotFound()
    return row


def _changed(session: OrmSession, item_id: str, new: Mapping[str, Decimal | date | str | None]) -> dict[str, Any]:
    values: dict[str, Any] = {**new, "version": ITEM.c.version + 1, "updated_at": func.now()}
    if isinstance(new.get("sku"), str):
        values["sku_key"] = sku_key(str(new["sku"]))
    if set(new) & set(BUCKETS.values()):
        values["moved_at"] = text(NEXT_MOMENT.replace("i.moved_at", "inventory_item.moved_at"))
    try:
        with session.begin_nested():
            statement = update(ITEM).where(ITEM.c.id == item_id).values(values).returning(*(ITEM.c[it] for it in SHOWN))
            return dict(session.execute(statement).mappings().one())
    except IntegrityError as error:
        raise SkuTaken() from error


def _check_enough(item: Mapping[str, Any]) -> None:
    if item["on_hand"] - item["reserved"] - item["damaged"] < 0:
        raise InsufficientStock(
            **{each: item[each] for each in BUCKETS.values()},
            available=item["on_hand"] - item["reserved"] - item["damaged"],
        )
