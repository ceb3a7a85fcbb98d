"""Response schemas of allocations."""

from marshmallow import fields, pre_dump

from app.allocations.link_summaries import LINK_STATES
from app.allocations.queries import BlockRow
from app.allocations.states import BLOCK_KINDS, BLOCK_STATES, DELIVERIES, SLOT_STATES, VIA_VALUES
from app.blueprints.allocations.serializers import JsonObject, serialize_block
from app.web.access import get_current_caller
from app.web.fields import Boolean, List, Nested, TimeField, WholeNumber
from app.web.paging import Pagination
from app.web.schema import Schema

ID_METADATA = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
CODE_METADATA = {"example": "7K2Q9XRD4M"}
DELIVERY_METADATA = {"enum": [*DELIVERIES, None], "example": "e_ticket"}
STATUS_METADATA = {"enum": list(SLOT_STATES), "example": "invited"}


def text_field(example: str | None = None, *, required: bool = False, allow_none: bool = False) -> fields.String:
    """A text, with an example of it."""
    metadata = {"example": example} if example else {}
    return fields.String(metadata=metadata, required=required, allow_none=allow_none)


def nullable_text_field(example: str | None = None) -> fields.String:
    """A text that is always there, and may be null."""
    return text_field(example, required=True, allow_none=True)


def _money_field(description: str) -> WholeNumber:
    metadata = {"description": f"{description}, in cents; null without the permission `money.read`."}
    return WholeNumber(required=True, allow_none=True, metadata=metadata)


class HolderData(Schema):
    name = nullable_text_field("Frieda Amupolo")
    email = nullable_text_field("frieda@example.com")
    phone = nullable_text_field("+264811234567")
    organisation = nullable_text_field("Kalahari Coffee")


class AllocationLinkData(Schema):
    """The allocator link or the open link of a block."""

    url = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": "https://events.example/claim/T2Zm…",
            "description": "Null without a link, and without the permission `guests.write`.",
        },
    )
    status = fields.String(required=True, metadata={"enum": list(LINK_STATES), "example": "active"})
    remaining = WholeNumber(required=True)
    expires_at = TimeField(allow_none=True)
    max_claims = WholeNumber(allow_none=True)
    max_per_claim = WholeNumber()
    claims = WholeNumber()


class InvoiceShort(Schema):
    number = text_field("2026-000001", required=True)
    status = text_field("issued", required=True)
    total_minor = WholeNumber(required=True)
    paid_minor = WholeNumber(
        required=True, metadata={"description": "what was paid, less what was paid back", "example": 0}
    )
    due_minor = WholeNumber(required=True, metadata={"description": "still to be paid", "example": 1700000})


class ReleaseStepData(Schema):
    """A step of the release plan. It has run if `releasedAt` is set."""

    on = TimeField(required=True, metadata={"description": "when the step runs"})
    quantity = WholeNumber(required=True, allow_none=True)
    percent = WholeNumber(
        required=True, allow_none=True, metadata={"description": "of the places that are unused then", "example": 50}
    )
    released_at = TimeField(required=True, allow_none=True)
    released = WholeNumber(
        required=True, allow_none=True, metadata={"description": "how many places the step released", "example": 4}
    )


class AllocationTotals(Schema):
    """The sums over all blocks that the filters select, on all pages."""

    blocks = WholeNumber(required=True, metadata={"description": "number of blocks", "example": 12})
    quantity = WholeNumber(required=True)
    held = WholeNumber(required=True)
    available = WholeNumber(required=True)
    invited = WholeNumber(required=True)
    claimed = WholeNumber(required=True)
    admitted = WholeNumber(required=True)
    revoked = WholeNumber(required=True)
    released = WholeNumber(required=True)


class AllocationRow(Schema):
    """A block: it was created with `quantity` places and holds `held` of them now."""

    id = fields.String(required=True, metadata=ID_METADATA)
    event_id = fields.String(required=True, metadata=ID_METADATA)
    ticket_type_id = fields.String(required=True, metadata=ID_METADATA)
    ticket_type_name = text_field("Weekend pass", required=True)
    name = nullable_text_field("Gold sponsor")
    kind = fields.String(required=True, metadata={"enum": list(BLOCK_KINDS), "example": "sponsor"})
    status = fields.String(required=True, metadata={"enum": list(BLOCK_STATES), "example": "open"})
    holder = Nested(HolderData, required=True)
    buyer_name = nullable_text_field("Kalahari Coffee (Pty) Ltd")
    buyer_address = nullable_text_field("12 Independence Avenue\nWindhoek")
    buyer_vat_number = nullable_text_field("4567890-01-5")
    buyer_reference = nullable_text_field("PO-2026-118")
    pay_by = fields.Date(
        required=True,
        allow_none=True,
        metadata={
            "example": "2026-12-31",
            "description": "the day until which the invoice is to be paid, if it is chosen",
        },
    )
    quantity = WholeNumber(required=True)
    held = WholeNumber(required=True)
    available = WholeNumber(required=True)
    invited = WholeNumber(required=True)
    claimed = WholeNumber(required=True)
    admitted = WholeNumber(required=True)
    revoked = WholeNumber(required=True)
    released = WholeNumber(required=True)
    currency = text_field("NAD", required=True)
    unit_price_minor = _money_field("Price of one place")
    subtotal_minor = _money_field("Sum before discounts")
    discount_minor = _money_field("Discounts")
    vat_minor = _money_field("VAT inside the total")
    total_minor = _money_field("Total of the places held, VAT included")
    promo_code = nullable_text_field()
    release_at = TimeField(required=True, allow_none=True)
    release_plan = List(
        Nested(ReleaseStepData), required=True, metadata={"description": "steps that release unused places, by time"}
    )
    notes = nullable_text_field()
    guests_may_pass_on = Boolean(required=True)
    guests_may_give_back = Boolean(required=True)
    allocator_link = Nested(AllocationLinkData, required=True)
    open_link = Nested(AllocationLinkData, required=True)
    invoice = Nested(
        InvoiceShort,
        required=True,
        allow_none=True,
        metadata={
            "description": "The invoice of the block; null before it is issued, and without the permission `money.read`."
        },
    )
    version = WholeNumber(required=True)
    created_at = TimeField(required=True)
    updated_at = TimeField(required=True)

    @pre_dump
    def serialize_row(self, row: BlockRow, **_: object) -> JsonObject:
        return serialize_block(row, get_current_caller())


