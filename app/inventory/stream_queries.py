"""The data of the stock stream: first the items page by page, then the changes (see docs/inventory-stream.md)."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import orjson
from sqlalchemy import RowMapping, and_, select, true

from app.core import change_positions
from app.core.db import db
from app.inventory import change_feed, item_list
from app.inventory.change_feed import StockChange
from app.inventory.filters import build_conditions
from app.inventory.item_fields import JsonObject
from app.inventory.queries import ITEM_COLUMNS, ITEM_SELECTION, MOVEMENT_COLUMNS
from app.inventory.serializers import format_movement_id, serialize_item, serialize_movement
from app.inventory.sql import CHANNEL, MOVEMENT_COLUMN_NAMES

PAGE_SIZE = 200
FilterKey = tuple[tuple[str, Any], ...]
UpdatesByFilter = dict[FilterKey, bytes | None]
channel, max_gap_seconds = CHANNEL, 10.0
load_position = change_positions.load_position


def load_snapshot_page(event_id: str, filters: FilterKey, after: str) -> tuple[bytes, str | None]:
    """Return up to 200 matching items with SKUs after `after` as JSON, and the SKU key of the next page."""
    cursor = (after, "") if after else None
    item_page = item_list.list_items_of_event(event_id, dict(filters), sort="sku", limit=PAGE_SIZE, after=cursor)
    data = {"items": item_page.rows, "more": item_page.after is not None}
    return orjson.dumps(data), item_page.after[0] if item_page.after else None


def load_updates(
    event_id: str, filters_by_position: Mapping[str, Set[FilterKey]]
) -> tuple[str, dict[str, UpdatesByFilter | None]]:
    """Return the new position and, for each given position, the updates since then, in three queries.

    None instead of the updates: the client must load the items again.
    """
    change_sets = change_feed.load_changes_by_position(event_id, list(filters_by_position))
    (position, *_) = {change_set.position for change_set in change_sets.values()}
    changes = [change for change_set in change_sets.values() for change in change_set.changes]
    changed_stock = _ChangedStock(
        event_id, changes, {filters for change_set in filters_by_position.values() for filters in change_set}
    )
    return position, {
        old_position: None
        if change_set.resync
        else {
            filters: changed_stock.serialize_changes(change_set.changes, filters)
            for filters in filters_by_position[old_position]
        }
        for old_position, change_set in change_sets.items()
    }


class _ChangedStock:
    """The changed items and movements as JSON, and the filters that each item matches."""

    def __init__(self, event_id: str, changes: Iterable[StockChange], filter_keys: Set[FilterKey]) -> None:
        item_ids = {change.item_id for change in changes if change.item_id}
        movement_seqs = {change.movement for change in changes if change.movement is not None}
        self.column_by_filter = {filters: f"filter_{index}" for index, filters in enumerate(filter_keys)}
        self.items_by_id = {row["id"]: row for row in self._load_items(event_id, item_ids)} if item_ids else {}
        self.serialized_items = {
            id: orjson.Fragment(orjson.dumps(serialize_item(row))) for id, row in self.items_by_id.items()
        }
        self.serialized_movements = (
            {row["seq"]: _encode_movement(row) for row in _load_movements(movement_seqs)} if movement_seqs else {}
        )

    def serialize_changes(self, changes: list[StockChange], filters: FilterKey) -> bytes | None:
        """Return the changes of matching items, these items as they are now, and the ids of the other items."""
        if not changes:
            return None
        changed_ids = list(dict.fromkeys(change.item_id for change in changes))
        column = self.column_by_filter[filters]
        matching_ids = {id for id in changed_ids if id in self.items_by_id and self.items_by_id[id][column]}
        return orjson.dumps(
            {
                "changes": [self._serialize_change(change) for change in changes if change.item_id in matching_ids],
                "items": [self.serialized_items[id] for id in changed_ids if id in matching_ids],
                "gone": [id for id in changed_ids if id not in matching_ids],
            }
        )

    def _serialize_change(self, change: StockChange) -> JsonObject:
        data: JsonObject = {"seq": change.seq, "kind": change.kind, "itemId": change.item_id}
        if change.movement in self.serialized_movements:
            data["movement"] = self.serialized_movements[change.movement]
        return data

    def _load_items(self, event_id: str, ids: Set[str]) -> Iterable[RowMapping]:
        match_columns = [
            and_(true(), *build_conditions(dict(filters))).label(name)
            for filters, name in self.column_by_filter.items()
        ]
        statement = select(*ITEM_SELECTION, *match_columns).where(
            ITEM_COLUMNS.event_id == event_id, ITEM_COLUMNS.id.in_(ids)
        )
        return db.session.execute(statement).mappings()


def _load_movements(seqs: Set[int]) -> Iterable[RowMapping]:
    return db.session.execute(
        select(*(MOVEMENT_COLUMNS[name] for name in MOVEMENT_COLUMN_NAMES)).where(MOVEMENT_COLUMNS.seq.in_(seqs))
    ).mappings()


def _encode_movement(row: RowMapping) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(serialize_movement({**row, "id": format_movement_id(row["seq"])})))
