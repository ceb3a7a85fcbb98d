"""Response schemas of links: what is offered and claimed with them, and the tickets of a link."""

from marshmallow import fields

from app.allocations.states import VIA_VALUES
from app.blueprints.allocations.response_schemas import (
    CODE_METADATA,
    DELIVERY_METADATA,
    ID_METADATA,
    STATUS_METADATA,
    SlotData,
    nullable_text_field,
    text_field,
)
from app.web.fields import Boolean, List, Nested, TimeField, WholeNumber
from app.web.paging import Pagination
from app.web.schema import Schema


class OfferData(Schema):
    """The event of a link."""

    event_name = text_field("Windhoek Lights", required=True)
    venue = text_field("River grounds", required=True)
    city = text_field("Windhoek", required=True)
    starts_at = TimeField(required=True)
    ends_at = TimeField(required=True)
    timezone = text_field("Africa/Windhoek", required=True)
    organiser_name = text_field("Windhoek Lights", required=True)
    contact_email = text_field("nangula@windhoek-lights.example", required=True)
    ticket_type_name = text_field("Weekend pass", required=True)
    valid_from = TimeField(required=True, allow_none=True)
    valid_until = TimeField(required=True, allow_none=True)
    holder_organisation = nullable_text_field("Kalahari Coffee")
    release_at = TimeField(required=True, allow_none=True)


class ClaimOffer(OfferData):
    status = fields.String(required=True, metadata={"enum": ["invited", "available"], "example": "invited"})
    via = fields.String(required=True, metadata={"enum": list(VIA_VALUES), "example": "invite"})
    name = text_field("Frieda Amupolo", allow_none=True)
    email = text_field("frieda@example.com", allow_none=True)
    phone = text_field("+264811234567", allow_none=True)
    remaining = WholeNumber(required=True)
    max_per_claim = WholeNumber(required=True)
    expires_at = TimeField(allow_none=True)


class ClaimedSlot(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    code = fields.String(required=True, metadata=CODE_METADATA)


class ClaimedData(Schema):
    slot_id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata={**STATUS_METADATA, "example": "claimed"})
    code = fields.String(metadata=CODE_METADATA, allow_none=True)
    name = nullable_text_field("Frieda Amupolo")
    email = nullable_text_field("frieda@example.com")
    phone = nullable_text_field("+264811234567")
    delivery = fields.String(allow_none=True, metadata=DELIVERY_METADATA)
    quantity = WholeNumber()
    slots = List(Nested(ClaimedSlot))
    claimed_at = TimeField(allow_none=True)
    event_name = text_field("Windhoek Lights")
    ticket_type_name = text_field("Weekend pass")
    ticket_url = text_field("https://events.example/ticket/VGVk…")


class TicketData(Schema):
    """A ticket, as its guest sees it."""

    slot_id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata={**STATUS_METADATA, "example": "claimed"})
    code = fields.String(required=True, metadata=CODE_METADATA)
    name = text_field("Frieda Amupolo", required=True)
    may_pass_on = Boolean(required=True)
    may_give_back = Boolean(required=True)
    ticket_url = text_field("https://events.example/ticket/VGVk…", required=True)


class LinkedTicketsData(Schema):
    """The tickets of a link: one, or those of a party that are still with the guest who claimed them."""

    event_name = text_field("Windhoek Lights", required=True)
    starts_at = TimeField(required=True)
    ends_at = TimeField(required=True)
    valid_from = TimeField(required=True, allow_none=True)
    valid_until = TimeField(required=True, allow_none=True)
    timezone = text_field("Africa/Windhoek", required=True)
    place = text_field("River grounds, Windhoek", required=True)
    map_url = text_field("https://www.openstreetmap.org/search?query=River+grounds%2C+Windhoek", required=True)
    event_cancelled = Boolean(
        required=True, metadata={"description": "The event is cancelled: no ticket admits to it."}
    )
    tickets = List(Nested(TicketData), required=True)


class PassedOnData(Schema):
    event_name = text_field("Windhoek Lights", required=True)
    name = text_field("Frieda Amupolo", required=True)
    email = text_field("frieda@example.com", required=True)


class GivenBackData(Schema):
    event_name = text_field("Windhoek Lights", required=True)
    status = fields.String(required=True, metadata={**STATUS_METADATA, "example": "revoked"})


class AllocatorData(OfferData):
    id = fields.String(required=True, metadata=ID_METADATA)
    name = nullable_text_field("Gold sponsor")
    quantity = WholeNumber(required=True)
    available = WholeNumber(required=True)
    invited = WholeNumber(required=True)
    claimed = WholeNumber(required=True)
    admitted = WholeNumber(required=True)
    handed_out_by_organiser = WholeNumber(
        required=True,
        metadata={
            "example": 8,
            "description": "How many places the organiser has handed out, by themselves or by links and codes of theirs.",
        },
    )
    slots = List(Nested(SlotData), required=True)
    pagination = Nested(Pagination, required=True)
