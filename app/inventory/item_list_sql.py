"""The statements of the item list, each compiled once for a combination of filters and an order.

    index_sql    one index gives the order and answers all filters
    scan_sql     an index gives the order, and a limited number of its items is checked for the other filters
    search_sql   the indexes of some filters find all matching items, which are then sorted

Each checks the access to the event: no row at all means that the caller does not see it. docs/decisions/stock-lists.md
gives the reasons.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    String,
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
from app.events.queries import OWNED_EVENT_DRIVER_SQL
from app.inventory.filters import (
    FilterValue,
    build_condition,
    build_word_entry_condition,
    expiry_sql,
    is_word_filter,
    list_filter_columns,
)
from app.inventory.models import FACET_COLUMNS, ITEM_TABLE, AnyColumn, Columns
from app.inventory.serializers import list_json_columns

ItemQuery = Select[*tuple[Any, ...]]
SORTS: dict[str, AnyColumn] = {
    "name": ITEM_TABLE.c.name_key,
    "sku": ITEM_TABLE.c.sku_key,
    "expiryDate": expiry_sql(ITEM_TABLE.c),
}
FILTERS_BY_INDEX: dict[str, list[tuple[str, ...]]] = {
    "name": [("name",), *((facet,) for facet in FACET_COLUMNS), ("low_stock",), ("is_low",), ("archived",)],
    "sku": [("sku",)],
    "expiryDate": [("expiry_date", "expiring_before")],
}
"""The filters that the indexes of each order answer: the first group that the request uses."""
OWNED_PAGE_SQL = f"""
SELECT p.* FROM event e LEFT JOIN LATERAL ({{page}}) p ON true
 WHERE e.id = %(event)s AND {OWNED_EVENT_DRIVER_SQL}"""
EVENT_PARAMETER = bindparam("event", type_=String)
EMPTY_PAGE_SQL = OWNED_PAGE_SQL.format(page="SELECT NULL AS fits WHERE false")


@dataclass(frozen=True)
class QueryShape:
    """The features that the text of a statement depends on: the names of the filters, the order with its sign, whether
    the page starts after a cursor, and the maximum number of rows."""

    filter_names: frozenset[str]
    sort: str
    has_cursor: bool
    row_limit: int

    @property
    def sort_name(self) -> str:
        return self.sort.removeprefix("-")

    @property
    def indexed_filters(self) -> frozenset[str]:
        """The filters that the index of the order answers."""
        return next(
            (
                matching
                for index_filters in FILTERS_BY_INDEX[self.sort_name]
                if (matching := self.filter_names.intersection(index_filters))
            ),
            frozenset(),
        )

    @property
    def sort_expression(self) -> AnyColumn:
        """The sort key, spelt as in the index of the order, so that the planner uses no other index."""
        is_partial = self.sort_name == "name" and self.indexed_filters and "name" not in self.indexed_filters
        return func.lower(ITEM_TABLE.c.name) if is_partial else SORTS[self.sort_name]

    @property
    def remaining_filters(self) -> frozenset[str]:
        return self.filter_names - self.indexed_filters


@lru_cache(maxsize=256)
def index_sql(shape: QueryShape) -> str:
    """Return the statement that reads the matching rows from one index."""
    rows = _index_rows_query(shape, ITEM_TABLE.c, shape.row_limit).subquery("i")
    return _owned_page_sql(shape, select(true().label("fits"), *list_json_columns(rows.c), rows.c.sort_key))


@lru_cache(maxsize=256)
def scan_sql(shape: QueryShape, scan_length: int) -> str:
    """Return the statement that finds the matching rows among the next `scan_length` items.

    When they do not fill the page, one more row with `fits` false has the key of the last scanned item; without that
    row the scan reached the end. The scan reads only the columns of the filters: for words, the index alone.
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
    page_rows = union_all(*parts).limit(_number_sql(shape.row_limit)).subquery("w")
    page = select(page_rows.c.fits, *list_json_columns(ITEM_TABLE.c), page_rows.c.sort_key).join_from(
        page_rows, ITEM_TABLE, ITEM_TABLE.c.id == page_rows.c.id
    )
    return _owned_page_sql(shape, page)


@lru_cache(maxsize=256)
def search_sql(shape: QueryShape, index_filters: frozenset[str]) -> str:
    """Return the statement that finds all matching rows by the indexes of these filters, and sorts them."""
    rows = _search_rows_query(shape, index_filters).offset(_number_sql(0)).subquery("i")
    page = select(true().label("fits"), *list_json_columns(rows.c), rows.c.sort_key)
    if shape.has_cursor:
        page = page.where(_build_cursor_condition(shape, rows.c.sort_key, rows.c.id))
    return _owned_page_sql(shape, _sort_rows(page, rows, shape).limit(_number_sql(shape.row_limit)))


