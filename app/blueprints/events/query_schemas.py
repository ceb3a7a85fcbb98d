"""What lists of events can be asked for."""

from typing import Any

from marshmallow import ValidationError, validates_schema

from app.events.categories import CATEGORIES
from app.events.discovery import SORTS
from app.events.visibility import VISIBILITIES
from app.web.fields import Boolean, Choice, EndTimeField, Number, Secret, Text, TimeField, WholeNumber, field_error
from app.web.schema import Query

WORDS = {"example": "lights", "description": "beginnings of words in name, city, venue, line-up and keywords"}


class Filters(Query):
    """Filters of public lists. A naive time is UTC; without `from`, what is over is left out."""

    q = Text(min=1, max=200, metadata=WORDS)
    city = Text(min=1, max=120, metadata={"example": "Windhoek"})
    category = Choice(*CATEGORIES)
    since = TimeField(data_key="from", metadata={"description": "starts at this time or later"})
    until = EndTimeField(data_key="to", metadata={"description": "starts by this time"})
    cashless = Boolean(metadata={"example": True})
    lat = Number(min=-90, max=90, metadata={"example": -22.56})
    lng = Number(min=-180, max=180, metadata={"example": 17.07})
    radius_km = Number(min=0, max=20_038, metadata={"example": 50})

    @validates_schema
    def place_is_whole(self, data: dict[str, Any], **_: Any) -> None:
        place = {name: data.get(name) is not None for name in ("lat", "lng", "radius_km")}
        if place["lat"] != place["lng"] or (place["radius_km"] and not place["lat"]):
            sentence = "lat and lng belong together, and radiusKm needs both."
            raise ValidationError({"lng" if place["lat"] else "lat": field_error("required", sentence).messages})


class ListFilters(Filters):
    mine = Boolean(load_default=False, metadata={"description": "own events in every state; needs a token"})
    visibility = Choice(*VISIBILITIES, metadata={"description": "with mine=true: only those"})


class DiscoverQuery(Filters):
    limit = WholeNumber(min=1, max=100, load_default=20, metadata={"description": "events on a page"})
    cursor = Secret(max=500, metadata={"description": "nextCursor of the page before"})
    sort = Choice(*SORTS, load_default="startsAt", metadata={"description": "relevance needs q, distance lat and lng"})

    @validates_schema
    def distance_from_somewhere(self, data: dict[str, Any], **_: Any) -> None:
        if data["sort"] == "distance" and data.get("lat") is None:
            raise ValidationError({"lat": field_error("required", "Sorting by distance needs lat and lng.").messages})
