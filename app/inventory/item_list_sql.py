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
from app.inventory.filters import (
    build_condition,
    build_word_entry_condition,
    expiry_sql,
    is_word_filter,
    list_filter_columns,
)
from app.inventory.models import FACET_COLUMNS, StockItem
from app.inventory.serializers import list_json_columns

ITEM_TABLE = cast(Table, StockItem.__table__)
SORTS: dict[str, ColumnElement[Any]] = {
    "name": ITEM_TABLE.c.name_key,
    "sku": ITEM_TABLE.c.sku_key,
    "expiryDate": expiry_sql(ITEM_TABLE.c),
}
FILTERS_BY_INDEX: dict[str, list[tuple[str, ...]]] = {
    "name": [("name",), *((facet,) for facet in FACET_COLUMNS), ("low_stock",)],
    "sku": [("sku",)],
    "expiryDate": [("expiry_date", "expiring_before")],
}
"""What each order's indexes can answer beside it; one of these at a time, the first that is asked for."""
# More than there can be: as many items as a walk to the end looks at.
FULL_SCAN = 1_000_000_000
OWNED_PAGE_SQL = """
SELECT p.* FROM event e LEFT JOIN LATERAL ({page}) p ON true
 WHERE e.id = %(event)s AND (%(all)s OR e.organiser_id = %(caller)s)"""
EVENT_PARAMETER = bindparam("event", type_=String)
EMPTY_PAGE_SQL = OWNED_PAGE_SQL.format(page="SELECT NULL AS fits WHERE false")


@dataclass(frozen=True)
class QueryShape:
    """What the text of a statement depends on: the names of the filters, the order with its sign, whether the page
    starts behind another, and how many rows are wanted at most."""

    filter_names: frozenset[str]
    sort: str
    has_cursor: bool
    row_limit: int

    @property
    def sort_name(self) -> str:
        return self.sort.removeprefix("-")

    @property
    def indexed_filters(self) -> frozenset[str]:
        """The filters that the index answers from which the order comes."""
        return next(
            (
                matching
                for index_filters in FILTERS_BY_INDEX[self.sort_name]
                if (matching := self.filter_names.intersection(index_filters))
            ),
            frozenset(),
        )

    @property
    def sort_expression(self) -> ColumnElement[Any]:
        """What is sorted by, as the index spells it from which the order comes: so no plan takes one for another."""
        is_partial = self.sort_name == "name" and self.indexed_filters and "name" not in self.indexed_filters
        return func.lower(ITEM_TABLE.c.name) if is_partial else SORTS[self.sort_name]

    @property
    def remaining_filters(self) -> frozenset[str]:
        return self.filter_names - self.indexed_filters


@lru_cache(maxsize=256)
def index_sql(shape: QueryShape) -> str:
    """The rows that match, as they stand in one index."""
    rows = _index_rows_query(shape, ITEM_TABLE.c, shape.row_limit).subquery("i")
    return _owned_page_sql(shape, select(true().label("fits"), *list_json_columns(rows.c), rows.c.sort_key))


@lru_cache(maxsize=256)
def scan_sql(shape: QueryShape, scan_length: int) -> str:
    """The rows that match among the next `near`. When those do not fill the page, a last one, which does not count
    (`fits` is false), says where the walk has stopped; without it there are no more.

    No more than what the filters look at is read of each, which for words is the index alone.
    """
    columns = [
        ITEM_TABLE.c.id,
        *(column for column in ITEM_TABLE.c if column.key in list_filter_columns(shape.remaining_filters)),
    ]
    rows = _index_rows_query(shape, columns, scan_length).subquery("i")
    hits = select(true().label("fits"), rows.c.id, rows.c.sort_key).where(
        *_build_filter_conditions(shape.remaining_filters, rows.c)
    )
    last_row = _index_rows_query(shape, [ITEM_TABLE.c.id], 1, offset=scan_length - 1).subquery("i")
    stop_row = select(false(), last_row.c.id, last_row.c.sort_key)
    parts = [_sort_rows(hits, rows, shape).limit(_number_sql(shape.row_limit)).subquery("h").select(), stop_row]
    page_rows = (
        union_all(*parts[: 1 if scan_length == FULL_SCAN else 2]).limit(_number_sql(shape.row_limit)).subquery("w")
    )
    page = select(page_rows.c.fits, *list_json_columns(ITEM_TABLE.c), page_rows.c.sort_key).join_from(
        page_rows, ITEM_TABLE, ITEM_TABLE.c.id == page_rows.c.id
    )
    return _owned_page_sql(shape, page)


