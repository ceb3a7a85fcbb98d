"""Pages of an event's stock: how far is looked for a page, so that it costs the same among a thousand items and among
a million (see docs/decisions/stock-lists.md)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.accounts.caller import Caller
from app.core.db import fetch_row, fetch_rows
from app.core.errors import NotFound
from app.core.paging import Page
from app.events.queries import READS
from app.inventory import finding, pages
from app.inventory.filters import given, indexed, is_word
from app.inventory.pages import SORTS, Shape
from app.inventory.shown import WIRE

__all__ = ["SORTS", "listed", "page"]

# For each row of a page so many items are looked at: what one item in thirty is fills it, then what one in 150 is.
NEAR, FURTHER = 30, 5
# So many items with a word are sorted, for more the list is walked: so far at first, and then to its end.
RARE, LONG = 5000, 50_000
# What no index finds is looked for among so many items; then the page comes short, and the next one goes on.
FAR = 5000
Key = tuple[Any, str]


class _Looked(NamedTuple):
    """What a statement found, and where it stopped before the end."""

    hits: list[tuple[Any, ...]]
    stopped: Key | None


def listed(
    caller: Caller, event_id: str, *, sort: str, limit: int, after: Key | None, with_total: bool, **asked: Any
) -> Page:
    """A page of the items that match, as they go out. Raises NotFound."""
    whose = {"event": event_id, "caller": caller.id, "all": caller.has_tier(READS)}
    return _page(whose, asked, sort=sort, limit=limit, after=after, with_total=with_total)


def page(event_id: str, asked: Mapping[str, Any], *, sort: str, limit: int, after: Key | None) -> Page:
    """The same for whoever has been let in already."""
    whose = {"event": event_id, "caller": None, "all": True}
    return _page(whose, asked, sort=sort, limit=limit, after=after, with_total=False)


def _page(
    whose: dict[str, Any], asked: Mapping[str, Any], *, sort: str, limit: int, after: Key | None, with_total: bool
) -> Page:
    filters = given(asked)
    if filters is None:
        _asked(pages.NOTHING, whose)
        return Page([], limit, None, 0 if with_total else None)
    shape = Shape(frozenset(filters), sort, after is not None, limit + 1)
    last = {} if after is None else {"last_key": after[0], "last_id": after[1]}
    values = {**whose, **last, **filters}
    looked = _looked(shape, values)
    hits = looked.hits[:limit]
    counted = _total(shape, values) if with_total else None
    following = (hits[-1][-1], hits[-1][0]) if len(looked.hits) > limit else looked.stopped
    rows = [dict(zip(WIRE, row, strict=False)) for row in hits]
    return Page(rows, limit, following, counted)


def _total(shape: Shape, values: Mapping[str, Any]) -> int:
    counted = fetch_row(pages.total(shape.names, _rare(shape.names, values)), values, prepare=False)
    return int(counted[0]) if counted else 0


def _looked(shape: Shape, values: Mapping[str, Any]) -> _Looked:
    if not shape.rest:
        return _asked(pages.exact(shape), values, prepare=None)
    if "sku" in shape.names:
        return _asked(pages.found(shape, frozenset({"sku"})), values)
    if not all(map(indexed, shape.rest)):
        return _asked(pages.walk(shape, FAR), values)
    near = NEAR * shape.most
    looked = _asked(pages.walk(shape, near), values)
    if looked.stopped and FURTHER * len(looked.hits) >= shape.most:
        looked = _asked(pages.walk(shape, FURTHER * near), values)
    return _elsewhere(shape, values) if looked.stopped else looked


def _elsewhere(shape: Shape, values: Mapping[str, Any]) -> _Looked:
    """What does not stand near is rare, or stands together: rare words and other values are asked of their own index,
    and common words are walked to."""
    others = frozenset(name for name in shape.names if not is_word(name))
    rare = _rare(shape.names, values)
    if not rare and shape.rest.isdisjoint(others):
        looked = _asked(pages.walk(shape, LONG), values)
        return _asked(pages.walk(shape, pages.WHOLE), values) if looked.stopped else looked
    return _asked(pages.found(shape, rare or others), values)


def _rare(names: frozenset[str], values: Mapping[str, Any]) -> frozenset[str]:
    """The words among the filters that few items of the event have."""
    words = frozenset(filter(is_word, names))
    counts = finding.counts(values["event"], [values[name] for name in words]) if words else {}
    return frozenset(name for name in words if counts[values[name]] <= RARE)


def _asked(statement: str, values: Mapping[str, Any], *, prepare: bool | None = False) -> _Looked:
    """What a statement finds. Each is planned for its values, because events and what they hold are so unlike, unless
    there is but one way to go."""
    rows = fetch_rows(statement, values, prepare=prepare)
    if not rows:
        raise NotFound()
    hits = [row[1:] for row in rows if row[0]]
    return _Looked(hits, next(((row[-1], row[1]) for row in rows if row[0] is False), None))
