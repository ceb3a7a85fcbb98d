"""Query parameters of lists of events."""

from typing import Any

from marshmallow import ValidationError, validates_schema

from app.events.discovery import SORTS
from app.events.discovery_sql import EventFilters
from app.events.timezones import to_instant
from app.events.validation import CATEGORIES
from app.events.visibility import VISIBILITIES
from app.web.fields import Boolean, Choice, EndTimeField, Number, Secret, Text, TimeField, WholeNumber, field_error
from app.web.schema import Query, to_camel_case

SEARCH_METADATA = {"example": "lights", "description": "beginnings of words in name, city, venue, line-up and keywords"}


class ListQuery(Query):
    """Filters of public lists. A naive time is UTC; without `from`, past events are left out."""

    q = Text(min=1, max=200, metadata=SEARCH_METADATA)
    city = Text(min=1, max=120, metadata={"example": "Windhoek"})
    category = Choice(*CATEGORIES)
    since = TimeField(data_key="from", metadata={"description": "starts at this time or later"})
    until = EndTimeField(data_key="to", metadata={"description": "starts by this time"})
    cashless = Boolean(metadata={"example": True})
    lat = Number(min=-90, max=90, metadata={"example": -22.56})
    lng = Number(min=-180, max=180, metadata={"example": 17.07})
    radius_km = Number(min=0, max=20_038, metadata={"example": 50})

    @validates_schema
    def check_place(self, data: dict[str, object], **_: object) -> None:
        place = {name: data.get(name) is not None for name in ("lat", "lng", "radius_km")}
        if place["lat"] != place["lng"] or (place["radius_km"] and not place["lat"]):
            message = "lat and lng belong together, and radiusKm needs both."
            raise ValidationError({"lng" if place["lat"] else "lat": field_error("required", message).messages})


class OrganiserListQuery(ListQuery):
    mine = Boolean(load_default=False, metadata={"description": "own events in every state; needs a token"})
    visibility = Choice(*VISIBILITIES, metadata={"description": "with mine=true: only events with this visibility"})


class DiscoverQuery(ListQuery):
    limit = WholeNumber(min=1, max=100, load_default=20, metadata={"description": "events on a page"})
    cursor = Secret(max=500, metadata={"description": "nextCursor of the page before"})
    sort = Choice(
        *map(to_camel_case, SORTS),
        load_default="startsAt",
        metadata={"description": "relevance needs q, distance lat and lng"},
    )

    @validates_schema
    def check_distance_sort(self, data: dict[str, object], **_: object) -> None:
        if data["sort"] == "distance" and data.get("lat") is None:
            raise ValidationError({"lat": field_error("required", "Sorting by distance needs lat and lng.").messages})


def build_filters(query: dict[str, Any]) -> EventFilters:
    """The filters of a query, whose naive times are UTC."""
    times = {name: to_instant(query[name], "UTC") for name in ("since", "until") if query.get(name) is not None}
    return EventFilters(**{**query, **times})
