"""What the public can look for: filters, sorts and pages of discovery.

A statement is built and compiled once for each combination of filters, and the driver runs it: columns, not
entities. Upcoming events come from an index in the order of their start; what is running already comes from an
index of its own. So a page costs the same among a thousand events and among a million.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    DateTime,
    Double,
    Integer,
    Select,
    String,
    Subquery,
    bindparam,
    func,
    literal_column,
    select,
    tuple_,
    union_all,
)

from app.core.clock import utcnow
from app.core.db import compiled, fetch_rows
from app.events import search
from app.events.filters import DISTANCE_KM, MATCHES, NEARNESS, conditions, given
from app.events.models import Event
from app.events.visibility import IN_LISTS, in_lists

# What a page goes on after, by its sort: what cursors carry.
KEYS: dict[str, ColumnElement[Any]] = {
    "startsAt": literal_column("starts_at", DateTime(timezone=True)),
    "relevance": literal_column("rank", Double),
    "distance": literal_column("km", Double),
}
SORTS = tuple(KEYS)
# Relevance and distance are sorted among so many candidates: the soonest, or the nearest.
CANDIDATES: Any = literal_column("1000", Integer)
WIRE = ("id", "name", "city", "venue", "startsAt", "coverImageUrl", "isCashless")
STARTS_AT = func.to_char(
    func.timezone(literal_column("'UTC'"), Event.starts_at), literal_column('\'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\'')
)
SUMMARY = (
    Event.id,
    Event.name,
    Event.city,
    Event.venue,
    STARTS_AT.label("starts"),
    func.coalesce(Event.cover_image_url, literal_column("''")).label("cover"),
    Event.is_cashless,
)


@dataclass(frozen=True)
class Found:
    """A page of summaries as they go out, and the key after which the next page starts."""

    events: list[dict[str, Any]]
    after: tuple[Any, str] | None


@dataclass(frozen=True)
class Window:
    """Where a page starts: at `since`, after a cursor's key, or with what is running; `upcoming`: at one place only."""

    since: bool
    after: bool
    upcoming: bool = True


@dataclass(frozen=True)
class Moments:
    """Times as parameters. Opaque ones stand in a subquery, which keeps PostgreSQL from planning for their values:
    one plan serves every moment, and planning would cost four times what the page does."""

    opaque: bool

    def __call__(self, name: str) -> ColumnElement[Any]:
        return self._hidden(bindparam(name, type_=DateTime(timezone=True)))

    def after(self) -> Any:
        """The key of the last row of the page before."""
        return tuple_(self("after_key"), self._hidden(bindparam("after_id", type_=String)))

    def _hidden(self, parameter: ColumnElement[Any]) -> ColumnElement[Any]:
        return select(parameter).scalar_subquery() if self.opaque else parameter


def discover(*, sort: str, limit: int, after: tuple[Any, str] | None = None, **filters: Any) -> Found:
    """A page of what the public finds: events that are coming or running, or those that start from `since` on."""
    values = given(filters)
    if values is None:
        return Found([], None)
    sort = "startsAt" if sort == "relevance" and "q" not in values else sort
    names = frozenset(values)
    values["now"] = utcnow()
    if after is not None:
        values["after_key"], values["after_id"] = after
    text = statement(names, sort, limit + 1, _window(sort, values))
    # How common the words are decides the plan, so a search is planned afresh each time.
    rows = fetch_rows(text, values, prepare=False if "q" in names else None)
    events = [dict(zip(WIRE, row, strict=False)) for row in rows[:limit]]
    # Times are kept to the millisecond, so the start that is shown is the start that sorts; other keys stand last.
    key = WIRE.index("startsAt") if sort == "startsAt" else -1
    return Found(events, (rows[limit - 1][key], rows[limit - 1][0]) if len(rows) > limit else None)


def suggestions(q: str) -> list[str]:
    """Names of public events whose words come near those of `q`: for when nothing was found."""
    words = search.words_of(q)
    rows: Any = []
    for length in (5, 4, 3):
        beginnings = " | ".join(f"'{word[:length]}':*" for word in words if len(word) >= length)
        rows = fetch_rows(_NEAR, {"q": beginnings, "now": utcnow()}, prepare=False) if beginnings else []
        if rows:
            break
    rows = rows or fetch_rows(_SOONEST, {"now": utcnow()})
    return search.near(words, rows)


