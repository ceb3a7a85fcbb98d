"""The filters of lists of events, as conditions with named parameters and as values for them."""

from collections.abc import Collection, Mapping
from math import cos, radians
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Double, String, bindparam, func, literal_column

from app.core.db import Timestamp
from app.events import search
from app.events.models import Event

KM_PER_DEGREE = 111.19


def _number(name: str) -> ColumnElement[float]:
    return bindparam(name, type_=Double)


MATCHES = func.to_tsquery(literal_column("'simple'"), bindparam("q", type_=String))
PLACE = func.point(Event.longitude, Event.latitude)
BOX = func.box(func.point(_number("west"), _number("south")), func.point(_number("east"), _number("north")))
NEARNESS: ColumnElement[float] = PLACE.op("<->", return_type=Double())(func.point(_number("lng"), _number("lat")))
ONE, TWO, DIAMETER_KM = (literal_column(name, Double) for name in ("1", "2", "12742.0"))
HALF_CHORD = func.power(func.sin(func.radians(Event.latitude - _number("lat")) / TWO), TWO) + func.cos(
    func.radians(_number("lat"))
) * func.cos(func.radians(Event.latitude)) * func.power(
    func.sin(func.radians(Event.longitude - _number("lng")) / TWO), TWO
)
DISTANCE_KM: ColumnElement[float] = DIAMETER_KM * func.asin(func.least(ONE, func.sqrt(HALF_CHORD)))
CONDITIONS: Mapping[str, tuple[ColumnElement[bool], ...]] = {
    "q": (Event.search.op("@@", return_type=Boolean())(MATCHES),),
    "city": (Event.city_key == bindparam("city", type_=String),),
    "category": (Event.category == bindparam("category", type_=String),),
    "cashless": (Event.is_cashless == bindparam("cashless", type_=Boolean),),
    "until": (Event.starts_at <= bindparam("until", type_=Timestamp),),
    "lat": (Event.latitude.is_not(None), Event.longitude.is_not(None)),
    "radius_km": (PLACE.op("<@", return_type=Boolean())(BOX), _number("radius_km") >= DISTANCE_KM),
}


def conditions(names: Collection[str]) -> list[ColumnElement[bool]]:
    """What must hold when these filters are given; `since` is the affair of anyone who sorts."""
    return [item for name in sorted(names) for item in CONDITIONS.get(name, ())]


def active_filters(filters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values of the filters that were given; None when they can match nothing."""
    values = {name: value for name, value in filters.items() if value is not None}
    if "q" in values:
        words = search.words_of(values["q"])
        if not words:
            return None
        values["q"] = search.prefix_query(words)
    if "city" in values:
        values["city"] = search.key_of(values["city"])
    if "radius_km" in values:
        values |= _box(values["lat"], values["lng"], values["radius_km"])
    return values


def _box(lat: float, lng: float, km: float) -> dict[str, float]:
    """The degrees around a circle; all of them where it meets a pole or the date line."""
    up = km / KM_PER_DEGREE
    shrink = cos(radians(min(89.9, abs(lat) + up)))
    wide = min(360.0, up / shrink)
    over = lng - wide < -180 or lng + wide > 180
    west, east = (-180.0, 180.0) if over else (lng - wide, lng + wide)
    return {"south": lat - up, "north": lat + up, "west": west, "east": east}
