"""Request schemas of events (specification 4.0-E). startDate and startsAt are the same, and so are endDate and endsAt."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import marshmallow
from marshmallow import post_load, pre_load

from app.blueprints.events.custom_fields import Country, PlaceZone, StoredList, TextList
from app.blueprints.events.nested_schemas import (
    MAX_TICKETS,
    BulkDiscount,
    LineupEntry,
    PaymentMethodDiscount,
    PromoCode,
    Promotion,
    Sponsor,
    StallType,
    Table,
    TicketTypeShape,
)
from app.core.errors import AppError, ValidationFailed
from app.events.errors import NotPublishable, TicketsCommitted
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
from app.web.schema import Schema, to_camel_case
from app.web.text_fields import ImageUrl, Name

ALIASES = {"startsAt": "startDate", "endsAt": "endDate"}
START = {"description": "the same as startsAt"}
END = {"description": "the same as endsAt"}


class EventFields(Schema):
    """The fields of an event that can be written."""

    name = Name(min=2, max=200, metadata={"example": "Windhoek Lights"})
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
    visibility = Choice(*VISIBILITIES)
    publish_at = TimeField(allow_none=True, metadata={"rare": True, "description": "publishes a draft at that time"})
    capacity = WholeNumber(min=0, max=100 * MAX_TICKETS, allow_none=True, metadata={"example": 5000})
    category = Choice(*CATEGORIES, allow_none=True)
    keywords = TextList(max=50)
    is_cashless = Boolean()
    allowed_payment_option_slugs = TextList(max=50)
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
