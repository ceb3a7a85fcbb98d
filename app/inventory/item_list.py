"""Pages of the item list, which cost the same for a thousand items and for a million.

A page is read in the order of the list from an index, and the filters that this index does not answer are checked on a
limited number of items. Only when that does not fill the page are the matching items found by their own indexes and
sorted. See docs/decisions/stock-lists.md.
"""

from collections.abc import Mapping
from typing import NamedTuple, Unpack, cast

from app.accounts.caller import Caller
from app.core.db import DriverRow, fetch_row, fetch_rows
from app.core.errors import NotFound
from app.core.paging import Page, SortKey
from app.events.queries import ownership_params
from app.inventory import item_list_sql
from app.inventory.filters import IN_USE, Filters, is_indexed, is_word_filter, normalize_filters
from app.inventory.item_fields import ItemFilters
from app.inventory.item_list_sql import SORTS, QueryShape
from app.inventory.serializers import ITEM_JSON_KEYS

__all__ = ["SORTS", "list_items", "list_items_of_event"]

SCANNED_PER_ROW, SECOND_SCAN_FACTOR = 30, 5
"""Items scanned for each row of a page: a match in thirty fills the page, and in the second scan one in 150."""
WORD_SCAN = 10_000
"""Items in the second scan when only words are searched: it reads the index alone, 0.3 µs for each item."""
UNINDEXED_SCAN = 5000
"""Items scanned for a filter without an index. The page may then be short; the next one continues after them."""
Parameters = Mapping[str, object]


class _ScanResult(NamedTuple):
    """The rows that a statement found, and the key of the last item it scanned unless it reached the end."""

    hits: list[DriverRow]
    stop_key: SortKey | None


def list_items(
    caller: Caller,
    event_id: str,
    *,
    sort: str,
    limit: int,
    after: SortKey | None,
    with_total: bool,
    **filters: Unpack[ItemFilters],
) -> Page:
    """Return a page of the matching items as JSON. Raises NotFound."""
    scope = {"event": event_id, **ownership_params(caller)}
    return _load_page(scope, cast(Filters, filters), sort=sort, limit=limit, after=after, with_total=with_total)


def list_items_of_event(event_id: str, filters: Filters, *, sort: str, limit: int, after: SortKey | None) -> Page:
    """Return a page like `list_items`, without a check of access."""
    scope = {"event": event_id, "is_admin": True, "event_scope": "{}"}
    return _load_page(scope, filters, sort=sort, limit=limit, after=after, with_total=False)


def _load_page(
    scope: Parameters, filters: Filters, *, sort: str, limit: int, after: SortKey | None, with_total: bool
) -> Page:
    filter_values = normalize_filters(filters)
    if filter_values is None:
        _run_statement(item_list_sql.EMPTY_PAGE_SQL, scope)
        return Page([], limit, None, 0 if with_total else None)
    shape = QueryShape(frozenset(filter_values), sort, after is not None, limit + 1)
    cursor = {} if after is None else {"last_key": after[0], "last_id": after[1]}
    params = {**scope, **cursor, **filter_values}
    result = _find_rows(shape, params)
    hits = result.hits[:limit]
    total = _count_items(shape, params) if with_total else None
    next_key = (hits[-1][-1], hits[-1][0]) if len(result.hits) > limit else result.stop_key
    rows = [dict(zip(ITEM_JSON_KEYS, row, strict=False)) for row in hits]
    return Page(rows, limit, next_key, total)


def _count_items(shape: QueryShape, params: Parameters) -> int:
    row = fetch_row(item_list_sql.count_sql(shape.filter_names), params, prepare=False)
    return int(row[0]) if row else 0


def _find_rows(shape: QueryShape, params: Parameters) -> _ScanResult:
    if not shape.remaining_filters:
        return _run_statement(item_list_sql.index_sql(shape), params, prepare=None)
    if "sku" in shape.filter_names:
        return _run_statement(item_list_sql.search_sql(shape, frozenset({"sku"})), params)
    if not all(map(is_indexed, shape.remaining_filters - {IN_USE})):
        return _run_statement(item_list_sql.scan_sql(shape, UNINDEXED_SCAN), params)
    scan_length = SCANNED_PER_ROW * shape.row_limit
    result = _run_statement(item_list_sql.scan_sql(shape, scan_length), params)
    if result.stop_key and all(map(is_word_filter, shape.filter_names - {IN_USE})):
        result = _run_statement(item_list_sql.scan_sql(shape, max(WORD_SCAN, scan_length)), params)
    elif result.stop_key and SECOND_SCAN_FACTOR * len(result.hits) >= shape.row_limit:
        result = _run_statement(item_list_sql.scan_sql(shape, SECOND_SCAN_FACTOR * scan_length), params)
    if result.stop_key is None:
        return result
    return _run_statement(item_list_sql.search_sql(shape, frozenset(filter(is_indexed, shape.filter_names))), params)


def _run_statement(statement: str, params: Parameters, *, prepare: bool | None = False) -> _ScanResult:
    """Run a statement, planned for its parameters by default: events and their filter values differ too much.

    Raises NotFound when it returns no row, because the caller does not see the event.
    """
    rows = fetch_rows(statement, params, prepare=prepare)
    if not rows:
        raise NotFound()
    hits = [row[1:] for row in rows if row[0]]
    return _ScanResult(hits, next(((row[-1], row[1]) for row in rows if row[0] is False), None))
