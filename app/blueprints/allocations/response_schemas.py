"""What the operations on allocations give.

What the quote of a block gives.
"""

from typing import Any

from marshmallow import fields, pre_dump

from app.allocations import serializers
from app.allocations.states import BLOCK_KINDS, BLOCK_STATES, DELIVERIES, SLOT_STATES, VIA_VALUES
from app.web.fields import Flag, Items, Moment, Object, Whole
from app.web.paging import Pagination
from app.web.schema import Schema

ID_METADATA = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
CODE_METADATA = {"example": "7K2Q9XRD4M"}
DELIVERY_METADATA = {"enum": [*DELIVERIES, None], "example": "e_ticket"}
STATUS_METADATA = {"enum": list(SLOT_STATES), "example": "invited"}


def _text_field(example: str | None = None, **options: Any) -> fields.String:
    return fields.String(metadata={"example": example} if example else {}, **options)


def _nullable_text_field(example: str | None = None, **options: Any) -> fields.String:
    return _text_field(example, required=True, allow_none=True, **options)


class HolderData(Schema):
    name = _nullable_text_field("Frieda Amupolo")
    email = _nullable_text_field("frieda@example.com")
    phone = _nullable_text_field("+264811234567")
    organisation = _nullable_text_field("Kalahari Coffee")


class AllocationLinkData(Schema):
    """A link of a block."""

    url = _nullable_text_field("https://events.example/claim/T2Zm…")
    status = fields.String(required=True, metadata={"enum": list(serializers.LINK_STATES), "example": "active"})
    remaining = Whole(required=True)
    expires_at = Moment(allow_none=True)
    max_claims = Whole(allow_none=True)
    max_per_claim = Whole()
    claims = Whole()


class InvoiceShort(Schema):
    number = _text_field("2026-000001", required=True)
    status = _text_field("issued", required=True)
    total_minor = Whole(required=True)


class AllocationRow(Schema):
    """A block: `quantity` places were kept, `held` of them are still its own."""

    id = fields.String(required=True, metadata=ID_METADATA)
    event_id = fields.String(required=True, metadata=ID_METADATA)
    ticket_type_id = fields.String(required=True, metadata=ID_METADATA)
    ticket_type_name = _text_field("Weekend pass", required=True)
    name = _nullable_text_field("Gold sponsor")
    kind = fields.String(required=True, metadata={"enum": list(BLOCK_KINDS), "example": "sponsor"})
    status = fields.String(required=True, metadata={"enum": list(BLOCK_STATES), "example": "open"})
    holder = Object(HolderData, required=True)
    quantity = Whole(required=True)
    held = Whole(required=True)
    available = Whole(required=True)
    invited = Whole(required=True)
    claimed = Whole(required=True)
    admitted = Whole(required=True)
    revoked = Whole(required=True)
    released = Whole(required=True)
    currency = _text_field("NAD", required=True)
    unit_price_minor = Whole(required=True)
    subtotal_minor = Whole(required=True)
    discount_minor = Whole(required=True)
    vat_minor = Whole(required=True)
    total_minor = Whole(required=True, metadata={"description": "of the places held"})
    promo_code = _nullable_text_field()
    release_at = Moment(required=True, allow_none=True)
    notes = _nullable_text_field()
    allocator_link = Object(AllocationLinkData, required=True)
    open_link = Object(AllocationLinkData, required=True)
    invoice = Object(InvoiceShort, required=True, allow_none=True)
    version = Whole(required=True)
    created_at = Moment(required=True)
    updated_at = Moment(required=True)

    @pre_dump
    def serialize_row(self, row: Any, **_: Any) -> Any:
        return row if "holder" in row else serializers.serialize_block(row)


