"""Request and response schemas of invitations (specification 4.3 and 4.6)."""

from marshmallow import fields

from app.applications.states import STATES as APPLICATION_STATES
from app.invitations.states import ANSWERS, LINK_STATES, STATUSES
from app.merchants.states import FLOOR_STATUSES
from app.web.fields import Boolean, Choice, Email, EndTimeField, List, Nested, Secret, Text, TimeField, WholeNumber
from app.web.schema import Query, RequiredFieldsSchema, Schema
from app.web.text_fields import EmailName, EmailText, Name

MAX_FEE_MINOR = 10_000_000_00
EXAMPLE_ID = "6565a1f0c3d2e1b0a9f8e7d6"
ID_METADATA = {"example": EXAMPLE_ID}
STALL_NUMBER = {"example": "B12", "description": "the number in the plan; one stall of the event has it"}
POWER = {"example": "16 A", "description": "watts, or what the stall needs"}
WATER = {"example": True, "description": "whether the stall has water"}
PLACE_NOTE = {"example": "Beside the gate", "description": "for the plan"}


class DirectoryQuery(Query):
    q = Text(max=120, metadata={"description": "prefixes of words in the names, the category and the city"})
    category = Text(max=80)
    city = Text(max=120)


class DirectoryRow(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    business_name = fields.String(required=True)
    stall_name = fields.String(required=True, allow_none=True)
    category = fields.String(required=True, allow_none=True)
    city = fields.String(required=True, allow_none=True)
    invite_status = fields.String(
        required=True, allow_none=True, metadata={"enum": list(STATUSES), "example": "pending"}
    )
    application_status = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": [*APPLICATION_STATES, None],
            "example": "submitted",
            "description": "of the newest application to this event that has not ended",
        },
    )
    takes_part = Boolean(required=True)


class TermsBody(Schema):
    message = EmailText(max=1000, allow_none=True, metadata={"example": "We would love to have you at gate B."})
    stall_type = EmailName(max=120, allow_none=True, metadata={"example": "Food stall"})
    fee_minor = WholeNumber(
        min=0, max=MAX_FEE_MINOR, allow_none=True, metadata={"description": "by default the stall type's"}
    )
    expires_at = EndTimeField(
        allow_none=True,
        metadata={"description": "by default in a week, two days before the event at most; at the latest its end"},
    )


class DirectoryInvitesBody(TermsBody, RequiredFieldsSchema):
    required_names = ("merchant_ids",)

    merchant_ids = List(Text(min=1, max=24, metadata=ID_METADATA), min=1, max=200)
    withdraw = Boolean(metadata={"description": "true withdraws the pending invitations of these merchants"})


class MerchantInviteBody(TermsBody):
    email = Email(allow_none=True)
    business_name = EmailName(max=200, allow_none=True, metadata={"example": "Kapana Corner"})
    max_uses = WholeNumber(
        min=1, max=100_000, allow_none=True, metadata={"description": "1 with an email, else no limit"}
    )
    slug = Secret(max=100, metadata={"rare": True, "description": "with `revoke`: the link to end"})
    revoke = Boolean(metadata={"rare": True, "description": "true ends the link `slug`"})


class AnswerBody(RequiredFieldsSchema):
    required_names = ("status",)

    status = Choice(*ANSWERS)
    message = Text(max=1000, allow_none=True, metadata={"example": "Gladly; we need a power socket."})


class FloorStatusBody(Schema):
    status = Choice(*FLOOR_STATUSES, required=True)
    event_id = Text(min=1, max=24, metadata={**ID_METADATA, "description": "one event; else all that are not over"})


class InvitesQuery(Query):
    status = Choice(*STATUSES)
    event_id = Text(max=24, metadata=ID_METADATA)


