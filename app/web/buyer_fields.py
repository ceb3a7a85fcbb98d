"""The fields of the buyer on an invoice of a block, which the API and the desk share."""

from app.web.schema import Schema
from app.web.text_fields import OneLineName, PostalAddress

BUYER_METADATA = {
    "buyer_name": {"example": "Kalahari Coffee (Pty) Ltd"},
    "buyer_address": {"example": "12 Independence Avenue\nWindhoek"},
    "buyer_vat_number": {"example": "4567890-01-5"},
    "buyer_reference": {"example": "PO-2026-118"},
}


class BuyerBody(Schema):
    """The fields to change; null removes one. Without a name the buyer is the holder."""

    buyer_name = OneLineName(max=200, allow_none=True, metadata=BUYER_METADATA["buyer_name"])
    buyer_address = PostalAddress(allow_none=True, metadata=BUYER_METADATA["buyer_address"])
    buyer_vat_number = OneLineName(max=20, allow_none=True, metadata=BUYER_METADATA["buyer_vat_number"])
    buyer_reference = OneLineName(max=80, allow_none=True, metadata=BUYER_METADATA["buyer_reference"])
