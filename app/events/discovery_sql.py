"""The SQL of discovery: filters, the statement of a page, the search, and the statements of suggestions.

Upcoming events come from an index in the order of their start; running events come from an index of their periods.
So a page costs the same among a thousand events and among a million.

The search compares the beginnings of words without accents and case. The searched text is in one column: the words of the
name on the first line, all others on the second. PostgreSQL makes the index from it with the configuration `simple`,
because names follow no grammar.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import cos, radians
from typing import Any

from sqlalchemy import (
    CTE,
    Boolean,
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
from sqlalchemy.orm import aliased

from app.core.db import Timestamp
from app.events.models import Event
from app.events.search_words import key_of, prefix_query, words_of
from app.events.visibility import IN_LISTS, in_lists

KM_PER_DEGREE = 111.19
FilterValue = str | bool | float | datetime
Rows = Select[Any]
"""A statement over rows of `event` or of a subquery of it."""
UPCOMING_NAMES = f"SELECT name, search_text FROM event WHERE {IN_LISTS} AND starts_at >= now()"
SIMILAR_NAMES = f"{UPCOMING_NAMES} AND search @@ to_tsquery('simple', %(q)s) LIMIT 200"
SOONEST_NAMES = f"{UPCOMING_NAMES} ORDER BY starts_at, id LIMIT 200"


@dataclass(frozen=True, kw_only=True)
class EventFilters:
    """Filters of lists of events; None is no filter. `since` and `until` limit the start, `lat`, `lng` and
    `radius_km` the place."""

    q: str | None = None
    city: str | None = None
    category: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    cashless: bool | None = None
    lat: float | None = None
    lng: float | None = None
    radius_km: float | None = None


def filter_values(filters: EventFilters) -> dict[str, FilterValue] | None:
    """The bind values of the filters that are set; None when they can match nothing."""
    values: dict[str, FilterValue] = {name: value for name, value in vars(filters).items() if value is not None}
    if filters.q is not None:
        words = words_of(filters.q)
        if not words:
            return None
        values["q"] = prefix_query(words)
    if filters.city is not None:
        values["city"] = key_of(filters.city)
    if filters.radius_km is not None and filters.lat is not None and filters.lng is not None:
        values |= _bounding_box(filters.lat, filters.lng, filters.radius_km)
    return values


def filter_conditions(names: Collection[str], event: type[Event] = Event) -> list[ColumnElement[bool]]:
    """The conditions of these filters, except `since`: where a list starts depends on its order."""
    conditions: Mapping[str, tuple[ColumnElement[bool], ...]] = {
        "q": (event.search.op("@@", return_type=Boolean())(TSQUERY),),
        "city": (event.city_key == bindparam("city", type_=String),),
        "category": (event.category == bindparam("category", type_=String),),
        "cashless": (event.is_cashless == bindparam("cashless", type_=Boolean),),
        "until": (event.starts_at <= bindparam("until", type_=Timestamp),),
        "lat": (event.latitude.is_not(None), event.longitude.is_not(None)),
        "radius_km": (
            _location(event).op("<@", return_type=Boolean())(BOUNDING_BOX),
            _number("radius_km") >= _distance_km(event),
        ),
    }
    return [condition for name in sorted(names) for condition in conditions.get(name, ())]


def _bounding_box(lat: float, lng: float, km: float) -> dict[str, FilterValue]:
    """The degrees around a circle; all longitudes where it meets a pole or the date line."""
    height = km / KM_PER_DEGREE
    shrink = cos(radians(min(89.9, abs(lat) + height)))
    width = min(360.0, height / shrink)
    crosses_date_line = lng - width < -180 or lng + width > 180
    west, east = (-180.0, 180.0) if crosses_date_line else (lng - width, lng + width)
    return {"south": lat - height, "north": lat + height, "west": west, "east": east}


def _number(name: str) -> ColumnElement[float]:
    return bindparam(name, type_=Double)


TSQUERY = func.to_tsquery(literal_column("'simple'"), bindparam("q", type_=String))
ONE, TWO, EARTH_DIAMETER_KM = (literal_column(name, Double) for name in ("1", "2", "12742.0"))
BOUNDING_BOX = func.box(func.point(_number("west"), _number("south")), func.point(_number("east"), _number("north")))


def _location(event: type[Event]) -> ColumnElement[Any]:
    return func.point(event.longitude, event.latitude)


def _distance_km(event: type[Event]) -> ColumnElement[float]:
    """The great-circle distance to `lat` and `lng` (haversine)."""
    half_chord = func.power(func.sin(func.radians(event.latitude - _number("lat")) / TWO), TWO) + func.cos(
        func.radians(_number("lat"))
    ) * func.cos(func.radians(event.latitude)) * func.power(
        func.sin(func.radians(event.longitude - _number("lng")) / TWO), TWO
    )
    return EARTH_DIAMETER_KM * func.asin(func.least(ONE, func.sqrt(half_chord)))


# Relevance and distance are sorted among this many candidates: the soonest, or the nearest.
CANDIDATES: ColumnElement[int] = literal_column("1000", Integer)


@dataclass(frozen=True)
class Window:
    """Where a page starts: at `since`, after the cursor's key, or with the running events. Without `upcoming` it starts
    at the cursor alone. `near` limits the page to that many of the soonest events; 0 is no limit."""

    since: bool
    after: bool
    upcoming: bool = True
    near: int = 0


@dataclass(frozen=True)
class TimeParameters:
    """Times as bind parameters. Opaque ones are wrapped in a subquery, so PostgreSQL does not plan for their values:
    one plan serves every time, and planning would cost four times what the page does."""

    opaque: bool

    def time(self, name: str) -> ColumnElement[datetime]:
        return self._wrap(bindparam(name, type_=Timestamp))

    def now(self) -> ColumnElement[datetime]:
        """The time by the database's clock."""
        return self._wrap(func.now())

    def cursor(self) -> ColumnElement[Any]:
        """The key of the last row of the previous page."""
        return tuple_(self.time("after_key"), self._wrap(bindparam("after_id", type_=String)))

    def _wrap(self, parameter: ColumnElement[Any]) -> ColumnElement[Any]:
        return select(parameter).scalar_subquery() if self.opaque else parameter


