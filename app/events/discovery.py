"""The public list and search of events: one page at a time, and suggestions when nothing matches.

A search by date looks among the soonest events first. Only when those do not fill the page it reads the search index,
whose cost grows with how common each word is (docs/decisions/event-search.md).
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Double, literal_column

from app.core.clock import utcnow
from app.core.db import Timestamp, fetch_rows
from app.core.replica import may_be_stale
from app.events import search_words
from app.events.discovery_sql import (
    SIMILAR_NAMES,
    SOONEST_NAMES,
    EventFilters,
    FilterValue,
    Window,
    discovery_query,
    filter_values,
)
from app.events.public_events import JsonObject, serialize_summary

CursorKey = tuple[datetime | float | str, str]
"""The sort key and the id of the last event of a page."""
CURSOR_COLUMNS: dict[str, ColumnElement[Any]] = {
    "starts_at": literal_column("starts_at", Timestamp),
    "-starts_at": literal_column("starts_at", Timestamp),
    "relevance": literal_column("rank", Double),
    "distance": literal_column("km", Double),
}
SORTS = tuple(CURSOR_COLUMNS)
# How many of the soonest events a search reads before it reads the search index. A word of one event in thirty fills a
# page from the first number, a word of one in a hundred from the second; a word without a match in the first is rare.
NEAR = (600, 3000)
START_COLUMN = 4


@dataclass(frozen=True)
class DiscoveryPage:
    """The rows of a page, and the key after which the next page starts."""

    rows: list[tuple[Any, ...]]
    after: CursorKey | None

    @property
    def summaries(self) -> list[JsonObject]:
        """The events as JSON."""
        return [serialize_summary(row) for row in self.rows]

    @property
    def entries(self) -> list["EventEntry"]:
        """The events as the page of a list shows them."""
        return [EventEntry(*row[: len(EventEntry._fields)]) for row in self.rows]


class EventEntry(NamedTuple):
    """An event in a list, in the order of the columns; the start is a time as text."""

    id: str
    name: str
    city: str
    venue: str
    start: str
    cover_image_url: str
    is_cashless: bool
    slug: str
    timezone: str
    ends_at: datetime

    @property
    def starts_at(self) -> datetime:
        return datetime.fromisoformat(self.start)


@may_be_stale("events")
def discover(*, sort: str, limit: int, after: CursorKey | None = None, filters: EventFilters) -> DiscoveryPage:
    """A page of listed events that are upcoming or running, or that start from `filters.since` on."""
    values = filter_values(filters)
    if values is None:
        return DiscoveryPage([], None)
    sort = "starts_at" if sort == "relevance" and filters.q is None else sort
    names = frozenset(values)
    if after is not None:
        values["after_key"], values["after_id"] = after
    window = _choose_window(sort, filters.since, after)
    rows = _fetch_page(names, sort, limit + 1, window, values)
    # Times are stored to the millisecond, so the start in the JSON is the start that sorts. Other keys are last.
    key = START_COLUMN if sort.endswith("starts_at") else -1
    return DiscoveryPage(rows[:limit], (rows[limit - 1][key], rows[limit - 1][0]) if len(rows) > limit else None)


@may_be_stale("events")
def suggestions(q: str) -> list[str]:
    """Names of listed events with words similar to those of `q`."""
    words = search_words.words_of(q)
    rows: list[tuple[Any, ...]] = []
    for length in (5, 4, 3):
        beginnings = " | ".join(f"'{word[:length]}':*" for word in words if len(word) >= length)
        rows = fetch_rows(SIMILAR_NAMES, {"q": beginnings}, prepare=False) if beginnings else []
        if rows:
            break
    return search_words.similar_names(words, rows or fetch_rows(SOONEST_NAMES, {}))


def _fetch_page(
    names: frozenset[str], sort: str, row_count: int, window: Window, values: dict[str, FilterValue]
) -> list[tuple[Any, ...]]:
    if "q" not in names:
        return fetch_rows(discovery_query(names, sort, row_count, window), values)
    for near in NEAR if sort == "starts_at" else ():
        rows = fetch_rows(discovery_query(names, sort, row_count, replace(window, near=near)), values)
        if len(rows) == row_count:
            return rows
        if not rows:
            break
    # The plan depends on how common the words are, so this statement is planned each time.
    return fetch_rows(discovery_query(names, sort, row_count, window), values, prepare=False)


def _choose_window(sort: str, since: datetime | None, after: CursorKey | None) -> Window:
    """Where a page starts. By start the later of `since` and the cursor's key counts, so that the index is read from
    one place. This process's clock only chooses the index; the statement compares by the database's clock."""
    if sort != "starts_at":
        return Window(since=since is not None, after=after is not None)
    if after is not None and isinstance(after[0], datetime) and after[0] >= (since or utcnow()):
        return Window(since=False, after=True, upcoming=False)
    return Window(since=since is not None, after=after is not None and since is None)