@lru_cache(maxsize=256)
def count_sql(filter_names: frozenset[str]) -> str:
    """Return the statement that counts the matching rows; it finds words by their index."""
    return driver_sql(select(func.count()).where(_build_event_condition(), *_build_indexable_conditions(filter_names)))


def _search_rows_query(shape: QueryShape, index_filters: frozenset[str]) -> ItemQuery:
    """Return all matching rows. A CASE hides the conditions for which the planner must not choose an index."""
    indexable = _build_indexable_conditions(index_filters)
    unindexable = _build_filter_conditions(shape.filter_names - index_filters, ITEM_TABLE.c)
    # The entries of words name the event. Without another filter the index of all items of the event is no help.
    has_only_words = bool(index_filters) and all(map(is_word_filter, index_filters))
    (unindexable if has_only_words else indexable).append(_build_event_condition())
    return select(ITEM_TABLE, shape.sort_expression.label("sort_key")).where(
        *indexable, *(case((clause, true()), else_=false()) for clause in unindexable)
    )


def _build_indexable_conditions(names: frozenset[str]) -> list[ColumnElement[bool]]:
    words = sorted(filter(is_word_filter, names))
    return [
        *(build_word_entry_condition(_build_parameter(name), EVENT_PARAMETER) for name in words),
        *_build_filter_conditions(names.difference(words), ITEM_TABLE.c),
    ]


def _index_rows_query(shape: QueryShape, columns: Iterable[AnyColumn], row_count: int, *, offset: int = 0) -> ItemQuery:
    """Return the next rows of the index that gives the order, with the filters that it answers."""
    sort_expression = shape.sort_expression
    query = select(*columns, sort_expression.label("sort_key")).where(
        _build_event_condition(), *_build_filter_conditions(shape.indexed_filters, ITEM_TABLE.c)
    )
    if shape.has_cursor:
        query = query.where(_build_cursor_condition(shape, sort_expression, ITEM_TABLE.c.id))
    query = query.order_by(*_build_order_by(shape, sort_expression, ITEM_TABLE.c.id)).limit(_number_sql(row_count))
    return query.offset(_number_sql(offset)) if offset else query


def _sort_rows(query: ItemQuery, rows: FromClause, shape: QueryShape) -> ItemQuery:
    return query.order_by(*_build_order_by(shape, rows.c.sort_key, rows.c.id))


def _build_order_by(shape: QueryShape, key: AnyColumn, id: AnyColumn) -> list[AnyColumn]:
    # The SKUs of an event are unique, so their index does not contain the id.
    keys = [key] if shape.sort_name == "sku" else [key, id]
    return [key.desc() for key in keys] if shape.sort.startswith("-") else keys


def _build_cursor_condition(shape: QueryShape, key: AnyColumn, id: AnyColumn) -> ColumnElement[bool]:
    last_key = bindparam("last_key", type_=SORTS[shape.sort_name].type)
    row_key, cursor_key = (
        (key, last_key)
        if shape.sort_name == "sku"
        else (tuple_(key, id), tuple_(last_key, bindparam("last_id", type_=String)))
    )
    return row_key < cursor_key if shape.sort.startswith("-") else row_key > cursor_key


def _build_filter_conditions(names: Iterable[str], columns: Columns) -> list[ColumnElement[bool]]:
    return [build_condition(name, _build_parameter(name), columns) for name in sorted(names)]


def _build_parameter(name: str) -> BindParameter[FilterValue]:
    if name in ITEM_TABLE.c and name != "sku":
        return bindparam(name, type_=ITEM_TABLE.c[name].type)
    return bindparam(name, type_=ITEM_TABLE.c.expiry_date.type if name == "expiring_before" else None)


def _build_event_condition() -> ColumnElement[bool]:
    return ITEM_TABLE.c.event_id == EVENT_PARAMETER


def _number_sql(value: int) -> ColumnElement[int]:
    """Return a number as SQL text: as a parameter it would prevent one plan for all values."""
    return literal_column(str(value), Integer)


def _owned_page_sql(shape: QueryShape, page: ItemQuery) -> str:
    direction = " DESC" if shape.sort.startswith("-") else ""
    return (
        f"{OWNED_PAGE_SQL.format(page=driver_sql(page))} ORDER BY p.fits DESC, p.sort_key{direction}, p.id{direction}"
    )
