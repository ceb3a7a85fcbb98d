"""Request schemas of events (specification 4.0-E), of the objects inside an event, and of lists of events.

startDate and startsAt are the same, and so are endDate and endsAt. Most objects inside an event are stored as JSON with the
names of the API.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import marshmallow
from marshmallow import ValidationError, post_load, pre_load, validates_schema

from app.blueprints.events.custom_fields import Country, PlaceZone, Slug, StoredList, TextList
from app.core.errors import AppError, ValidationFailed
from app.events.discovery import SORTS
from app.events.discovery_sql import EventFilters
from app.events.errors import NotPublishable, TicketsCommitted
from app.events.reentry import REENTRY_MODES
from app.events.timezones import to_instant
from app.events.validation import CATEGORIES
from app.events.visibility import VISIBILITIES
from app.web.fields import (
    Boolean,
    Choice,
    EndTimeField,
    List,
    Nested,
    Number,
    Secret,
    Text,
    TimeField,
    WholeNumber,
    field_error,
)
from app.web.schema import Query, Schema, to_camel_case
from app.web.text_fields import HttpsLink, ImageUrl, Link, Name

ALIASES = {"startsAt": "startDate", "endsAt": "endDate"}
START = {"description": "the same as startsAt"}
END = {"description": "the same as endsAt"}
MAX_TICKETS = 10_000_000
MAX_MINOR = 100_000_000_000


class StoredSchema(Schema):
    """An object that is loaded with the names of the API, without fields that are null."""

    @post_load
    def to_api_names(self, data: dict[str, object], **_: object) -> dict[str, Any]:
        api_names = {name: field.data_key or name for name, field in self.load_fields.items()}
        return {api_names[name]: value for name, value in data.items() if value is not None}


class PromoCode(StoredSchema):
    code = Text(required=True, min=1, max=40, metadata={"example": "EARLYBIRD"})
    percent_off = Number(min=0, max=100, allow_none=True, metadata={"example": 10})
    amount_off_minor = WholeNumber(min=1, max=MAX_MINOR, allow_none=True, metadata={"rare": True})
    max_uses = WholeNumber(min=1, max=MAX_TICKETS, allow_none=True)
    starts_at = TimeField(allow_none=True)
    ends_at = EndTimeField(allow_none=True)
    ticket_type_ids = List(Text(min=24, max=24), max=100, allow_none=True, metadata={"rare": True})

    @validates_schema
    def check_one_discount(self, data: dict[str, object], **_: object) -> None:
        if (data.get("percent_off") is None) == (data.get("amount_off_minor") is None):
            raise field_error("contradiction", "Set percentOff or amountOffMinor, not both.")


class BulkDiscount(StoredSchema):
    min_quantity = WholeNumber(required=True, min=1, max=MAX_TICKETS, metadata={"example": 10})
    percent_off = Number(required=True, min=0, max=100, metadata={"example": 5})


class PaymentMethodDiscount(StoredSchema):
    slug = Text(required=True, min=1, max=80, metadata={"example": "payrail", "description": "The payment option."})
    percent_off = Number(required=True, min=0, max=100, metadata={"example": 2.5})


class Sponsor(StoredSchema):
    name = Name(required=True, min=1, max=200, metadata={"example": "Kalahari Coffee"})
    tier = Text(max=80, allow_none=True, metadata={"example": "gold"})
    logo_url = ImageUrl(allow_none=True)
    href = Link(allow_none=True)


class StallType(StoredSchema):
    name = Name(required=True, min=1, max=120, metadata={"example": "Food stall"})
    fee_minor = WholeNumber(required=True, min=0, max=MAX_MINOR, metadata={"example": 150000})
    quantity = WholeNumber(min=0, max=MAX_TICKETS, allow_none=True, metadata={"example": 40})


class Table(StoredSchema):
    name = Name(required=True, min=1, max=120, metadata={"example": "Front row"})
    seats = WholeNumber(required=True, min=1, max=10_000, metadata={"example": 8})
    price_minor = WholeNumber(required=True, min=0, max=MAX_MINOR, metadata={"example": 800000})
    quantity = WholeNumber(min=0, max=MAX_TICKETS, allow_none=True, metadata={"example": 10})


class LineupEntry(StoredSchema):
    name = Name(required=True, min=1, max=200, metadata={"example": "Ees"})
    stage = Text(max=120, allow_none=True, metadata={"example": "River stage"})
    starts_at = TimeField(allow_none=True)
    ends_at = EndTimeField(allow_none=True)
    image_url = ImageUrl(allow_none=True)


class Promotion(StoredSchema):
    headline = Text(max=200, allow_none=True, metadata={"example": "Two nights by the river"})
    body = Text(max=2000, allow_none=True)
    href = Link(allow_none=True)
    image_url = ImageUrl(allow_none=True)
    starts_at = TimeField(allow_none=True)
    ends_at = EndTimeField(allow_none=True)


class Phase(Schema):
    name = Name(required=True, min=1, max=120, metadata={"example": "Early bird"})
    starts_at = TimeField(allow_none=True)
    ends_at = EndTimeField(allow_none=True)
    price_minor = WholeNumber(required=True, min=0, max=MAX_MINOR, metadata={"example": 35000})
    quantity = WholeNumber(min=1, max=MAX_TICKETS, allow_none=True, metadata={"example": 500})


class TicketTypeShape(Schema):
    id = Text(
        min=24,
        max=24,
        metadata={"rare": True, "description": "the ticket type to change; without it, the type with the same name"},
    )
    name = Name(required=True, min=1, max=120, metadata={"example": "Weekend pass"})
    description = Text(max=1000, allow_none=True)
    price_minor = WholeNumber(required=True, min=0, max=MAX_MINOR, metadata={"example": 45000})
    quantity = WholeNumber(required=True, min=0, max=MAX_TICKETS, metadata={"example": 2000})
    min_per_order = WholeNumber(min=1, max=10_000, allow_none=True)
    max_per_order = WholeNumber(min=1, max=10_000, allow_none=True, metadata={"example": 10})
    valid_from = TimeField(
        allow_none=True, metadata={"rare": True, "description": "from when the gate admits tickets of this type"}
    )
    valid_until = EndTimeField(allow_none=True, metadata={"rare": True, "description": "until when"})
    phases = List(Nested(Phase), max=20, allow_none=True)


class EventFields(Schema):
    """The fields of an event that can be written."""

    name = Name(min=2, max=200, metadata={"example": "Windhoek Lights"})
    slug = Slug()
    description = Text(min=1, max=2000, allow_none=True)
    cover_image_url = ImageUrl(allow_none=True)
    poster_image_url = ImageUrl(allow_none=True)
    city = Text(min=2, max=120, metadata={"example": "Windhoek"})
    venue = Text(min=2, max=200, metadata={"example": "River grounds"})
    country = Country()
    latitude = Number(min=-90, max=90, allow_none=True, metadata={"example": -22.5609})
    longitude = Number(min=-180, max=180, allow_none=True, metadata={"example": 17.0658})
    timezone = PlaceZone()
    starts_at = TimeField(metadata={"rare": True})
    ends_at = EndTimeField(metadata={"rare": True})
    start_date = TimeField(metadata=START)
    end_date = EndTimeField(metadata=END)
    sales_end_at = EndTimeField(allow_none=True)
    applications_end_at = EndTimeField(allow_none=True)
    tickets_url = HttpsLink(allow_none=True)
    visibility = Choice(*VISIBILITIES)
    publish_at = TimeField(allow_none=True, metadata={"rare": True, "description": "publishes a draft at that time"})
    reentry = Choice(
        *REENTRY_MODES,
        metadata={
            "rare": True,
            "description": "whether a ticket enters again: once a day, after a scan at the exit, or always",
        },
    )
    capacity = WholeNumber(min=0, max=100 * MAX_TICKETS, allow_none=True, metadata={"example": 5000})
    category = Choice(*CATEGORIES, allow_none=True)
    keywords = TextList(max=50, example=["reggae", "river"])
    is_cashless = Boolean()
    allowed_payment_option_slugs = TextList(max=50, example=["payrail", "cash"])
    ticket_types = List(Nested(TicketTypeShape), max=50, allow_none=True)
    promo_codes = StoredList(PromoCode, max=200, allow_none=True)
    bulk_discounts = StoredList(BulkDiscount, max=20, allow_none=True)
    payment_method_discounts = StoredList(PaymentMethodDiscount, max=50, allow_none=True)
    sponsors = StoredList(Sponsor, max=200, allow_none=True)
    stall_types = StoredList(StallType, max=50, allow_none=True)
    tables = StoredList(Table, max=200, allow_none=True)
    lineup = StoredList(LineupEntry, max=80, allow_none=True)
    promotion = Nested(Promotion, allow_none=True)

    @pre_load
    def use_aliases(self, data: object, **_: object) -> Any:
        """startsAt becomes startDate and endsAt becomes endDate, unless both are sent."""
        if not isinstance(data, Mapping):
            return data
        renamed = {name: alias for name, alias in ALIASES.items() if name in data and alias not in data}
        return {renamed.get(name, name): value for name, value in data.items()}

    def handle_error(self, error: marshmallow.ValidationError, data: object, *, many: bool, **_: object) -> None:
        """Moves problems to the name that was sent."""
        if not isinstance(error.messages, dict) or not isinstance(data, Mapping):
            return
        for name, alias in ALIASES.items():
            if alias in error.messages and name in data and alias not in data:
                error.messages[name] = error.messages.pop(alias)

    @post_load(pass_original=True)
    def merge_aliases(self, data: dict[str, Any], original: Any, **_: Any) -> dict[str, Any]:
        """The fields with starts_at and ends_at; `date_names` has the names that were sent instead of theirs."""
        for name, alias in (("starts_at", "start_date"), ("ends_at", "end_date")):
            if alias in data and data.setdefault(name, data[alias]) != data.pop(alias):
                raise marshmallow.ValidationError(
                    {ALIASES[to_camel_case(name)]: _contradiction(to_camel_case(name)).messages}
                )
        data["date_names"] = {name: alias for name, alias in ALIASES.items() if alias in original}
        return data


class NewEvent(EventFields):
    """A new event: six fields are required."""

    name = Name(required=True, min=2, max=200, metadata={"example": "Windhoek Lights"})
    start_date = TimeField(required=True, metadata=START)
    end_date = EndTimeField(required=True, metadata=END)
    venue = Text(required=True, min=2, max=200, metadata={"example": "River grounds"})
    city = Text(required=True, min=2, max=120, metadata={"example": "Windhoek"})
    country = Country(required=True)
    idempotency_key = Secret(min=8, max=80, metadata={"rare": True})


class EventChanges(EventFields):
    """Changes of an event: absent fields stay, null clears a field."""


def _contradiction(name: str) -> marshmallow.ValidationError:
    return field_error("contradiction", f"Differs from {name}; send one of the two.")


@contextmanager
def errors_with_api_names(date_names: Mapping[str, str]) -> Iterator[None]:
    """Gives errors of the domain the names of the API, and those in `date_names` as they were sent."""
    try:
        yield
    except AppError as error:
        if isinstance(error, ValidationFailed):
            for problem in error.data["errors"]:
                path = _to_api_path(problem["path"])
                problem["path"] = date_names.get(path, path)
        elif isinstance(error, NotPublishable):
            error.data["missing"] = [to_camel_case(name) for name in error.data.get("missing", [])]
        elif isinstance(error, TicketsCommitted):
            error.data = {to_camel_case(name): value for name, value in error.data.items()}
        raise


def _to_api_path(path: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), path)


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
