"""What the quote of a block gives."""

from marshmallow import fields

from app.web.fields import Flag, Items, Object, Whole
from app.web.schema import Schema


class LineData(Schema):
    description = fields.String(required=True, metadata={"example": "Weekend pass"})
    quantity = Whole(required=True)
    unit_price_minor = Whole(required=True)
    amount_minor = Whole(required=True)


class PromoCodeData(Schema):
    code = fields.String(required=True, metadata={"example": "EARLYBIRD"})
    max_uses = Whole(required=True, allow_none=True)
    used = Whole(required=True, metadata={"description": "blocks that were made with it"})
    remaining = Whole(required=True, allow_none=True, metadata={"description": "at 0 the code takes nothing off"})


class QuoteData(Schema):
    ticket_type_id = fields.String(required=True, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6"})
    quantity = Whole(required=True)
    currency = fields.String(required=True, metadata={"example": "NAD"})
    unit_price_minor = Whole(required=True)
    lines = Items(Object(LineData), required=True)
    subtotal_minor = Whole(required=True)
    discount_minor = Whole(required=True)
    vat_minor = Whole(required=True, metadata={"description": "inside the total"})
    vat_percent = fields.Float(required=True)
    total_minor = Whole(required=True)
    available = Whole(required=True, metadata={"description": "free for the public now, within the event's capacity"})
    fits = Flag(required=True)
    promo_code = Object(PromoCodeData, required=True, allow_none=True)
