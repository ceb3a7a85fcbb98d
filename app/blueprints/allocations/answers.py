"""What the operations on allocations give."""

from typing import Any

from marshmallow import fields, pre_dump

from app.allocations import shown
from app.allocations.states import BLOCK_STATES, DELIVERIES, KINDS, SLOT_STATES, WAYS
from app.web.fields import Flag, Items, Moment, Object, Whole
from app.web.paging import Pagination
from app.web.schema import Schema

ID = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
CODE = {"example": "7K2Q9XRD4M"}
DELIVERY = {"enum": [*DELIVERIES, None], "example": "e_ticket"}
STATUS = {"enum": list(SLOT_STATES), "example": "invited"}


def _word(example: str | None = None, **options: Any) -> fields.String:
    return fields.String(metadata={"example": example} if example else {}, **options)


def _maybe(example: str | None = None, **options: Any) -> fields.String:
    return _word(example, required=True, allow_none=True, **options)


class HolderData(Schema):
    name = _maybe("Frieda Amupolo")
    email = _maybe("frieda@example.com")
    phone = _maybe("+264811234567")
    organisation = _maybe("Kalahari Coffee")


class AllocationLinkData(Schema):
    """A link of a block."""

    url = _maybe("https://events.example/claim/T2Zm…")
    status = fields.String(required=True, metadata={"enum": list(shown.LINK_STATES), "example": "active"})
    remaining = Whole(required=True)
    expires_at = Moment(allow_none=True)
    max_claims = Whole(allow_none=True)
    max_per_claim = Whole()
    claims = Whole()


class InvoiceShort(Schema):
    number = _word("2026-000001", required=True)
    status = _word("issued", required=True)
    total_minor = Whole(required=True)


class AllocationRow(Schema):
    """A block: `quantity` places were kept, `held` of them are still its own."""

    id = fields.String(required=True, metadata=ID)
    event_id = fields.String(required=True, metadata=ID)
    ticket_type_id = fields.String(required=True, metadata=ID)
    ticket_type_name = _word("Weekend pass", required=True)
    name = _maybe("Gold sponsor")
    kind = fields.String(required=True, metadata={"enum": list(KINDS), "example": "sponsor"})
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
    currency = _word("NAD", required=True)
    unit_price_minor = Whole(required=True)
    subtotal_minor = Whole(required=True)
    discount_minor = Whole(required=True)
    vat_minor = Whole(required=True)
    total_minor = Whole(required=True, metadata={"description": "of the places held"})
    promo_code = _maybe()
    release_at = Moment(required=True, allow_none=True)
    notes = _maybe()
    allocator_link = Object(AllocationLinkData, required=True)
    open_link = Object(AllocationLinkData, required=True)
    invoice = Object(InvoiceShort, required=True, allow_none=True)
    version = Whole(required=True)
    created_at = Moment(required=True)
    updated_at = Moment(required=True)

    @pre_dump
    def told(self, row: Any, **_: Any) -> Any:
        return row if "holder" in row else shown.block(row)


