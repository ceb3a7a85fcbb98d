"""The filters of lists of items, as conditions. The stream asks the same."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, cast

from sqlalchemy import Boolean, ColumnElement, Table, false, func

from app.inventory.columns import BY_NAME, COLUMNS, sku_key
from app.inventory.finding import FACETS, facet_query, words_query
from app.inventory.models import NEVER, StockItem

ITEM = cast(Table, StockItem.__table__).c
FIELDS = {each.attribute for each in COLUMNS}
EXPIRY: ColumnElement[date] = func.coalesce(ITEM.expiry_date, NEVER)

assert set(FACETS) <= {each.attribute for each in BY_NAME.values()}


def conditions(event_id: str, asked: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    """What must hold of an item when these filters are given."""
    return list(_conditions(event_id, {name: value for name, value in asked.items() if value is not None}))


def _conditions(event_id: str, asked: Mapping[str, Any]) -> Iterator[ColumnElement[bool]]:
    for name, value in asked.items():
        if name == "q":
            query = words_query(event_id, value)
            yield false() if query is None else _found(query)
        elif name in FACETS:
            yield _found(facet_query(event_id, name, value))
        elif name in FIELDS:
            yield _field(name, value)
        elif name == "low_stock":
            yield ITEM.is_low if value else ~ITEM.is_low
        elif name == "expiring_before":
            yield value > EXPIRY


def _found(query: ColumnElement[Any]) -> ColumnElement[bool]:
    return ITEM.search.op("@@", return_type=Boolean())(query)


def _field(name: str, value: Any) -> ColumnElement[bool]:
    if name == "sku":
        return ITEM.sku_key == sku_key(value)
    column: Any = ITEM[name] if name != "expiry_date" else EXPIRY
    same: ColumnElement[bool] = func.lower(column) == func.lower(value) if isinstance(value, str) else column == value
    return same
