"""What the event operations take (specification 4.0-E, with startDate and endDate for startsAt and endsAt)."""

from collections.abc import Mapping
from typing import Any

import marshmallow
from marshmallow import post_load, pre_load

from app.blueprints.events.custom_fields import Country, PlaceZone, Stored, Words
from app.blueprints.events.nested_schemas import (
    MOST_TICKETS,
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
from app.events.categories import CATEGORIES
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
from app.web.images import ImageUrl
from app.web.schema import Schema
from app.web.text_fields import Name

ALIASES = {"startsAt": "startDate", "endsAt": "endDate"}
START = {"description": "the same as startsAt", "example": "2026-12-04T18:00:00"}
END = {"description": "the same as endsAt", "example": "2026-12-06T23:00:00"}


class EventFields(Schema):
    """Everything that can be written of an event."""

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
    starts_at = TimeField(metadata={"rare": True, "example": "2026-12-04T18:00:00"})
    ends_at = EndTimeField(metadata={"rare": True, "example": "2026-12-06T23:00:00"})
    start_date = TimeField(metadata=START)
    end_date = EndTimeField(metadata=END)
    sales_end_at = EndTimeField(allow_none=True, metadata={"example": "2026-12-06T18:00:00"})
    visibility = Choice(*VISIBILITIES)
    publish_at = TimeField(allow_none=True, metadata={"rare": True, "description": "publishes a draft at that time"})
    capacity = WholeNumber(min=0, max=100 * MOST_TICKETS, allow_none=True, metadata={"example": 5000})
    category = Choice(*CATEGORIES, allow_none=True)
    keywords = Words(max=50)
    is_cashless = Boolean()
    allowed_payment_option_slugs = Words(max=50)
    ticket_types = List(Nested(TicketTypeShape), max=50, allow_none=True)
    promo_codes = Stored(PromoCode, max=200, allow_none=True)
    bulk_discounts = Stored(BulkDiscount, max=20, allow_none=True)
    payment_method_discounts = Stored(PaymentMethodDiscount, max=50, allow_none=True)
    sponsors = Stored(Sponsor, max=200, allow_none=True)
    stall_types = Stored(StallType, max=50, allow_none=True)
    tables = Stored(Table, max=200, allow_none=True)
    lineup = Stored(LineupEntry, max=80, allow_none=True)
    promotion = Nested(Promotion, allow_none=True)

    @pre_load
    def one_name_each(self, data: Any, **_: Any) -> Any:
        """startsAt is startDate, endsAt is endDate: whichever was sent."""
        if not isinstance(data, Mapping):
            return data
        renamed = {name: alias for name, alias in ALIASES.items() if name in data and alias not in data}
        return {renamed.get(name, name): value for name, value in data.items()}

    def handle_error(self, error: marshmallow.ValidationError, data: Any, *, many: bool, **_: Any) -> None:
        """Problems stand under the name that was sent."""
        if not isinstance(error.messages, dict) or not isinstance(data, Mapping):
            return
        for name, alias in ALIASES.items():
            if alias in error.messages and name in data and alias not in data:
                error.messages[name] = error.messages.pop(alias)

    @post_load(pass_original=True)
    def told_apart(self, data: dict[str, Any], original: Any, **_: Any) -> dict[str, Any]:
        """starts_at and ends_at, and in `said` how they were called."""
        for name, alias in (("starts_at", "start_date"), ("ends_at", "end_date")):
            if alias in data and data.setdefault(name, data[alias]) != data.pop(alias):
                raise marshmallow.ValidationError({ALIASES[_wire(name)]: _contradiction(_wire(name)).messages})
        data["said"] = {name: alias for name, alias in ALIASES.items() if alias in original}
        return data


class NewEvent(EventFields):
    """An event to create: six fields are required."""

    name = Name(required=True, min=2, max=200, metadata={"example": "Windhoek Lights"})
    start_date = TimeField(required=True, metadata=START)
    end_date = EndTimeField(required=True, metadata=END)
    venue = Text(required=True, min=2, max=200, metadata={"example": "River grounds"})
    city = Text(required=True, min=2, max=120, metadata={"example": "Windhoek"})
    country = Country(required=True)
    idempotency_key = Secret(min=8, max=80, metadata={"rare": True})


class EventChanges(EventFields):
    """What to change: fields that are absent stay as they are, null clears one."""


def _wire(name: str) -> str:
    return name.replace("_at", "At")


def _contradiction(name: str) -> marshmallow.ValidationError:
    return field_error("contradiction", f"Differs from {name}; send one of the two.")
