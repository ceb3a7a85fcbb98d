"""The statements of the list of items, each built and compiled once for a combination of filters and an order.

    exact    the order and all filters come from one index
    walk     the order comes from an index, and so many items are looked at for the other filters, no more
    found    all that match are found by some filters' own indexes, and sorted

Each asks for the event too: no row at all means that it is not the caller's. docs/decisions/stock-lists.md says why.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    Select,
    String,
    Table,
    bindparam,
    case,
    false,
    func,
    literal_column,
    select,
    true,
    tuple_,
    union_all,
)

from app.core.db import driver_sql
from app.inventory.filters import condition, entry, expiry, is_word, looked_at
from app.inventory.models import FACETS, StockItem
from app.inventory.shown import wired

TABLE = cast(Table, StockItem.__table__)
SORTS: dict[str, ColumnElement[Any]] = {
    "name": TABLE.c.name_key,
    "sku": TABLE.c.sku_key,
    "expiryDate": expiry(TABLE.c),
}
ANSWERS: dict[str, list[tuple[str, ...]]] = {
    "name": [("name",), *((facet,) for facet in FACETS), ("low_stock",)],
    "sku": [("sku",)],
    "expiryDate": [("expiry_date", "expiring_before")],
}
"""What each order's indexes can answer beside it; one of these at a time, the first that is asked for."""
# More than there can be: as many items as a walk to the end looks at.
WHOLE = 1_000_000_000
OWN = """
SELECT p.* FROM event e LEFT JOIN LATERAL ({page}) p ON true
 WHERE e.id = %(event)s AND (%(all)s OR e.organiser_id = %(caller)s)"""
EVENT = bindparam("event", type_=String)
NOTHING = OWN.format(page="SELECT NULL AS fits WHERE false")


@dataclass(frozen=True)
class Shape:
    """What the text of a statement depends on: the names of the filters, the order with its sign, whether the page
    starts behind another, and how many rows are wanted at most."""

    names: frozenset[str]
    sort: str
    further: bool
    most: int

    @property
    def key(self) -> str:
        return self.sort.removeprefix("-")

    @property
    def answered(self) -> frozenset[str]:
        """The filters that the index answers from which the order comes."""
        return next(
            (found for response in ANSWERS[self.key] if (found := self.names.intersection(response))), frozenset()
        )

    @property
    def order(self) -> ColumnElement[Any]:
        """What is sorted by, as the index spells it from which the order comes: so no plan takes one for another."""
        part = self.key == "name" and self.answered and "name" not in self.answered
        return func.lower(TABLE.c.name) if part else SORTS[self.key]

    @property
    def rest(self) -> frozenset[str]:
        return self.names - self.answered


@lru_cache(maxsize=256)
def exact(shape: Shape) -> str:
    """The rows that match, as they stand in one index."""
    rows = _in_order(shape, TABLE.c, shape.most).subquery("i")
    return _owned(shape, select(true().label("fits"), *wired(rows.c), rows.c.sort_key))


@lru_cache(maxsize=256)
def walk(shape: Shape, near: int) -> str:
    """The rows that match among the next `near`. When those do not fill the page, a last one, which does not count
    (`fits` is false), says where the walk has stopped; without it there are no more.

    No more than what the filters look at is read of each, which for words is the index alone.
    """
    needed = [TABLE.c.id, *(item for item in TABLE.c if item.key in looked_at(shape.rest))]
    rows = _in_order(shape, needed, near).subquery("i")
    hits = select(true().label("fits"), rows.c.id, rows.c.sort_key).where(*_conditions(shape.rest, rows.c))
    place = _in_order(shape, [TABLE.c.id], 1, skipped=near - 1).subquery("i")
    stop = select(false(), place.c.id, place.c.sort_key)
    steps = [_sorted(hits, rows, shape).limit(_number(shape.most)).subquery("h").select(), stop]
    found = union_all(*steps[: 1 if near == WHOLE else 2]).limit(_number(shape.most)).subquery("w")
    whole = select(found.c.fits, *wired(TABLE.c), found.c.sort_key).join_from(found, TABLE, TABLE.c.id == found.c.id)
    return _owned(shape, whole)