class Invited(Schema):
    merchant_id = fields.String(required=True, metadata=ID_METADATA)
    invite_id = fields.String(required=True, attribute="id", allow_none=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": STATUSES[0]})


class InvitedData(Schema):
    invited = List(Nested(Invited))
    already_invited = List(Nested(Invited))
    unavailable = List(fields.String(metadata=ID_METADATA), metadata={"description": "unknown, paused or not verified"})
    withdrawn = List(Nested(Invited))


class EventPlaceAndTime(Schema):
    organiser_name = fields.String(required=True)
    city = fields.String(required=True)
    venue = fields.String(required=True)
    country = fields.String(required=True)
    timezone = fields.String(required=True)
    starts_at = TimeField(required=True)
    ends_at = TimeField(required=True)


class EventFields(EventPlaceAndTime):
    event_id = fields.String(required=True, metadata=ID_METADATA)
    event_name = fields.String(required=True)


class Terms(Schema):
    stall_type = fields.String(required=True, allow_none=True)
    fee_minor = WholeNumber(required=True, allow_none=True)
    message = fields.String(required=True, allow_none=True)
    expires_at = TimeField(required=True)


class InviteRow(EventFields, Terms):
    id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": STATUSES[0]})
    reply = fields.String(required=True, allow_none=True)
    automatic = Boolean(required=True, metadata={"description": "accepted automatically by the merchant's setting"})
    created_at = TimeField(required=True)
    decided_at = TimeField(required=True, allow_none=True)
    version = WholeNumber(required=True)


class LinkData(Terms):
    id = fields.String(required=True, metadata=ID_METADATA)
    event_id = fields.String(required=True, metadata=ID_METADATA)
    slug = fields.String(required=True, metadata={"example": EXAMPLE_ID + "kQ3vXa1s9dKfLm0pQrTz2w"})
    url = fields.String(required=True, metadata={"example": "https://events.example/merchant-invite/6565…"})
    state = fields.String(required=True, metadata={"enum": list(LINK_STATES), "example": LINK_STATES[0]})
    email = fields.String(required=True, allow_none=True)
    business_name = fields.String(required=True, allow_none=True)
    max_uses = WholeNumber(required=True, allow_none=True)
    uses = WholeNumber(required=True)
    mailed = Boolean()
    already_invited = Boolean(metadata={"description": "the email has this invitation already; no mail went out"})


class PublicLinkData(EventFields, Terms):
    slug = fields.String(required=True)
    state = fields.String(required=True, metadata={"enum": list(LINK_STATES), "example": LINK_STATES[0]})
    business_name = fields.String(required=True, allow_none=True)


class TakenPartRow(EventPlaceAndTime):
    id = fields.String(required=True, metadata={**ID_METADATA, "description": "of the event"})
    name = fields.String(required=True)
    visibility = fields.String(required=True)
    stall_type = fields.String(required=True, allow_none=True)
    fee_minor = WholeNumber(required=True, allow_none=True)
    floor_status = fields.String(required=True, metadata={"enum": list(FLOOR_STATUSES), "example": FLOOR_STATUSES[0]})
    joined_at = TimeField(required=True)


class FloorStatusData(Schema):
    status = fields.String(required=True, metadata={"enum": list(FLOOR_STATUSES), "example": FLOOR_STATUSES[0]})
    event_ids = List(
        fields.String(metadata=ID_METADATA), required=True, metadata={"description": "events where it applies now"}
    )


class StallsQuery(Query):
    q = Text(max=120, metadata={"description": "in the business, the number and the stall type", "example": "kapana"})
    floor_status = Choice(*FLOOR_STATUSES)


class StallPlaceBody(Schema):
    stall_number = Name(max=20, allow_none=True, metadata=STALL_NUMBER)
    power = Name(max=80, allow_none=True, metadata=POWER)
    water = Boolean(metadata=WATER)
    note = Text(max=500, allow_none=True, metadata=PLACE_NOTE)


class StallRow(Schema):
    """A stall of the event: what it is, whether it is open, and its place in the plan."""

    id = fields.String(required=True, metadata={**ID_METADATA, "description": "of the merchant"})
    business_name = fields.String(required=True, allow_none=True)
    stall_name = fields.String(required=True, allow_none=True)
    stall_type = fields.String(required=True, allow_none=True)
    floor_status = fields.String(required=True, metadata={"enum": list(FLOOR_STATUSES), "example": FLOOR_STATUSES[0]})
    stall_number = fields.String(required=True, allow_none=True, metadata=STALL_NUMBER)
    power = fields.String(required=True, allow_none=True, metadata=POWER)
    water = Boolean(required=True, metadata=WATER)
    note = fields.String(required=True, allow_none=True, metadata=PLACE_NOTE)
    version = WholeNumber(required=True)
