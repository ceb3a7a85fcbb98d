"""Pages of an event's stock: how far is looked for a page, so that it costs the same among a thousand items and among
a million (see docs/decisions/stock-lists.md)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.accounts.caller import Caller
from app.core.db import fetch_row, fetch_rows
from app.core.errors import NotFound
from app.core.paging import Page
from app.events.queries import READS
from app.inventory import item_list_sql, item_search
from app.inventory.filters import is_indexed, is_word_filter, normalize_filters
from app.inventory.item_list_sql import SORTS, QueryShape
from app.inventory.serializers import ITEM_JSON_KEYS

__all__ = ["SORTS", "list_items", "list_items_of_event"]

# For each row of a page so many items are looked at: what one item in thirty is fills it, then what one in 150 is.
SCANNED_PER_ROW, SECOND_SCAN_FACTOR = 30, 5
# So many items with a word are sorted, for more the list is walked: so far at first, and then to its end.
RARE_WORD_COUNT, LONG_SCAN = 5000, 50_000
# What no index finds is looked for among so many items; then the page comes short, and the next one goes on.
UNINDEXED_SCAN = 5000
CursorKey = tuple[Any, str]


class _ScanResult(NamedTuple):
    """What a statement found, and where it stopped before the end."""

    hits: list[tuple[Any, ...]]
    stop_key: CursorKey | None


def list_items(
    caller: Caller,
    event_id: str,
    *,
    sort: str,
    limit: int,
    after: CursorKey | None,
    with_total: bool,
    **filters: object,
) -> Page:
    """A page of the items that match, as they go out. Raises NotFound."""
    scope = {"event": event_id, "caller": caller.id, "all": caller.has_tier(READS)}
    return _load_page(scope, filters, sort=sort, limit=limit, after=after, with_total=with_total)


def list_items_of_event(
    event_id: str, filters: Mapping[str, object], *, sort: str, limit: int, after: CursorKey | None
) -> Page:
    """The same for anyone who has been let in already."""
    scope = {"event": event_id, "caller": None, "all": True}
    return _load_page(scope, filters, sort=sort, limit=limit, after=after, with_total=False)


def _load_page(
    scope: dict[str, Any],
    filters: Mapping[str, Any],
    *,
    sort: str,
    limit: int,
    after: CursorKey | None,
    with_total: bool,
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


def _count_items(shape: QueryShape, params: Mapping[str, object]) -> int:
    row = fetch_row(
        item_list_sql.count_sql(shape.filter_names, _select_rare_words(shape.filter_names, params)),
        params,
        prepare=False,
    )
    return int(row[0]) if row else 0


def _find_rows(shape: QueryShape, params: Mapping[str, object]) -> _ScanResult:
    if not shape.remaining_filters:
        return _run_statement(item_list_sql.index_sql(shape), params, prepare=None)
    if "sku" in shape.filter_names:
        return _run_statement(item_list_sql.search_sql(shape, frozenset({"sku"})), params)
    if not all(map(is_indexed, shape.remaining_filters)):
        return _run_statement(item_list_sql.scan_sql(shape, UNINDEXED_SCAN), params)
    scan_length = SCANNED_PER_ROW * shape.row_limit
    result = _run_statement(item_list_sql.scan_sql(shape, scan_length), params)
    if result.stop_key and SECOND_SCAN_FACTOR * len(result.hits) >= shape.row_limit:
        result = _run_statement(item_list_sql.scan_sql(shape, SECOND_SCAN_FACTOR * scan_length), params)
    return _find_distant_rows(shape, params) if result.stop_key else result


def _find_distant_rows(shape: QueryShape, params: Mapping[str, object]) -> _ScanResult:
    """What does not stand near is rare, or stands together: rare words and other values are asked of their own index,
    and common words are walked to."""
    other_filters = frozenset(name for name in shape.filter_names if not is_word_filter(name))
    rare_words = _select_rare_words(shape.filter_names, params)
    if not rare_words and shape.remaining_filters.isdisjoint(other_filters):
        result = _run_statement(item_list_sql.scan_sql(shape, LONG_SCAN), params)
        return (
            _run_statement(item_list_sql.scan_sql(shape, item_list_sql.FULL_SCAN), params)
            if result.stop_key
            else result
        )
    return _run_statement(item_list_sql.search_sql(shape, rare_words or other_filters), params)


def _select_rare_words(filter_names: frozenset[str], params: Mapping[str, Any]) -> frozenset[str]:
    """The words among the filters that few items of the event have."""
    word_filters = frozenset(filter(is_word_filter, filter_names))
    counts = (
        item_search.estimate_word_counts(params["event"], [params[name] for name in word_filters])
        if word_filters
        else {}
    )
    return frozenset(name for name in word_filters if counts[params[name]] <= RARE_WORD_COUNT)


def _run_statement(statement: str, params: Mapping[str, object], *, prepare: bool | None = False) -> _ScanResult:
    """What a statement finds. Each is planned for its values, because events and what they hold are so unlike, unless
    there is but one way to go."""
    rows = fetch_rows(statement, params, prepare=prepare)
    if not rows:
        raise NotFound()
    hits = [row[1:] for row in rows if row[0]]
    return _ScanResult(hits, next(((row[-1], row[1]) for row in rows if row[0] is False), None))