@lru_cache(maxsize=256)
def found(shape: Shape, by: frozenset[str]) -> str:
    """The rows that match, out of all that the indexes of the filters in `by` find."""
    rows = _fenced(shape, by).offset(_number(0)).subquery("i")
    page = select(true().label("fits"), *wired(rows.c), rows.c.sort_key)
    if shape.further:
        page = page.where(_behind(shape, rows.c.sort_key, rows.c.id))
    return _owned(shape, _sorted(page, rows, shape).limit(_number(shape.most)))


@lru_cache(maxsize=256)
def total(names: frozenset[str], rare: frozenset[str]) -> str:
    """How many rows match in all; of the words those that are rare are looked for in their index."""
    words = [entry(_value(name), EVENT) for name in sorted(rare)]
    return driver_sql(select(func.count()).where(_of_event(), *words, *_conditions(names - rare, TABLE.c)))


def _fenced(shape: Shape, by: frozenset[str]) -> Select[Any]:
    """Conditions that no index may be taken for stand in a CASE, which PostgreSQL does not look into."""
    words, others = (frozenset(filter(kind, by)) for kind in (is_word, lambda name: not is_word(name)))
    seen = [*(entry(_value(name), EVENT) for name in sorted(words)), *_conditions(others, TABLE.c)]
    hidden = [*_conditions(shape.names - others, TABLE.c)]
    # A word's entry names its event, and an event with most of the items must not be read for it.
    (seen if others else hidden).append(_of_event())
    return select(TABLE, shape.order.label("sort_key")).where(
        *seen, *(case((item, true()), else_=false()) for item in hidden)
    )


def _in_order(shape: Shape, columns: Iterable[Any], rows: int, *, skipped: int = 0) -> Select[Any]:
    """The next rows of the index that gives the order, with what it answers."""
    key = shape.order
    query = select(*columns, key.label("sort_key")).where(_of_event(), *_conditions(shape.answered, TABLE.c))
    if shape.further:
        query = query.where(_behind(shape, key, TABLE.c.id))
    query = query.order_by(*_direction(shape, key, TABLE.c.id)).limit(_number(rows))
    return query.offset(_number(skipped)) if skipped else query


def _sorted(query: Select[Any], rows: FromClause, shape: Shape) -> Select[Any]:
    return query.order_by(*_direction(shape, rows.c.sort_key, rows.c.id))


def _direction(shape: Shape, key: ColumnElement[Any], id: ColumnElement[Any]) -> list[ColumnElement[Any]]:
    # No two items of an event share a SKU, and the index of SKUs is in no other order.
    keys = [key] if shape.key == "sku" else [key, id]
    return [key.desc() for key in keys] if shape.sort.startswith("-") else keys


def _behind(shape: Shape, key: ColumnElement[Any], id: ColumnElement[Any]) -> ColumnElement[bool]:
    last = bindparam("last_key", type_=SORTS[shape.key].type)
    here, there = (
        (key, last) if shape.key == "sku" else (tuple_(key, id), tuple_(last, bindparam("last_id", type_=String)))
    )
    return here < there if shape.sort.startswith("-") else here > there


def _conditions(names: Iterable[str], of: Any) -> list[ColumnElement[bool]]:
    return [condition(name, _value(name), of) for name in sorted(names)]


def _value(name: str) -> Any:
    if name in TABLE.c and name != "sku":
        return bindparam(name, type_=TABLE.c[name].type)
    return bindparam(name, type_=TABLE.c.expiry_date.type if name == "expiring_before" else None)


def _of_event() -> ColumnElement[bool]:
    return TABLE.c.event_id == EVENT


def _number(value: int) -> Any:
    """A number that stands in the text: as a parameter it would keep PostgreSQL from making one plan for all."""
    return literal_column(str(value), Integer)


def _owned(shape: Shape, page: Select[Any]) -> str:
    way = " DESC" if shape.sort.startswith("-") else ""
    return f"{OWN.format(page=driver_sql(page))} ORDER BY p.fits DESC, p.sort_key{way}, p.id{way}"
