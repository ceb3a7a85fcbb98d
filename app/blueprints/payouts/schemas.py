"""Request and response schemas of payouts (specification 4.0-P)."""

from marshmallow import ValidationError, fields, validates_schema

from app.payouts.destination_encryption import DESTINATIONS
from app.payouts.states import ACTORS, STATES
from app.web.confirmation import ConfirmedBody
from app.web.fields import (
    Boolean,
    BoundedTimeField,
    Choice,
    List,
    Nested,
    Phone,
    Secret,
    Text,
    TimeField,
    WholeNumber,
    field_error,
)
from app.web.schema import Query, Schema

MAX_AMOUNT_MINOR = 10**12
AMOUNT_METADATA = {"example": 50000, "description": "NAD cents"}
SCHEDULE_METADATA = {
    "rare": True,
    "description": "with the mode schedule: when, within 90 days; a naive time is in the merchant's time zone",
}
REFUSAL_CODES = [
    "EMAIL_NOT_VERIFIED",
    "MERCHANT_PAUSED",
    "PAYOUT_DETAILS_MISSING",
    "INSUFFICIENT_FUNDS",
    "PAYRAIL_DISABLED",
]


class PayoutBody(ConfirmedBody):
    """How much is paid out, when, and where to."""

    amount_minor = WholeNumber(required=True, min=1, max=MAX_AMOUNT_MINOR, metadata=AMOUNT_METADATA)
    destination = Choice(*DESTINATIONS, required=True)
    mode = Choice("now", "schedule", required=True)
    scheduled_for = BoundedTimeField(min=8, max=40, metadata=SCHEDULE_METADATA)
    payrail_msisdn = Phone(min=8, max=20, metadata={"description": "the wallet; by default that of payoutDetails"})
    idempotency_key = Secret(min=8, max=80, metadata={"rare": True, "description": "the same as Idempotency-Key"})

    @validates_schema
    def check_schedule_mode(self, data: dict[str, object], **_: object) -> None:
        """Refuse a time with the mode `now`: a payout that left too early cannot be taken back."""
        if data.get("mode") == "now" and data.get("scheduled_for") is not None:
            error = field_error("unexpected_value", "Leave it out, or choose the mode schedule.")
            raise ValidationError({"scheduledFor": error.messages})


class PayoutWish(Query):
    """The fields of a request as query parameters: filters of the list, inputs of availability."""

    amount_minor = WholeNumber(min=1, max=MAX_AMOUNT_MINOR, metadata=AMOUNT_METADATA)
    destination = Choice(*DESTINATIONS)
    mode = Choice("now", "schedule")
    scheduled_for = BoundedTimeField(min=8, max=40, metadata={"description": "a time, or a date for the whole day"})
    payrail_msisdn = Phone(min=8, max=20, metadata={"description": "the wallet; by default that of payoutDetails"})
    idempotency_key = Text(min=8, max=80, metadata={"rare": True, "description": "the key that it was made with"})


class PayoutFilters(PayoutWish):
    status = Choice(*STATES)


class PayoutStep(Schema):
    status = fields.String(required=True, metadata={"enum": list(STATES), "example": "requested"})
    at = TimeField(required=True)
    actor = fields.String(required=True, metadata={"enum": list(ACTORS), "example": "merchant"})
    reason = fields.String(required=True, allow_none=True)


class PayoutRow(Schema):
    id = fields.String(required=True)
    version = WholeNumber(required=True)
    status = fields.String(required=True, metadata={"enum": list(STATES), "example": "processing"})
    conclusive = Boolean(
        required=True, metadata={"description": "whether it has ended; only a bounce can follow `paid`"}
    )
    on_hold = Boolean(required=True, metadata={"description": "it waits because the merchant has paused"})
    amount_minor = WholeNumber(required=True, metadata=AMOUNT_METADATA)
    currency = fields.String(required=True, metadata={"example": "NAD"})
    destination = fields.String(required=True, metadata={"enum": list(DESTINATIONS), "example": "payrail"})
    shown_as = fields.String(
        required=True, data_key="destinationShown", metadata={"example": "••••567", "description": "masked"}
    )
    mode = fields.String(required=True, metadata={"enum": ["now", "schedule"], "example": "now"})
    scheduled_for = TimeField(required=True, allow_none=True)
    reason = fields.String(required=True, allow_none=True, metadata={"description": "why it failed, as the rail says"})
    held_until = TimeField(
        required=True,
        allow_none=True,
        metadata={"description": "it does not leave before: nothing was paid to its destination before the request"},
    )
    created_at = TimeField(required=True)
    updated_at = TimeField(required=True)
    submitted_at = TimeField(required=True, allow_none=True)
    settled_at = TimeField(required=True, allow_none=True)


class PayoutData(PayoutRow):
    history = List(Nested(PayoutStep), required=True)


class AvailabilityData(Schema):
    balance_minor = WholeNumber(
        required=True, metadata={"example": 482000, "description": "available and held together"}
    )
    held_minor = WholeNumber(required=True, metadata={"example": 125000, "description": "on its way out"})
    available_minor = WholeNumber(required=True, metadata={"example": 357000})
    currency = fields.String(required=True, metadata={"example": "NAD"})
    next_payout_at = TimeField(required=True, allow_none=True, metadata={"description": "the next that is scheduled"})
    payable = Boolean(metadata={"description": "with amountMinor: whether it could be paid out now"})
    reasons = List(fields.String(metadata={"enum": REFUSAL_CODES, "example": REFUSAL_CODES[3]}))
