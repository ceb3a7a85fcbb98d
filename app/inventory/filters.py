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
    """What must hold of an item when these filters are given: for one item, or few."""
    found = wanted(event_id, asked)
    return plain(asked) if found is None else [*plain(asked), found]


def plain(asked: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    """The part of it that the index of words knows nothing of."""
    return list(_plain({name: value for name, value in asked.items() if value is not None}))


def wanted(event_id: str, asked: Mapping[str, Any]) -> ColumnElement[bool] | None:
    """The part that is asked of the index of words, as one condition; None when nothing is."""
    queries = [facet_query(event_id, name, asked[name]) for name in FACETS if asked.get(name) is not None]
    if asked.get("q") is not None:
        words = words_query(event_id, asked["q"])
        if words is None:
            return false()
        queries.append(words)
    if not queries:
        return None
    together = queries[0]
    for each in queries[1:]:
        together = together.op("&&")(each)
    return ITEM.search.op("@@", return_type=Boolean())(together)


def _plain(asked: Mapping[str, Any]) -> Iterator[ColumnElement[bool]]:
    for name, value in asked.items():
        if name in FIELDS and name not in FACETS:
            yield _field(name, value)
        elif name == "low_stock":
            yield ITEM.is_low if value else ~ITEM.is_low
        elif name == "expiring_before":
            yield value > EXPIRY


def _field(name: str, value: Any) -> ColumnElement[bool]:
    if name == "sku":
        return ITEM.sku_key == sku_key(value)
    column: Any = ITEM[name] if name != "expiry_date" else EXPIRY
    same: ColumnElement[bool] = func.lower(column) == func.lower(value) if isinstance(value, str) else column == value
    return same