@lru_cache(maxsize=256)
def search_sql(shape: QueryShape, index_filters: frozenset[str]) -> str:
    """The rows that match, out of all that the indexes of the filters in `by` find."""
    rows = _search_rows_query(shape, index_filters).offset(_number_sql(0)).subquery("i")
    page = select(true().label("fits"), *list_json_columns(rows.c), rows.c.sort_key)
    if shape.has_cursor:
        page = page.where(_build_cursor_condition(shape, rows.c.sort_key, rows.c.id))
    return _owned_page_sql(shape, _sort_rows(page, rows, shape).limit(_number_sql(shape.row_limit)))


@lru_cache(maxsize=256)
def count_sql(filter_names: frozenset[str], rare_words: frozenset[str]) -> str:
    """How many rows match in all; of the words those that are rare are looked for in their index."""
    word_conditions = [
        build_word_entry_condition(_build_parameter(name), EVENT_PARAMETER) for name in sorted(rare_words)
    ]
    return driver_sql(
        select(func.count()).where(
            _build_event_condition(),
            *word_conditions,
            *_build_filter_conditions(filter_names - rare_words, ITEM_TABLE.c),
        )
    )


def _search_rows_query(shape: QueryShape, index_filters: frozenset[str]) -> Select[Any]:
    """Conditions that no index may be taken for stand in a CASE, which PostgreSQL does not look into."""
    word_filters, other_filters = (
        frozenset(filter(predicate, index_filters))
        for predicate in (is_word_filter, lambda name: not is_word_filter(name))
    )
    indexable = [
        *(build_word_entry_condition(_build_parameter(name), EVENT_PARAMETER) for name in sorted(word_filters)),
        *_build_filter_conditions(other_filters, ITEM_TABLE.c),
    ]
    unindexable = [*_build_filter_conditions(shape.filter_names - other_filters, ITEM_TABLE.c)]
    # A word's entry names its event, and an event with most of the items must not be read for it.
    (indexable if other_filters else unindexable).append(_build_event_condition())
    return select(ITEM_TABLE, shape.sort_expression.label("sort_key")).where(
        *indexable, *(case((clause, true()), else_=false()) for clause in unindexable)
    )


def _index_rows_query(shape: QueryShape, columns: Iterable[Any], row_count: int, *, offset: int = 0) -> Select[Any]:
    """The next rows of the index that gives the order, with what it answers."""
    sort_expression = shape.sort_expression
    query = select(*columns, sort_expression.label("sort_key")).where(
        _build_event_condition(), *_build_filter_conditions(shape.indexed_filters, ITEM_TABLE.c)
    )
    if shape.has_cursor:
        query = query.where(_build_cursor_condition(shape, sort_expression, ITEM_TABLE.c.id))
    query = query.order_by(*_build_order_by(shape, sort_expression, ITEM_TABLE.c.id)).limit(_number_sql(row_count))
    return query.offset(_number_sql(offset)) if offset else query


def _sort_rows(query: Select[object], rows: FromClause, shape: QueryShape) -> Select[Any]:
    return query.order_by(*_build_order_by(shape, rows.c.sort_key, rows.c.id))


def _build_order_by(
    shape: QueryShape, key: ColumnElement[object], id: ColumnElement[object]
) -> list[ColumnElement[Any]]:
    # No two items of an event share a SKU, and the index of SKUs is in no other order.
    keys = [key] if shape.sort_name == "sku" else [key, id]
    return [key.desc() for key in keys] if shape.sort.startswith("-") else keys


def _build_cursor_condition(
    shape: QueryShape, key: ColumnElement[object], id: ColumnElement[object]
) -> ColumnElement[bool]:
    last_key = bindparam("last_key", type_=SORTS[shape.sort_name].type)
    row_key, cursor_key = (
        (key, last_key)
        if shape.sort_name == "sku"
        else (tuple_(key, id), tuple_(last_key, bindparam("last_id", type_=String)))
    )
    return row_key < cursor_key if shape.sort.startswith("-") else row_key > cursor_key


def _build_filter_conditions(names: Iterable[str], columns: object) -> list[ColumnElement[bool]]:
    return [build_condition(name, _build_parameter(name), columns) for name in sorted(names)]


def _build_parameter(name: str) -> Any:
    if name in ITEM_TABLE.c and name != "sku":
        return bindparam(name, type_=ITEM_TABLE.c[name].type)
    return bindparam(name, type_=ITEM_TABLE.c.expiry_date.type if name == "expiring_before" else None)


def _build_event_condition() -> ColumnElement[bool]:
    return ITEM_TABLE.c.event_id == EVENT_PARAMETER


def _number_sql(value: int) -> Any:
    """A number that stands in the text: as a parameter it would keep PostgreSQL from making one plan for all."""
    return literal_column(str(value), Integer)


def _owned_page_sql(shape: QueryShape, page: Select[object]) -> str:
    direction = " DESC" if shape.sort.startswith("-") else ""
    return (
        f"{OWNED_PAGE_SQL.format(page=driver_sql(page))} ORDER BY p.fits DESC, p.sort_key{direction}, p.id{direction}"
    )
