"""The statements of discovery, each built and compiled once for a combination of filters, an order and a place.

Upcoming events come from an index in the order of their start; what is running already comes from an index of its
own. So a page costs the same among a thousand events and among a million.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import (
    CTE,
    Boolean,
    Column,
    ColumnElement,
    Double,
    FromClause,
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
from sqlalchemy.sql.visitors import ExternallyTraversible, replacement_traverse

from app.core.db import Timestamp
from app.events.filters import DISTANCE_KM, MATCHES, NEARNESS, conditions
from app.events.models import Event
from app.events.visibility import in_lists

# Relevance and distance are sorted among so many candidates: the soonest, or the nearest.
CANDIDATES: Any = literal_column("1000", Integer)
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
class Window:
    """Where a page starts: at `since`, after a cursor's key, or with what is running; `upcoming`: at one place only.
    With `near` it looks no further than at that many of the soonest events."""

    since: bool
    after: bool
    upcoming: bool = True
    near: int = 0


@dataclass(frozen=True)
class Moments:
    """Times as parameters. Opaque ones stand in a subquery, which keeps PostgreSQL from planning for their values:
    one plan serves every moment, and planning would cost four times what the page does."""

    opaque: bool

    def __call__(self, name: str) -> ColumnElement[Any]:
        return self._hidden(bindparam(name, type_=Timestamp))

    def now(self) -> ColumnElement[Any]:
        """The time by the database's clock."""
        return self._hidden(func.now())

    def after(self) -> Any:
        """The key of the last row of the page before."""
        return tuple_(self("after_key"), self._hidden(bindparam("after_id", type_=String)))

    def _hidden(self, parameter: ColumnElement[Any]) -> ColumnElement[Any]:
        return select(parameter).scalar_subquery() if self.opaque else parameter


@lru_cache(maxsize=1024)
def discovery_query(names: frozenset[str], sort: str, rows: int, window: Window) -> Select[Any]:
    """The SQL for so many rows with these filters, in this order, from there.

    The number of rows stands in the text: as a parameter it would keep PostgreSQL from making one plan for all.
    """
    most = literal_column(str(rows), Integer)
    moments = Moments(opaque="q" not in names or window.near > 0)
    if sort == "startsAt":
        return _by_start(names, most, window, moments)
    candidates = _nearest(names, window) if sort == "distance" else _soonest(names, window, moments)
    key = candidates.c.sort_key
    page = select(candidates)
    if window.after:
        last = tuple_(bindparam("after_key", type_=Double), bindparam("after_id", type_=String))
        page = page.where(tuple_(key, candidates.c.id) > last)
    return page.order_by(key, candidates.c.id).limit(most)


def _by_start(names: frozenset[str], most: Any, window: Window, moments: Moments) -> Select[Any]:
    base = select(*SUMMARY, Event.starts_at).where(in_lists(), *conditions(names))
    after = moments.after()
    if "q" in names and not window.near:
        merged: FromClause = _search_hits(base, window, moments)
    elif not window.upcoming:
        merged = _first_rows(base, tuple_(Event.starts_at, Event.id) > after, most, near=window.near).subquery()
    elif window.since:
        merged = _first_rows(base, Event.starts_at >= moments("since"), most, near=window.near).subquery()
    else:
        merged = _running_and_coming(base, most, moments, after if window.after else None, near=window.near)
    items = [item for item in merged.c if item.key != "starts_at"]
    return select(*items).order_by(merged.c.starts_at, merged.c.id).limit(most)


def _search_hits(base: Select[Any], window: Window, moments: Moments) -> CTE:
    """All rows that hold the words, from the index of words, which is read once."""
    if window.after:
        base = base.where(tuple_(Event.starts_at, Event.id) > moments.after())
    if window.upcoming:
        base = base.where(Event.starts_at >= moments("since") if window.since else Event.ends_at > moments.now())
    return base.cte("hits").prefix_with("MATERIALIZED")


def _first_rows(base: Select[Any], place: ColumnElement[bool], most: Any, *, near: int = 0) -> Select[Any]:
    """The soonest rows of `base` from a place on; with `near`, those among that many of the soonest events."""
    if not near:
        return base.where(place).order_by(Event.starts_at, Event.id).limit(most)
    soonest = (
        select(Event.__table__)
        .where(in_lists(), place)
        .order_by(Event.starts_at, Event.id)
        .limit(literal_column(str(near), Integer))
    )
    among = soonest.subquery("soonest")
    return _join_rows(base, among).order_by(among.c.starts_at, among.c.id).limit(most)


def _join_rows(base: Select[Any], rows: FromClause) -> Select[Any]:
    """`base`, asked of these rows in place of the whole table."""

    def moved(element: ExternallyTraversible, **_: Any) -> Any:
        if isinstance(element, Column) and element.table is Event.__table__:
            return rows.c[element.key]
        return None

    return cast(Select[Any], replacement_traverse(cast(ExternallyTraversible, base), {}, moved))


def _soonest(names: frozenset[str], window: Window, moments: Moments) -> Subquery:
    """The soonest matches with their rank, the best one lowest."""
    rank = (-func.ts_rank(Event.search, MATCHES)).cast(Double).label("sort_key")
    base = select(*SUMMARY, rank, Event.starts_at).where(in_lists(), *conditions(names))
    if window.since:
        merged = _first_rows(base, Event.starts_at >= moments("since"), CANDIDATES).subquery()
    else:
        merged = _running_and_coming(base, CANDIDATES, moments, None)
    return select(*(item for item in merged.c if item.key != "starts_at")).subquery()


def _running_and_coming(base: Select[Any], most: Any, moments: Moments, after: Any, *, near: int = 0) -> Subquery:
    """What is running comes from the index of periods, all of it; what is coming from that of starts."""
    period = func.tstzrange(Event.starts_at, Event.ends_at).op("@>", return_type=Boolean())(moments.now())
    rows = select(Event.__table__).where(in_lists(), period) if near else base.where(period)
    running = rows.cte("running").prefix_with("MATERIALIZED")
    now = _join_rows(base, running) if near else select(running)
    if after is not None:
        now = now.where(tuple_(running.c.starts_at, running.c.id) > after)
    return union_all(
        now.order_by(running.c.starts_at, running.c.id).limit(most),
        _first_rows(base, Event.starts_at > moments.now(), most, near=near),
    ).subquery()


def _nearest(names: frozenset[str], window: Window) -> Subquery:
    moments = Moments(opaque=False)
    period = Event.starts_at >= moments("since") if window.since else Event.ends_at > moments.now()
    query = select(*SUMMARY, DISTANCE_KM.label("sort_key")).where(in_lists(), *conditions(names), period)
    return query.order_by(NEARNESS).limit(CANDIDATES).subquery()
