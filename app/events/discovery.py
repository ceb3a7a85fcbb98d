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
    make_url,
    select,
    tuple_,
    union_all,
)

from app.core.clock import utcnow
from app.core.db import fetch_rows
from app.events import search
from app.events.filters import DISTANCE_KM, MATCHES, NEARNESS, conditions, given
from app.events.models import Event
from app.events.visibility import IN_LISTS, in_lists

SORTS = ("startsAt", "relevance", "distance")
# Relevance and distance are sorted among so many candidates: the soonest, or the nearest.
CANDIDATES: Any = literal_column("1000", Integer)
WIRE = ("id", "name", "city", "venue", "startsAt", "coverImageUrl", "isCashless")
DIALECT = make_url("postgresql+psycopg://").get_dialect()()
NOW = bindparam("now", type_=DateTime(timezone=True))
ROWS = bindparam("rows", type_=Integer)
SINCE = bindparam("since", type_=DateTime(timezone=True))
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


def discover(*, sort: str, limit: int, after: tuple[Any, str] | None = None, **filters: Any) -> Found:
    """A page of what the public finds: events that are coming or running, or those that start from `since` on."""
    values = given(filters)
    if values is None:
        return Found([], None)
    sort = "startsAt" if sort == "relevance" and "q" not in values else sort
    names = frozenset(values)
    values |= {"now": utcnow(), "rows": limit + 1}
    if after is not None:
        values["after_key"], values["after_id"] = after
    # How common the words are decides the plan, so a search is planned afresh each time.
    rows = fetch_rows(statement(names, sort, after is not None), values, prepare=False if "q" in values else None)
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


@lru_cache(maxsize=512)
def statement(names: frozenset[str], sort: str, goes_on: bool) -> str:
    """The SQL for a page with these filters, in this order, from the start or after a key."""
    if sort == "startsAt":
        return compiled(_by_start(names, goes_on))
    candidates = _nearest(names) if sort == "distance" else _soonest(names)
    key = candidates.c.sort_key
    page = select(candidates)
    if goes_on:
        page = page.where(tuple_(key, candidates.c.id) > tuple_(_after(Double()), bindparam("after_id", type_=String)))
    return compiled(page.order_by(key, candidates.c.id).limit(ROWS))


def compiled(query: Any) -> str:
    """The text that the driver takes, with its parameters by name."""
    return str(query.compile(dialect=DIALECT))


def _by_start(names: frozenset[str], goes_on: bool) -> Select[Any]:
    branches = [each.add_columns(Event.starts_at) for each in _branches(names)]
    if goes_on:
        key = tuple_(_after(DateTime(timezone=True)), bindparam("after_id", type_=String))
        branches = [each.where(tuple_(Event.starts_at, Event.id) > key) for each in branches]
    merged = _merged([each.order_by(Event.starts_at, Event.id).limit(ROWS) for each in branches])
    shown = [each for each in merged.c if each.key != "starts_at"]
    return select(*shown).order_by(merged.c.starts_at, merged.c.id).limit(ROWS)


def _soonest(names: frozenset[str]) -> Subquery:
    """The soonest matches with their rank, the best one lowest."""
    rank = (-func.ts_rank(Event.search, MATCHES)).cast(Double).label("sort_key")
    branches = [each.add_columns(rank) for each in _branches(names)]
    return _merged([each.order_by(Event.starts_at, Event.id).limit(CANDIDATES) for each in branches])


def _nearest(names: frozenset[str]) -> Subquery:
    query = select(*SUMMARY, DISTANCE_KM.label("sort_key")).where(in_lists(), *conditions(names), *_window(names))
    return query.order_by(NEARNESS).limit(CANDIDATES).subquery()


def _branches(names: frozenset[str]) -> list[Select[Any]]:
    base = select(*SUMMARY).where(in_lists(), *conditions(names))
    if "since" in names:
        return [base.where(Event.starts_at >= SINCE)]
    running = func.tstzrange(Event.starts_at, Event.ends_at).op("@>")(NOW)
    return [base.where(Event.starts_at < NOW, running), base.where(Event.starts_at >= NOW)]


def _window(names: frozenset[str]) -> list[ColumnElement[bool]]:
    return [Event.starts_at >= SINCE if "since" in names else Event.ends_at > NOW]


def _merged(branches: list[Select[Any]]) -> Subquery:
    return branches[0].subquery() if len(branches) == 1 else union_all(*branches).subquery()


def _after(kind: Any) -> ColumnElement[Any]:
    return bindparam("after_key", type_=kind)


_CANDIDATES = f"SELECT name, search_text FROM event WHERE {IN_LISTS} AND starts_at >= %(now)s"
_NEAR = f"{_CANDIDATES} AND search @@ to_tsquery('simple', %(q)s) LIMIT 200"
_SOONEST = f"{_CANDIDATES} ORDER BY starts_at, id LIMIT 200"
