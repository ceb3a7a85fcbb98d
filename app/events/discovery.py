"""What the public can look for: filters, sorts and pages of discovery.

The driver runs statements that were compiled before (pages.py): columns, not entities. A search looks among the
soonest events first, and only when those do not fill the page asks the index of words, whose price grows with how
common each word is (docs/decisions/event-search.md).
"""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Double, literal_column

from app.core.clock import utcnow
from app.core.db import Timestamp, fetch_rows
from app.core.replica_routing import may_be_stale
from app.events import search
from app.events.discovery_sql import Window, discovery_query
from app.events.filters import active_filters
from app.events.visibility import IN_LISTS

# What a page goes on after, by its sort: what cursors carry.
KEYS: dict[str, ColumnElement[Any]] = {
    "startsAt": literal_column("starts_at", Timestamp),
    "relevance": literal_column("rank", Double),
    "distance": literal_column("km", Double),
}
SORTS = tuple(KEYS)
# How far a search looks before it asks the index of words: a word of one event in thirty fills a page from the first,
# one of a hundred from the second, and one that is not among the first at all is rare.
NEAR = (600, 3000)
WIRE = ("id", "name", "city", "venue", "startsAt", "coverImageUrl", "isCashless")


@dataclass(frozen=True)
class DiscoveryPage:
    """A page of summaries as they go out, and the key after which the next page starts."""

    events: list[dict[str, Any]]
    after: tuple[Any, str] | None


@may_be_stale("events")
def discover(*, sort: str, limit: int, after: tuple[Any, str] | None = None, **filters: Any) -> DiscoveryPage:
    """A page of what the public finds: events that are coming or running, or those that start from `since` on."""
    values = active_filters(filters)
    if values is None:
        return DiscoveryPage([], None)
    sort = "startsAt" if sort == "relevance" and "q" not in values else sort
    names = frozenset(values)
    if after is not None:
        values["after_key"], values["after_id"] = after
    rows = _fetch_rows(names, sort, limit + 1, values)
    events = [dict(zip(WIRE, row, strict=False)) for row in rows[:limit]]
    # Times are kept to the millisecond, so the start that is shown is the start that sorts; other keys stand last.
    key = WIRE.index("startsAt") if sort == "startsAt" else -1
    return DiscoveryPage(events, (rows[limit - 1][key], rows[limit - 1][0]) if len(rows) > limit else None)


@may_be_stale("events")
def suggestions(q: str) -> list[str]:
    """Names of public events whose words come near those of `q`: for when nothing was found."""
    words = search.words_of(q)
    rows: Any = []
    for length in (5, 4, 3):
        beginnings = " | ".join(f"'{word[:length]}':*" for word in words if len(word) >= length)
        rows = fetch_rows(_NEAR, {"q": beginnings}, prepare=False) if beginnings else []
        if rows:
            break
    rows = rows or fetch_rows(_SOONEST, {})
    return search.near(words, rows)


def _fetch_rows(names: frozenset[str], sort: str, most: int, values: dict[str, Any]) -> list[Any]:
    window = _window(sort, values)
    if "q" not in names:
        return fetch_rows(discovery_query(names, sort, most, window), values)
    for near in NEAR if sort == "startsAt" else ():
        rows: list[Any] = fetch_rows(discovery_query(names, sort, most, replace(window, near=near)), values)
        if len(rows) == most:
            return rows
        if not rows:
            break
    # How common the words are decides the plan, so this one is planned afresh each time.
    return fetch_rows(discovery_query(names, sort, most, window), values, prepare=False)


def _window(sort: str, values: dict[str, Any]) -> Window:
    """Where a page starts. By start date the later of `since` and the cursor's key counts, so that the index is
    entered at one place. This process's clock only chooses the index; the statement compares by the database's."""
    start, key = values.get("since"), values.get("after_key")
    if sort != "startsAt":
        return Window(since=start is not None, after=key is not None)
    if key is not None and key >= (start or utcnow()):
        return Window(since=False, after=True, upcoming=False)
    return Window(since=start is not None, after=key is not None and start is None)


_CANDIDATES = f"SELECT name, search_text FROM event WHERE {IN_LISTS} AND starts_at >= now()"
_NEAR = f"{_CANDIDATES} AND search @@ to_tsquery('simple', %(q)s) LIMIT 200"
_SOONEST = f"{_CANDIDATES} ORDER BY starts_at, id LIMIT 200"
