"""The fields of an invoice of a block that the organiser enters: the buyer and the day. The API and the desk share them."""

from marshmallow import fields

from app.web.schema import Schema
from app.web.text_fields import OneLineName, PostalAddress

BUYER_METADATA = {
    "buyer_name": {"example": "Kalahari Coffee (Pty) Ltd"},
    "buyer_address": {"example": "12 Independence Avenue\nWindhoek"},
    "buyer_vat_number": {"example": "4567890-01-5"},
    "buyer_reference": {"example": "PO-2026-118"},
    "pay_by": {"example": "2026-12-31", "description": "the day until which it is to be paid; by default in two weeks"},
}


class BuyerBody(Schema):
    """The fields to change; null removes one. Without a name the buyer is the holder."""

    buyer_name = OneLineName(max=200, allow_none=True, metadata=BUYER_METADATA["buyer_name"])
    buyer_address = PostalAddress(allow_none=True, metadata=BUYER_METADATA["buyer_address"])
    buyer_vat_number = OneLineName(max=20, allow_none=True, metadata=BUYER_METADATA["buyer_vat_number"])
    buyer_reference = OneLineName(max=80, allow_none=True, metadata=BUYER_METADATA["buyer_reference"])
    pay_by = fields.Date(allow_none=True, metadata=BUYER_METADATA["pay_by"])