def _window(sort: str, values: dict[str, Any]) -> Window:
    """Where a page starts. By start date the later of `since` and the cursor's key counts, so that the index is
    entered at one place."""
    start, key = values.get("since"), values.get("after_key")
    if sort != "startsAt":
        return Window(since=start is not None, after=key is not None)
    if key is not None and key >= (start or values["now"]):
        return Window(since=False, after=True, upcoming=False)
    return Window(since=start is not None, after=key is not None and start is None)


@lru_cache(maxsize=1024)
def statement(names: frozenset[str], sort: str, rows: int, window: Window) -> str:
    """The SQL for so many rows with these filters, in this order, from there.

    The number of rows stands in the text: as a parameter it would keep PostgreSQL from making one plan for all.
    """
    most = literal_column(str(rows), Integer)
    moments = Moments(opaque="q" not in names)
    if sort == "startsAt":
        return compiled(_by_start(names, most, window, moments))
    candidates = _nearest(names, window) if sort == "distance" else _soonest(names, window, moments)
    key = candidates.c.sort_key
    page = select(candidates)
    if window.after:
        last = tuple_(bindparam("after_key", type_=Double), bindparam("after_id", type_=String))
        page = page.where(tuple_(key, candidates.c.id) > last)
    return compiled(page.order_by(key, candidates.c.id).limit(most))


def _by_start(names: frozenset[str], most: Any, window: Window, moments: Moments) -> Select[Any]:
    base = select(*SUMMARY, Event.starts_at).where(in_lists(), *conditions(names))
    after = moments.after()
    if not window.upcoming:
        only = base.where(tuple_(Event.starts_at, Event.id) > after)
        merged = only.order_by(Event.starts_at, Event.id).limit(most).subquery()
    elif window.since:
        merged = (
            base.where(Event.starts_at >= moments("since")).order_by(Event.starts_at, Event.id).limit(most).subquery()
        )
    else:
        merged = _running_and_coming(base, most, moments, after if window.after else None)
    shown = [each for each in merged.c if each.key != "starts_at"]
    return select(*shown).order_by(merged.c.starts_at, merged.c.id).limit(most)


def _soonest(names: frozenset[str], window: Window, moments: Moments) -> Subquery:
    """The soonest matches with their rank, the best one lowest."""
    rank = (-func.ts_rank(Event.search, MATCHES)).cast(Double).label("sort_key")
    base = select(*SUMMARY, rank, Event.starts_at).where(in_lists(), *conditions(names))
    if window.since:
        base = base.where(Event.starts_at >= moments("since"))
        merged = base.order_by(Event.starts_at, Event.id).limit(CANDIDATES).subquery()
    else:
        merged = _running_and_coming(base, CANDIDATES, moments, None)
    return select(*(each for each in merged.c if each.key != "starts_at")).subquery()


def _running_and_coming(base: Select[Any], most: Any, moments: Moments, after: Any) -> Subquery:
    """What is running comes from the index of periods, all of it; what is coming from that of starts."""
    period = func.tstzrange(Event.starts_at, Event.ends_at)
    running = base.where(period.op("@>")(moments("now"))).cte("running").prefix_with("MATERIALIZED")
    now = select(running)
    if after is not None:
        now = now.where(tuple_(running.c.starts_at, running.c.id) > after)
    coming = base.where(Event.starts_at > moments("now"))
    return union_all(
        now.order_by(running.c.starts_at, running.c.id).limit(most),
        coming.order_by(Event.starts_at, Event.id).limit(most),
    ).subquery()


def _nearest(names: frozenset[str], window: Window) -> Subquery:
    moments = Moments(opaque=False)
    period = Event.starts_at >= moments("since") if window.since else Event.ends_at > moments("now")
    query = select(*SUMMARY, DISTANCE_KM.label("sort_key")).where(in_lists(), *conditions(names), period)
    return query.order_by(NEARNESS).limit(CANDIDATES).subquery()


_CANDIDATES = f"SELECT name, search_text FROM event WHERE {IN_LISTS} AND starts_at >= %(now)s"
_NEAR = f"{_CANDIDATES} AND search @@ to_tsquery('simple', %(q)s) LIMIT 200"
_SOONEST = f"{_CANDIDATES} ORDER BY starts_at, id LIMIT 200"
