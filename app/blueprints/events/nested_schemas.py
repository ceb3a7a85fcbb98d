"""Schemas of the objects inside an event. Most are stored as JSON with the names of the API."""

from typing import Any

from marshmallow import post_load, validates_schema

from app.blueprints.events.custom_fields import Link
from app.web.fields import EndTimeField, List, Nested, Number, Text, TimeField, WholeNumber, field_error
from app.web.schema import Schema
from app.web.text_fields import ImageUrl, Name

MAX_MINOR = 100_000_000_000
MAX_TICKETS = 10_000_000


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
    slug = Text(required=True, min=1, max=80, metadata={"example": "payrail"})
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
    phases = List(Nested(Phase), max=20, allow_none=True)