class SlotData(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata=STATUS_METADATA)
    via = fields.String(required=True, allow_none=True, metadata={"enum": [*VIA_VALUES, None], "example": "invite"})
    name = nullable_text_field("Frieda Amupolo")
    email = nullable_text_field("frieda@example.com")
    phone = nullable_text_field("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE_METADATA)
    delivery = fields.String(required=True, allow_none=True, metadata=DELIVERY_METADATA)
    party_id = fields.String(required=True, allow_none=True, metadata=ID_METADATA)
    party_size = WholeNumber(required=True)
    version = WholeNumber(required=True)
    reminded_at = TimeField(required=True, allow_none=True)
    claimed_at = TimeField(required=True, allow_none=True)
    admitted_at = TimeField(required=True, allow_none=True)
    gate = nullable_text_field("North gate")
    ended_at = TimeField(required=True, allow_none=True)


class AllocationData(AllocationRow):
    """A block with a page of its slots."""

    slots = List(Nested(SlotData), required=True)
    pagination = Nested(Pagination, required=True)


class ReportGuest(Schema):
    name = nullable_text_field("Frieda Amupolo")
    status = fields.String(required=True, metadata={"enum": ["invited", "claimed", "admitted"], "example": "claimed"})
    via = fields.String(required=True, metadata={"enum": list(VIA_VALUES), "example": "invite"})
    claimed_at = TimeField(required=True, allow_none=True)
    admitted_at = TimeField(required=True, allow_none=True)


class ReportData(Schema):
    """What a holder wants to know about a block. Guests have names, but no addresses and no codes."""

    block_id = fields.String(required=True, metadata=ID_METADATA)
    name = nullable_text_field("Gold sponsor")
    holder = Nested(HolderData, required=True)
    event_name = text_field("Windhoek Lights", required=True)
    ticket_type_name = text_field("Weekend pass", required=True)
    organiser_name = text_field("Windhoek Lights", required=True)
    generated_at = TimeField(required=True)
    quantity = WholeNumber(required=True)
    held = WholeNumber(required=True)
    available = WholeNumber(required=True)
    invited = WholeNumber(required=True)
    claimed = WholeNumber(required=True)
    admitted = WholeNumber(required=True)
    given_back = WholeNumber(required=True, metadata={"description": "places that went back on sale", "example": 4})
    guests = List(Nested(ReportGuest), required=True, metadata={"description": "names and states of the guests"})


class CodeData(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    code = fields.String(required=True, metadata=CODE_METADATA)
    status = fields.String(metadata=STATUS_METADATA)
    name = text_field(allow_none=True)
    email = text_field(allow_none=True)


class CodesData(Schema):
    codes = List(Nested(CodeData), required=True)
    claim_url = text_field("https://events.example/claim/", required=True)


class InvitedGuest(Schema):
    slot_id = fields.String(metadata=ID_METADATA)
    name = text_field("Frieda Amupolo", required=True)
    email = text_field("frieda@example.com", required=True, allow_none=True)
    url = text_field("https://events.example/claim/Q2Zm…")
    quantity = WholeNumber(metadata={"description": "places of a guest on the list at the gate", "example": 2})
    reason = fields.String(metadata={"enum": ["ALREADY_INVITED", "LISTED_TWICE"], "example": "LISTED_TWICE"})


class InvitesData(Schema):
    invited = List(Nested(InvitedGuest), required=True)
    mailed = List(Nested(InvitedGuest), required=True, metadata={"description": "guests who get their ticket by email"})
    listed = List(
        Nested(InvitedGuest), required=True, metadata={"description": "guests on the list at the gate, without a mail"}
    )
    duplicates = List(Nested(InvitedGuest), required=True)
    available = WholeNumber(required=True, metadata={"description": "places left in the block"})
    dry_run = Boolean(required=True)


class HandedOutData(Schema):
    mailed = List(Nested(InvitedGuest), required=True, metadata={"description": "guests who get their ticket by email"})
    listed = List(
        Nested(InvitedGuest), required=True, metadata={"description": "guests on the list at the gate, without a mail"}
    )
    duplicates = List(
        Nested(InvitedGuest),
        required=True,
        metadata={"description": "guests who are listed twice or have a place by this link; they get none"},
    )
    available = WholeNumber(required=True, metadata={"description": "places left in the block"})
    dry_run = Boolean(required=True)


class RemindedRow(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    name = text_field(allow_none=True)
    email = text_field(allow_none=True)
    reason = text_field("REMINDED_RECENTLY")
    reminded_at = TimeField()


class RemindData(Schema):
    reminded = List(Nested(RemindedRow), required=True)
    skipped = List(Nested(RemindedRow), required=True)


class ReleaseData(Schema):
    released = WholeNumber(required=True)
    public_available_before = WholeNumber(required=True)
    public_available_after = WholeNumber(required=True)
    dry_run = Boolean(required=True)


class RevokedData(SlotData):
    return_to = fields.String(required=True, metadata={"enum": ["block", "public"], "example": "block"})


class MoveData(Schema):
    source = Nested(AllocationRow, required=True, data_key="from")
    target = Nested(AllocationRow, required=True, data_key="to")


class WillCallRow(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    name = nullable_text_field("Frieda Amupolo")
    email = nullable_text_field("frieda@example.com")
    phone = nullable_text_field("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE_METADATA)
    status = fields.String(required=True, metadata={"enum": ["claimed", "admitted"], "example": "claimed"})
    delivery = fields.String(required=True, allow_none=True, metadata=DELIVERY_METADATA)
    party_id = fields.String(required=True, allow_none=True, metadata=ID_METADATA)
    party_size = WholeNumber(required=True)
    version = WholeNumber(required=True)
    claimed_at = TimeField(required=True)
    admitted_at = TimeField(required=True, allow_none=True)
    gate = nullable_text_field("North gate")
    block_id = fields.String(required=True, metadata=ID_METADATA)
    ticket_type_id = fields.String(required=True, metadata=ID_METADATA)
    ticket_type_name = text_field("Weekend pass", required=True)
    block_name = nullable_text_field("Gold sponsor")
    kind = fields.String(required=True, metadata={"enum": list(BLOCK_KINDS), "example": "sponsor"})
    organisation = nullable_text_field("Kalahari Coffee")


class WillCallPage(Schema):
    slots = List(Nested(WillCallRow), required=True)
    pagination = Nested(Pagination, required=True)


class AdmittedData(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata={**STATUS_METADATA, "example": "admitted"})
    name = nullable_text_field("Frieda Amupolo")
    email = nullable_text_field("frieda@example.com")
    phone = nullable_text_field("+264811234567")
    code = fields.String(required=True, allow_none=True, metadata=CODE_METADATA)
    ticket_type_id = fields.String(required=True, metadata=ID_METADATA)
    block_id = fields.String(required=True, metadata=ID_METADATA)
    party_id = fields.String(required=True, allow_none=True, metadata=ID_METADATA)
    party_size = WholeNumber(required=True)
    version = WholeNumber(required=True)
    admitted_at = TimeField(required=True)
    gate = nullable_text_field("North gate")
    admitted_by = nullable_text_field("Nangula Shikongo")
    count = WholeNumber(required=True, metadata={"description": "admitted by this scan"})
    slot_ids = List(fields.String(metadata=ID_METADATA), required=True)


class LineData(Schema):
    description = fields.String(required=True, metadata={"example": "Weekend pass"})
    quantity = WholeNumber(required=True)
    unit_price_minor = WholeNumber(required=True)
    amount_minor = WholeNumber(required=True)


class PromoCodeData(Schema):
    code = fields.String(required=True, metadata={"example": "EARLYBIRD"})
    max_uses = WholeNumber(required=True, allow_none=True)
    used = WholeNumber(required=True, metadata={"description": "blocks that were made with it"})
    remaining = WholeNumber(required=True, allow_none=True, metadata={"description": "at 0 the code takes nothing off"})


class QuoteData(Schema):
    ticket_type_id = fields.String(required=True, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6"})
    quantity = WholeNumber(required=True)
    currency = fields.String(required=True, metadata={"example": "NAD"})
    unit_price_minor = WholeNumber(required=True)
    lines = List(Nested(LineData), required=True)
    subtotal_minor = WholeNumber(required=True)
    discount_minor = WholeNumber(required=True)
    vat_minor = WholeNumber(required=True, metadata={"description": "inside the total"})
    vat_percent = fields.Float(required=True)
    total_minor = WholeNumber(required=True)
    available = WholeNumber(
        required=True, metadata={"description": "free for the public now, within the event's capacity"}
    )
    fits = Boolean(required=True)
    promo_code = Nested(PromoCodeData, required=True, allow_none=True)