class SlotData(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata=STATUS_METADATA)
    via = fields.String(required=True, allow_none=True, metadata={"enum": [*VIA_VALUES, None], "example": "invite"})
    name = _nullable_text_field("Frieda Amupolo")
    email = _nullable_text_field("frieda@example.com")
    phone = _nullable_text_field("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE_METADATA)
    delivery = fields.String(required=True, allow_none=True, metadata=DELIVERY_METADATA)
    party_id = fields.String(required=True, allow_none=True, metadata=ID_METADATA)
    party_size = Whole(required=True)
    version = Whole(required=True)
    reminded_at = Moment(required=True, allow_none=True)
    claimed_at = Moment(required=True, allow_none=True)
    admitted_at = Moment(required=True, allow_none=True)
    gate = _nullable_text_field("North gate")
    ended_at = Moment(required=True, allow_none=True)


class AllocationData(AllocationRow):
    """A block with a page of its slots."""

    slots = Items(Object(SlotData), required=True)
    pagination = Object(Pagination, required=True)


class CodeData(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    code = fields.String(required=True, metadata=CODE_METADATA)
    status = fields.String(metadata=STATUS_METADATA)
    name = _text_field(allow_none=True)
    email = _text_field(allow_none=True)


class CodesData(Schema):
    codes = Items(Object(CodeData), required=True)
    claim_url = _text_field("https://events.example/claim/", required=True)


class InvitedGuest(Schema):
    slot_id = fields.String(metadata=ID_METADATA)
    name = _text_field("Frieda Amupolo", required=True)
    email = _text_field("frieda@example.com", required=True)
    url = _text_field("https://events.example/claim/Q2Zm…")
    reason = fields.String(metadata={"enum": ["ALREADY_INVITED", "LISTED_TWICE"], "example": "LISTED_TWICE"})


class InvitesData(Schema):
    invited = Items(Object(InvitedGuest), required=True)
    duplicates = Items(Object(InvitedGuest), required=True)
    available = Whole(required=True, metadata={"description": "places left in the block"})
    dry_run = Flag(required=True)


class RemindedRow(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    name = _text_field(allow_none=True)
    email = _text_field(allow_none=True)
    reason = _text_field("REMINDED_RECENTLY")
    reminded_at = Moment()


class RemindData(Schema):
    reminded = Items(Object(RemindedRow), required=True)
    skipped = Items(Object(RemindedRow), required=True)


class ReleaseData(Schema):
    released = Whole(required=True)
    public_available_before = Whole(required=True)
    public_available_after = Whole(required=True)
    dry_run = Flag(required=True)


class RevokedData(SlotData):
    return_to = fields.String(required=True, metadata={"enum": ["block", "public"], "example": "block"})


class MoveData(Schema):
    source = Object(AllocationRow, required=True, data_key="from", attribute="from")
    target = Object(AllocationRow, required=True, data_key="to", attribute="to")


class OfferData(Schema):
    """What the bearer of a link is told of the event."""

    event_name = _text_field("Windhoek Lights", required=True)
    venue = _text_field("River grounds", required=True)
    city = _text_field("Windhoek", required=True)
    starts_at = Moment(required=True)
    ends_at = Moment(required=True)
    timezone = _text_field("Africa/Windhoek", required=True)
    organiser_name = _text_field("Windhoek Lights", required=True)
    contact_email = _text_field("nangula@windhoek-lights.example", required=True)
    ticket_type_name = _text_field("Weekend pass", required=True)
    holder_organisation = _nullable_text_field("Kalahari Coffee")
    release_at = Moment(required=True, allow_none=True)


class ClaimOffer(OfferData):
    status = fields.String(required=True, metadata={"enum": ["invited", "available"], "example": "invited"})
    via = fields.String(required=True, metadata={"enum": list(VIA_VALUES), "example": "invite"})
    name = _text_field("Frieda Amupolo", allow_none=True)
    email = _text_field("frieda@example.com", allow_none=True)
    phone = _text_field("+264811234567", allow_none=True)
    remaining = Whole(required=True)
    max_per_claim = Whole(required=True)
    expires_at = Moment(allow_none=True)


class ClaimedSlot(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    code = fields.String(required=True, metadata=CODE_METADATA)


class ClaimedData(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata={**STATUS_METADATA, "example": "claimed"})
    code = fields.String(metadata=CODE_METADATA, allow_none=True)
    name = _nullable_text_field("Frieda Amupolo")
    email = _nullable_text_field("frieda@example.com")
    phone = _nullable_text_field("+264811234567")
    delivery = fields.String(allow_none=True, metadata=DELIVERY_METADATA)
    quantity = Whole()
    slots = Items(Object(ClaimedSlot))
    claimed_at = Moment(allow_none=True)
    event_name = _text_field("Windhoek Lights")
    ticket_type_name = _text_field("Weekend pass")


class AllocatorData(OfferData):
    id = fields.String(required=True, metadata=ID_METADATA)
    name = _nullable_text_field("Gold sponsor")
    quantity = Whole(required=True)
    available = Whole(required=True)
    invited = Whole(required=True)
    claimed = Whole(required=True)
    admitted = Whole(required=True)
    slots = Items(Object(SlotData), required=True)
    pagination = Object(Pagination, required=True)


class WillCallRow(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    name = _nullable_text_field("Frieda Amupolo")
    email = _nullable_text_field("frieda@example.com")
    phone = _nullable_text_field("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE_METADATA)
    status = fields.String(required=True, metadata={"enum": ["claimed", "admitted"], "example": "claimed"})
    delivery = fields.String(required=True, allow_none=True, metadata=DELIVERY_METADATA)
    party_id = fields.String(required=True, allow_none=True, metadata=ID_METADATA)
    party_size = Whole(required=True)
    version = Whole(required=True)
    claimed_at = Moment(required=True)
    admitted_at = Moment(required=True, allow_none=True)
    gate = _nullable_text_field("North gate")
    block_id = fields.String(required=True, metadata=ID_METADATA)
    ticket_type_id = fields.String(required=True, metadata=ID_METADATA)
    ticket_type_name = _text_field("Weekend pass", required=True)
    block_name = _nullable_text_field("Gold sponsor")
    kind = fields.String(required=True, metadata={"enum": list(BLOCK_KINDS), "example": "sponsor"})
    organisation = _nullable_text_field("Kalahari Coffee")


class WillCallPage(Schema):
    slots = Items(Object(WillCallRow), required=True)
    pagination = Object(Pagination, required=True)


class AdmittedData(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata={**STATUS_METADATA, "example": "admitted"})
    name = _nullable_text_field("Frieda Amupolo")
    email = _nullable_text_field("frieda@example.com")
    phone = _nullable_text_field("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE_METADATA)
    ticket_type_id = fields.String(required=True, metadata=ID_METADATA)
    block_id = fields.String(required=True, metadata=ID_METADATA)
    party_id = fields.String(required=True, allow_none=True, metadata=ID_METADATA)
    party_size = Whole(required=True)
    version = Whole(required=True)
    admitted_at = Moment(required=True)
    gate = _nullable_text_field("North gate")
    admitted_by = _nullable_text_field("Nangula Shikongo")
    count = Whole(required=True, metadata={"description": "admitted by this scan"})
    slot_ids = Items(fields.String(metadata=ID_METADATA), required=True)


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