@lru_cache(maxsize=1024)
def discovery_query(names: frozenset[str], sort: str, row_count: int, window: Window) -> Rows:
    """The statement for `row_count` summaries with these filters, in this order, from this place on.

    The number of rows is part of the text: as a parameter it would keep PostgreSQL from making one plan for all.
    """
    limit: ColumnElement[int] = literal_column(str(row_count), Integer)
    times = TimeParameters(opaque="q" not in names or window.near > 0)
    if sort == "starts_at":
        return _sorted_by_start(names, limit, window, times)
    if sort == "-starts_at":
        return _latest_first(names, limit, window, times)
    candidates = _nearest(names, window) if sort == "distance" else _soonest_ranked(names, window, times)
    page = select(candidates)
    if window.after:
        cursor = tuple_(bindparam("after_key", type_=Double), bindparam("after_id", type_=String))
        page = page.where(tuple_(candidates.c.sort_key, candidates.c.id) > cursor)
    return page.order_by(candidates.c.sort_key, candidates.c.id).limit(limit)


def _sorted_by_start(names: frozenset[str], limit: ColumnElement[int], window: Window, times: TimeParameters) -> Rows:
    rows: FromClause
    if "q" in names and not window.near:
        rows = _all_search_hits(names, window, times)
    elif not window.upcoming:
        rows = _first_rows(names, tuple_(Event.starts_at, Event.id) > times.cursor(), limit, window.near).subquery()
    elif window.since:
        rows = _first_rows(names, Event.starts_at >= times.time("since"), limit, window.near).subquery()
    else:
        cursor = times.cursor() if window.after else None
        rows = _running_and_upcoming(_select_rows(names), names, limit, times, cursor, window.near)
    return _without_start(rows).order_by(rows.c.starts_at, rows.c.id).limit(limit)


def _latest_first(names: frozenset[str], limit: ColumnElement[int], window: Window, times: TimeParameters) -> Rows:
    rows = _select_rows(names).where(
        Event.starts_at >= times.time("since") if window.since else Event.ends_at > times.now()
    )
    if window.after:
        rows = rows.where(tuple_(Event.starts_at, Event.id) < times.cursor())
    page = rows.order_by(Event.starts_at.desc(), Event.id.desc()).limit(limit).subquery()
    return _without_start(page).order_by(page.c.starts_at.desc(), page.c.id.desc())


