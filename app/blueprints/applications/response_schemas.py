"""Response schemas of merchant applications."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, pre_dump

from app.applications import serializers
from app.applications.documents import KINDS
from app.applications.queries import ApplicationRecord
from app.applications.states import ANSWERS, PURPOSES, REFUND_METHODS, REFUND_STATES, RISK_LEVELS, STATES
from app.web.fields import Boolean, List, Nested, TimeField, WholeNumber
from app.web.schema import Schema

STATUS_METADATA = {"enum": list(STATES), "example": "awaiting_documents"}
DECISION_METADATA = {"enum": ["approved", "declined", None], "example": "approved"}
OFFER_STATES = ("open", *ANSWERS, "ended")
REFERENCE_METADATA = {"example": "MA-7K2Q9XRD"}
BILLING_ADDRESS = {"example": "Stand 14, Soweto Market, Katutura, Windhoek"}
BILLING_VAT_NUMBER = {"example": "7654321015"}


def _string_field(example: str, *, required: bool = False, allow_none: bool | None = None) -> fields.String:
    return fields.String(metadata={"example": example}, required=required, allow_none=allow_none)


class DocumentData(Schema):
    kind = fields.String(required=True, metadata={"enum": list(KINDS), "example": "identity"})
    label = _string_field("Identity document", required=True)
    required = Boolean(required=True)
    status = fields.String(
        required=True, metadata={"enum": ["missing", "uploaded", "asked_again", "expired"], "example": "uploaded"}
    )
    file_name = _string_field("id-card.pdf")
    content_type = _string_field("application/pdf")
    bytes = WholeNumber(metadata={"example": 182044})
    uploaded_at = TimeField()
    expires_on = fields.Date(metadata={"example": "2027-03-31", "description": "the last day on which it is valid"})
    carried_from = fields.String(
        metadata={
            "example": "MA-7K2M9QXC",
            "description": "the reference of the earlier application that it comes from",
        }
    )
    opened_at = TimeField(
        allow_none=True,
        metadata={"description": "when a decider first opened the file; null before, absent for anybody else"},
    )
    accepted_at = TimeField(
        allow_none=True,
        metadata={
            "description": "when a decider accepted the file, which counts before too; null before, absent for anybody else"
        },
    )
    asked_again_at = TimeField(metadata={"description": "when a decider asked for another file in its place"})
    asked_again_reason = fields.String(
        metadata={"example": "The photo is blurred.", "description": "what the decider wrote to the applicant"}
    )
    url = fields.String(metadata={"example": "https://…", "description": "for deciders; valid for five minutes"})
    url_expires_at = TimeField()


class PictureData(Schema):
    """A picture of the stall."""

    url = fields.String(required=True, metadata={"example": "https://…", "description": "valid for five minutes"})
    content_type = _string_field("image/jpeg", required=True)
    bytes = WholeNumber(required=True, metadata={"example": 182044})


class Requirement(Schema):
    code = _string_field("PAYMENT_DUE", required=True)
    kind = fields.String(metadata={"enum": list(KINDS), "example": "identity", "description": "of DOCUMENT_…"})
    message = _string_field("The stall fee has to be paid.", required=True)


CREDIT_NOTE_NUMBER = {"example": "CN-STL-2026-00007"}


class RefundData(Schema):
    """What was sent back of a stall fee; `refused` means that the rail cannot do it."""

    status = fields.String(required=True, metadata={"enum": list(REFUND_STATES), "example": "refunded"})
    method = fields.String(
        required=True, metadata={"enum": list(REFUND_METHODS), "example": "rail", "description": "who sends it"}
    )
    amount_minor = WholeNumber(required=True, metadata={"example": 250000})
    reference = fields.String(required=True, allow_none=True, metadata={"description": "of the transfer"})
    credit_note_number = fields.String(required=True, allow_none=True, metadata=CREDIT_NOTE_NUMBER)


class FeeData(Schema):
    amount_minor = WholeNumber(required=True, metadata={"example": 250000})
    currency = _string_field("NAD", required=True)
    status = _string_field("due", required=True)
    payment_id = fields.String(allow_none=True)
    due_at = TimeField(allow_none=True)
    paid_at = TimeField(allow_none=True)
    refund = Nested(RefundData, required=True, allow_none=True)


class OfferStatusData(Schema):
    """The offer of a place to an application on the waitlist."""

    status = fields.String(required=True, metadata={"enum": [*OFFER_STATES], "example": "open"})
    offered_at = TimeField(required=True)
    expires_at = TimeField(required=True)


class ApplicationRow(Schema):
    """An application for its applicant and its deciders; notes and risk are for deciders only."""

    id = fields.String(required=True)
    reference = fields.String(required=True, metadata=REFERENCE_METADATA)
    version = WholeNumber(required=True)
    status = fields.String(required=True, metadata=STATUS_METADATA)
    event_id = fields.String(required=True, allow_none=True)
    event_name = _string_field("Windhoek Lights", required=True, allow_none=True)
    invite_slug = fields.String(required=True, allow_none=True)
    business_name = _string_field("Kapana Corner", required=True, allow_none=True)
    contact_name = _string_field("Tuli Hamutenya", required=True, allow_none=True)
    email = _string_field("tuli@example.com", required=True, allow_none=True)
    phone = _string_field("+264811234567", required=True, allow_none=True)
    stall_type = _string_field("Food", required=True, allow_none=True)
    products = fields.String(required=True, allow_none=True)
    description = fields.String(required=True, allow_none=True)
    website = fields.String(required=True, allow_none=True)
    amount_minor = WholeNumber(required=True, metadata={"example": 250000})
    destination = _string_field("payrail", required=True)
    mode = _string_field("now", required=True)
    scheduled_for = TimeField(required=True, allow_none=True)
    payrail_msisdn = _string_field("+264811234567", required=True, allow_none=True)
    decision = fields.String(required=True, allow_none=True, metadata=DECISION_METADATA)
    decline_reason = fields.String(required=True, allow_none=True)
    decided_at = TimeField(required=True, allow_none=True)
    documents = List(Nested(DocumentData), required=True)
    documents_submitted_at = TimeField(required=True, allow_none=True)
    pictures = List(Nested(PictureData))
    payment = Nested(FeeData, required=True)
    offer = Nested(OfferStatusData, required=True, allow_none=True)
    requirements = List(Nested(Requirement), required=True)
    activated_at = TimeField(required=True, allow_none=True)
    created_at = TimeField(required=True)
    updated_at = TimeField(required=True)
    reviewer_notes = fields.String(allow_none=True, metadata={"description": "deciders only"})
    risk_level = fields.String(allow_none=True, metadata={"enum": [*RISK_LEVELS, None], "example": "low"})
    decided_by = fields.String(allow_none=True, metadata={"description": "deciders only"})
    activation_message = fields.String(allow_none=True, metadata={"description": "deciders only"})
    waitlist_rank = WholeNumber(allow_none=True, metadata={"example": 2, "description": "deciders only"})

    @pre_dump
    def serialize_row(self, row: ApplicationRecord, **_: object) -> Mapping[str, object]:
        return serializers.serialize_application(row)


class ReceivedFee(ApplicationRow):
    """An application whose fee is received, and others with the same transfer."""

    same_transfer = List(
        fields.String(),
        required=True,
        metadata={
            "example": ["MA-7K2Q9XRD"],
            "description": "References of other applications whose fee has the same transfer reference and day.",
        },
    )

    @pre_dump
    def serialize_row(self, received: Mapping[str, Any], **_: object) -> Mapping[str, object]:
        row = serializers.serialize_application(received["application"])
        return {**row, "same_transfer": received["same_transfer"]}


class Submitted(Schema):
    id = fields.String(required=True)
    reference = fields.String(required=True, metadata=REFERENCE_METADATA)
    status = fields.String(required=True, metadata={**STATUS_METADATA, "example": "submitted"})
    amount_minor = WholeNumber(required=True, metadata={"example": 250000})
    version = WholeNumber(required=True)


class ApplicationLinkData(Schema):
    purpose = fields.String(required=True, metadata={"enum": list(PURPOSES), "example": "documents"})
    url = _string_field("https://events.example/documents/kQ3v…", required=True)
    expires_at = TimeField(required=True)
    mailed_to = _string_field("tuli@example.com", required=True, allow_none=True)


class Step(Schema):
    step = fields.String(required=True, metadata={"enum": list(PURPOSES), "example": "documents"})
    state = fields.String(required=True, metadata={"enum": ["done", "now", "later"], "example": "now"})


class AboutData(Schema):
    """The application behind a link."""

    id = fields.String(required=True)
    reference = fields.String(required=True, metadata=REFERENCE_METADATA)
    status = fields.String(required=True, metadata=STATUS_METADATA)
    business_name = _string_field("Kapana Corner", required=True, allow_none=True)
    event_name = _string_field("Windhoek Lights", required=True, allow_none=True)
    organiser_name = _string_field("Windhoek Lights", required=True, allow_none=True)
    contact_email = _string_field("nangula@windhoek-lights.example", required=True, allow_none=True)
    expires_at = TimeField(required=True)
    due_at = TimeField(required=True, allow_none=True)
    steps = List(Nested(Step), required=True)
    event_cancelled = Boolean(
        required=True, metadata={"description": "the event is cancelled: nothing is left to do or to pay"}
    )


class DocumentsData(AboutData):
    documents = List(Nested(DocumentData), required=True)
    submitted_at = TimeField(required=True, allow_none=True)


class BankData(Schema):
    """The organiser's bank account. The reference to put on a transfer is the application's."""

    account_name = _string_field("Windhoek Lights CC", required=True)
    account_number = _string_field("62001234567", required=True)
    bank_name = _string_field("Bank Windhoek", required=True)
    branch_code = _string_field("482172", required=True, allow_none=True)


class PaymentData(AboutData):
    amount_minor = WholeNumber(required=True, metadata={"example": 250000})
    currency = _string_field("NAD", required=True)
    status = fields.String(
        required=True,
        metadata={
            "enum": ["not_required", "due", "starting", "otp_required", "processing", "paid", "refunded"],
            "example": "due",
        },
    )
    paid_at = TimeField(required=True, allow_none=True)
    payrail_msisdn = fields.String(
        required=True, allow_none=True, metadata={"description": "only its last four digits"}
    )
    destination = fields.String(
        required=True,
        metadata={
            "enum": ["payrail", "bank"],
            "example": "payrail",
            "description": "how the applicant chose to pay; either way works, unless there are `transfersOnly`",
        },
    )
    transfers_only = Boolean(
        required=True, metadata={"description": "the organiser takes stall fees by bank transfer only"}
    )
    bank = Nested(
        BankData,
        required=True,
        allow_none=True,
        metadata={"description": "where to transfer the fee, with `reference` on the transfer; null if not known here"},
    )
    invoice_number = fields.String(required=True, allow_none=True, metadata={"example": "STL-2026-00042"})
    credit_note_number = fields.String(required=True, allow_none=True, metadata=CREDIT_NOTE_NUMBER)
    billing_address = fields.String(required=True, allow_none=True, metadata=BILLING_ADDRESS)
    billing_vat_number = fields.String(required=True, allow_none=True, metadata=BILLING_VAT_NUMBER)
    payment_id = fields.String()
    expires_in = WholeNumber(metadata={"description": "seconds until the code expires"})
    tries_left = WholeNumber()
    last_failure = fields.String(metadata={"enum": ["expired", "declined"], "example": "expired"})


class StartedData(Schema):
    payment_id = fields.String(required=True)
    status = fields.String(
        required=True, metadata={"enum": ["otp_required", "processing", "paid"], "example": "otp_required"}
    )
    expires_in = WholeNumber(metadata={"example": 300, "description": "seconds until the code expires"})
    tries_left = WholeNumber(metadata={"example": 5})


class PlaceOfferData(AboutData):
    """A free place that an applicant may accept or decline until `expiresAt`."""

    stall_type = _string_field("Food", required=True, allow_none=True)
    amount_minor = WholeNumber(required=True, metadata={"example": 250000})
    currency = _string_field("NAD", required=True)
    answer = fields.String(required=True, allow_none=True, metadata={"enum": [*ANSWERS, None], "example": "accepted"})


class ActivationData(AboutData):
    email = _string_field("tuli@example.com", required=True, allow_none=True)
    name = _string_field("Tuli Hamutenya", required=True, allow_none=True)
    path = fields.String(required=True, metadata={"example": "/"})


class Activator(Schema):
    id = fields.String(required=True)
    name = _string_field("Tuli Hamutenya", required=True)
    email = _string_field("tuli@example.com", required=True)
    roles = List(_string_field("merchant"), required=True)
    phone = _string_field("+264811234567")


class ActivatedData(Schema):
    """A sign-in, and the path to go to."""

    access_token = _string_field("eyJhbGciOiJSUzI1NiIs…", required=True)
    refresh_token = _string_field("6565a1f0c3d2e1b0a9f8e7d6.0.kQ3v…", required=True)
    expires_in = WholeNumber(required=True, metadata={"example": 900, "description": "seconds"})
    token_type = _string_field("Bearer", required=True)
    user = Nested(Activator, required=True)
    path = _string_field("/merchants/start", required=True)