class SlotData(Schema):
    id = fields.String(required=True, metadata=ID)
    status = fields.String(required=True, metadata=STATUS)
    via = fields.String(required=True, allow_none=True, metadata={"enum": [*WAYS, None], "example": "invite"})
    name = _maybe("Frieda Amupolo")
    email = _maybe("frieda@example.com")
    phone = _maybe("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE)
    delivery = fields.String(required=True, allow_none=True, metadata=DELIVERY)
    party_id = fields.String(required=True, allow_none=True, metadata=ID)
    party_size = Whole(required=True)
    version = Whole(required=True)
    reminded_at = Moment(required=True, allow_none=True)
    claimed_at = Moment(required=True, allow_none=True)
    admitted_at = Moment(required=True, allow_none=True)
    gate = _maybe("North gate")
    ended_at = Moment(required=True, allow_none=True)


class AllocationData(AllocationRow):
    """A block with a page of its slots."""

    slots = Items(Object(SlotData), required=True)
    pagination = Object(Pagination, required=True)


class CodeData(Schema):
    slot_id = fields.String(required=True, metadata=ID)
    code = fields.String(required=True, metadata=CODE)
    status = fields.String(metadata=STATUS)
    name = _word(allow_none=True)
    email = _word(allow_none=True)


class CodesData(Schema):
    codes = Items(Object(CodeData), required=True)
    claim_url = _word("https://events.example/claim/", required=True)


class InvitedGuest(Schema):
    slot_id = fields.String(metadata=ID)
    name = _word("Frieda Amupolo", required=True)
    email = _word("frieda@example.com", required=True)
    url = _word("https://events.example/claim/Q2Zm…")
    reason = fields.String(metadata={"enum": ["ALREADY_INVITED", "LISTED_TWICE"], "example": "LISTED_TWICE"})


class InvitesData(Schema):
    invited = Items(Object(InvitedGuest), required=True)
    duplicates = Items(Object(InvitedGuest), required=True)
    available = Whole(required=True, metadata={"description": "places left in the block"})
    dry_run = Flag(required=True)


class RemindedRow(Schema):
    slot_id = fields.String(required=True, metadata=ID)
    name = _word(allow_none=True)
    email = _word(allow_none=True)
    reason = _word("REMINDED_RECENTLY")
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

    event_name = _word("Windhoek Lights", required=True)
    venue = _word("River grounds", required=True)
    city = _word("Windhoek", required=True)
    starts_at = Moment(required=True)
    ends_at = Moment(required=True)
    timezone = _word("Africa/Windhoek", required=True)
    organiser_name = _word("Windhoek Lights", required=True)
    contact_email = _word("nangula@windhoek-lights.example", required=True)
    ticket_type_name = _word("Weekend pass", required=True)
    holder_organisation = _maybe("Kalahari Coffee")
    release_at = Moment(required=True, allow_none=True)


class ClaimOffer(OfferData):
    status = fields.String(required=True, metadata={"enum": ["invited", "available"], "example": "invited"})
    via = fields.String(required=True, metadata={"enum": list(WAYS), "example": "invite"})
    name = _word("Frieda Amupolo", allow_none=True)
    email = _word("frieda@example.com", allow_none=True)
    phone = _word("+264811234567", allow_none=True)
    remaining = Whole(required=True)
    max_per_claim = Whole(required=True)
    expires_at = Moment(allow_none=True)


class ClaimedSlot(Schema):
    slot_id = fields.String(required=True, metadata=ID)
    code = fields.String(required=True, metadata=CODE)


class ClaimedData(Schema):
    slot_id = fields.String(required=True, metadata=ID)
    status = fields.String(required=True, metadata={**STATUS, "example": "claimed"})
    code = fields.String(metadata=CODE, allow_none=True)
    name = _maybe("Frieda Amupolo")
    email = _maybe("frieda@example.com")
    phone = _maybe("+264811234567")
    delivery = fields.String(allow_none=True, metadata=DELIVERY)
    quantity = Whole()
    slots = Items(Object(ClaimedSlot))
    claimed_at = Moment(allow_none=True)
    event_name = _word("Windhoek Lights")
    ticket_type_name = _word("Weekend pass")


class AllocatorData(OfferData):
    id = fields.String(required=True, metadata=ID)
    name = _maybe("Gold sponsor")
    quantity = Whole(required=True)
    available = Whole(required=True)
    invited = Whole(required=True)
    claimed = Whole(required=True)
    admitted = Whole(required=True)
    slots = Items(Object(SlotData), required=True)
    pagination = Object(Pagination, required=True)


class WillCallRow(Schema):
    slot_id = fields.String(required=True, metadata=ID)
    name = _maybe("Frieda Amupolo")
    email = _maybe("frieda@example.com")
    phone = _maybe("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE)
    status = fields.String(required=True, metadata={"enum": ["claimed", "admitted"], "example": "claimed"})
    delivery = fields.String(required=True, allow_none=True, metadata=DELIVERY)
    party_id = fields.String(required=True, allow_none=True, metadata=ID)
    party_size = Whole(required=True)
    version = Whole(required=True)
    claimed_at = Moment(required=True)
    admitted_at = Moment(required=True, allow_none=True)
    gate = _maybe("North gate")
    block_id = fields.String(required=True, metadata=ID)
    ticket_type_id = fields.String(required=True, metadata=ID)
    ticket_type_name = _word("Weekend pass", required=True)
    block_name = _maybe("Gold sponsor")
    kind = fields.String(required=True, metadata={"enum": list(KINDS), "example": "sponsor"})
    organisation = _maybe("Kalahari Coffee")


class WillCallPage(Schema):
    slots = Items(Object(WillCallRow), required=True)
    pagination = Object(Pagination, required=True)


class AdmittedData(Schema):
    slot_id = fields.String(required=True, metadata=ID)
    status = fields.String(required=True, metadata={**STATUS, "example": "admitted"})
    name = _maybe("Frieda Amupolo")
    email = _maybe("frieda@example.com")
    phone = _maybe("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE)
    ticket_type_id = fields.String(required=True, metadata=ID)
    block_id = fields.String(required=True, metadata=ID)
    party_id = fields.String(required=True, allow_none=True, metadata=ID)
    party_size = Whole(required=True)
    version = Whole(required=True)
    admitted_at = Moment(required=True)
    gate = _maybe("North gate")
    admitted_by = _maybe("Nangula Shikongo")
    count = Whole(required=True, metadata={"description": "admitted by this scan"})
    slot_ids = Items(fields.String(metadata=ID), required=True)
