"""Schemas of stall types with their places and waitlists."""

from marshmallow import fields

from app.web.fields import Boolean, List, Nested, WholeNumber
from app.web.schema import Schema


class WaitingData(Schema):
    """An application on the waitlist."""

    id = fields.String(required=True, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6"})
    reference = fields.String(required=True, metadata={"example": "STL-2026-7K2Q9X"})
    business_name = fields.String(required=True, allow_none=True, metadata={"example": "Kapana Corner"})
    waitlist_rank = WholeNumber(
        required=True, allow_none=True, metadata={"example": 1, "description": "the organiser's order, before time"}
    )
    has_offer = Boolean(required=True, metadata={"example": False, "description": "of a place, by mail"})
    can_get_offer = Boolean(
        required=True,
        metadata={"example": True, "description": "has an address, had no offer yet, and the event is not too near"},
    )


class StallTypeData(Schema):
    name = fields.String(required=True, metadata={"example": "Food"})
    fee_minor = WholeNumber(required=True, metadata={"example": 150000})
    quantity = WholeNumber(
        required=True, allow_none=True, metadata={"example": 20, "description": "of places; null without a limit"}
    )
    taken = WholeNumber(required=True, metadata={"example": 12, "description": "places that are taken or offered"})
    left = WholeNumber(required=True, allow_none=True, metadata={"example": 8, "description": "null without a limit"})
    line = List(Nested(WaitingData), required=True, metadata={"description": "who waits, the next first"})


class StallTypesData(Schema):
    stall_types = List(Nested(StallTypeData), required=True)
