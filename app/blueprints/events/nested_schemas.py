"""The nested shapes of an event: checked here, and stored with the names that they have on the wire."""

from typing import Any

from marshmallow import post_load, validates_schema

from app.blueprints.events.custom_fields import Link
from app.web.fields import EndTimeField, List, Nested, Number, Text, TimeField, WholeNumber, field_error
from app.web.images import ImageUrl
from app.web.schema import Schema
from app.web.text_fields import Name

MOST_MONEY = 100_000_000_000
MOST_TICKETS = 10_000_000


class Kept(Schema):
    """An object whose loaded form has the names of the wire, and none of those that were not given."""

    @post_load
    def named_as_sent(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        known = {name: field.data_key or name for name, field in self.load_fields.items()}
        return {known[name]: value for name, value in data.items() if value is not None}


class PromoCode(Kept):
    code = Text(required=True, min=1, max=40, metadata={"example": "EARLYBIRD"})
    percent_off = Number(min=0, max=100, allow_none=True, metadata={"example": 10})
    amount_off_minor = WholeNumber(min=1, max=MOST_MONEY, allow_none=True, metadata={"rare": True})
    max_uses = WholeNumber(min=1, max=MOST_TICKETS, allow_none=True)
    starts_at = TimeField(allow_none=True)
    ends_at = EndTimeField(allow_none=True)
    ticket_type_ids = List(Text(min=24, max=24), max=100, allow_none=True, metadata={"rare": True})

    @validates_schema
    def one_of_two(self, data: dict[str, Any], **_: Any) -> None:
        if (data.get("percent_off") is None) == (data.get("amount_off_minor") is None):
            raise field_error("contradiction", "Give percentOff or amountOffMinor, one of them.")


class BulkDiscount(Kept):
    min_quantity = WholeNumber(required=True, min=1, max=MOST_TICKETS, metadata={"example": 10})
    percent_off = Number(required=True, min=0, max=100, metadata={"example": 5})


class PaymentMethodDiscount(Kept):
    slug = Text(required=True, min=1, max=80, metadata={"example": "payrail"})
    percent_off = Number(required=True, min=0, max=100, metadata={"example": 2.5})


class Sponsor(Kept):
    name = Name(required=True, min=1, max=200, metadata={"example": "Kalahari Coffee"})
    tier = Text(max=80, allow_none=True, metadata={"example": "gold"})
    logo_url = ImageUrl(allow_none=True)
    href = Link(allow_none=True)


class StallType(Kept):
    name = Name(required=True, min=1, max=120, metadata={"example": "Food stall"})
    fee_minor = WholeNumber(required=True, min=0, max=MOST_MONEY, metadata={"example": 150000})
    quantity = WholeNumber(min=0, max=MOST_TICKETS, allow_none=True, metadata={"example": 40})


class Table(Kept):
    name = Name(required=True, min=1, max=120, metadata={"example": "Front row"})
    seats = WholeNumber(required=True, min=1, max=10_000, metadata={"example": 8})
    price_minor = WholeNumber(required=True, min=0, max=MOST_MONEY, metadata={"example": 800000})
    quantity = WholeNumber(min=0, max=MOST_TICKETS, allow_none=True, metadata={"example": 10})


class LineupEntry(Kept):
    name = Name(required=True, min=1, max=200, metadata={"example": "Ees"})
    stage = Text(max=120, allow_none=True, metadata={"example": "River stage"})
    starts_at = TimeField(allow_none=True)
    ends_at = EndTimeField(allow_none=True)
    image_url = ImageUrl(allow_none=True)


class Promotion(Kept):
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
    price_minor = WholeNumber(required=True, min=0, max=MOST_MONEY, metadata={"example": 35000})
    quantity = WholeNumber(min=1, max=MOST_TICKETS, allow_none=True, metadata={"example": 500})


class TicketTypeShape(Schema):
    id = Text(min=24, max=24, metadata={"description": "names the one to change; without it the name does"})
    name = Name(required=True, min=1, max=120, metadata={"example": "Day ticket Saturday"})
    description = Text(max=1000, allow_none=True)
    price_minor = WholeNumber(required=True, min=0, max=MOST_MONEY, metadata={"example": 45000})
    quantity = WholeNumber(required=True, min=0, max=MOST_TICKETS, metadata={"example": 2000})
    min_per_order = WholeNumber(min=1, max=10_000, allow_none=True)
    max_per_order = WholeNumber(min=1, max=10_000, allow_none=True, metadata={"example": 10})
    phases = List(Nested(Phase), max=20, allow_none=True)