def _select_rows(names: frozenset[str], *keys: ColumnElement[Any], event: type[Event] = Event) -> Rows:
    """The summaries of the events that match, with `keys` and `starts_at`. An alias of events has listed ones only."""
    start = func.to_char(
        func.timezone(literal_column("'UTC'"), event.starts_at), literal_column('\'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\'')
    )
    cover_image_url = func.coalesce(event.cover_image_url, literal_column("''"))
    rows = select(
        event.id,
        event.name,
        event.city,
        event.venue,
        start.label("starts"),
        cover_image_url.label("cover"),
        event.is_cashless,
        event.slug,
        event.timezone,
        event.ends_at,
        *keys,
        event.starts_at,
    ).where(*filter_conditions(names, event))
    return rows.where(in_lists()) if event is Event else rows


def _without_start(rows: FromClause) -> Rows:
    return select(*(column for column in rows.c if column.key != "starts_at"))


def _all_search_hits(names: frozenset[str], window: Window, times: TimeParameters) -> CTE:
    """All events that hold the words, from the search index, which is read once."""
    hits = _select_rows(names)
    if window.after:
        hits = hits.where(tuple_(Event.starts_at, Event.id) > times.cursor())
    if window.upcoming:
        hits = hits.where(Event.starts_at >= times.time("since") if window.since else Event.ends_at > times.now())
    return hits.cte("hits").prefix_with("MATERIALIZED")


def _first_rows(names: frozenset[str], start: ColumnElement[bool], limit: ColumnElement[int], near: int) -> Rows:
    """The soonest matches that fulfil `start`; with `near`, those among that many of the soonest events."""
    if not near:
        return _select_rows(names).where(start).order_by(Event.starts_at, Event.id).limit(limit)
    soonest = (
        select(Event.__table__)
        .where(in_lists(), start)
        .order_by(Event.starts_at, Event.id)
        .limit(literal_column(str(near), Integer))
    )
    event = aliased(Event, soonest.subquery("soonest"))
    return _select_rows(names, event=event).order_by(event.starts_at, event.id).limit(limit)


def _running_and_upcoming(
    rows: Rows,
    names: frozenset[str],
    limit: ColumnElement[int],
    times: TimeParameters,
    cursor: ColumnElement[object] | None,
    near: int,
) -> Subquery:
    """Running events, all from the index of periods, and upcoming events from the index of starts."""
    is_running = func.tstzrange(Event.starts_at, Event.ends_at).op("@>", return_type=Boolean())(times.now())
    is_upcoming = Event.starts_at > times.now()
    place: tuple[ColumnElement[Any], ColumnElement[Any]]
    if near:
        listed = select(Event.__table__).where(in_lists(), is_running).cte("running").prefix_with("MATERIALIZED")
        event = aliased(Event, listed)
        running, place = _select_rows(names, event=event), (event.starts_at.expression, event.id.expression)
        upcoming = _first_rows(names, is_upcoming, limit, near)
    else:
        matches = rows.where(is_running).cte("running").prefix_with("MATERIALIZED")
        running, place = select(matches), (matches.c.starts_at, matches.c.id)
        upcoming = rows.where(is_upcoming).order_by(Event.starts_at, Event.id).limit(limit)
    if cursor is not None:
        running = running.where(tuple_(*place) > cursor)
    return union_all(running.order_by(*place).limit(limit), upcoming).subquery()


def _soonest_ranked(names: frozenset[str], window: Window, times: TimeParameters) -> Subquery:
    """The soonest matches with their rank as `sort_key`, the best one lowest."""
    rank = (-func.ts_rank(Event.search, TSQUERY)).cast(Double).label("sort_key")
    rows = _select_rows(names, rank)
    if window.since:
        first = rows.where(Event.starts_at >= times.time("since")).order_by(Event.starts_at, Event.id)
        return _without_start(first.limit(CANDIDATES).subquery()).subquery()
    return _without_start(_running_and_upcoming(rows, names, CANDIDATES, times, None, near=0)).subquery()


def _nearest(names: frozenset[str], window: Window) -> Subquery:
    """The nearest matches with their distance in kilometres as `sort_key`."""
    times = TimeParameters(opaque=False)
    period = Event.starts_at >= times.time("since") if window.since else Event.ends_at > times.now()
    nearness: ColumnElement[float] = _location(Event).op("<->", return_type=Double())(
        func.point(_number("lng"), _number("lat"))
    )
    rows = _select_rows(names, _distance_km(Event).label("sort_key")).where(period)
    return _without_start(rows.order_by(nearness).limit(CANDIDATES).subquery()).subquery()
