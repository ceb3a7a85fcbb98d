"""Request schemas of merchant applications (specification 4.3 with 4.0-P and 4.0-D)."""

from collections.abc import Mapping

from marshmallow import ValidationError, fields, validate, validates_schema

from app.applications.documents import KINDS, LABELS
from app.applications.queries import FEE_STATES
from app.applications.states import ANSWERS, PURPOSES, RISK_LEVELS, STATES, WAITLISTED
from app.blueprints.applications.response_schemas import BILLING_ADDRESS, BILLING_VAT_NUMBER
from app.web.fields import (
    Boolean,
    BoundedTimeField,
    Choice,
    Email,
    File,
    Id,
    List,
    Phone,
    Secret,
    Text,
    WholeNumber,
    field_error,
)
from app.web.safe_redirect import SafePath
from app.web.schema import Multipart, Query, Schema
from app.web.text_fields import BankNumber, EmailText, Name, NewPassword, PostalAddress, Website

PASSWORD_METADATA = {"example": "a quiet evening at Sossusvlei", "format": "password"}
MAX_AMOUNT_MINOR = 10**12
MAX_RANK = 100_000


class ApplicationBody(Schema):
    """How the stall fee is paid, the applicant, and the stall."""

    amount_minor = WholeNumber(
        required=True, min=0, max=MAX_AMOUNT_MINOR, metadata={"example": 250000, "description": "NAD cents"}
    )
    destination = Choice("payrail", "bank", required=True)
    mode = Choice("now", "schedule", required=True)
    scheduled_for = BoundedTimeField(
        min=8, max=40, metadata={"rare": True, "description": "with the mode schedule: when, within 90 days"}
    )
    payrail_msisdn = Phone(min=8, max=20, metadata={"description": "the number of the wallet that pays"})
    idempotency_key = Secret(min=8, max=80, metadata={"rare": True, "description": "the same as Idempotency-Key"})
    event_id = Id()
    invite_slug = Text(min=1, max=80, metadata={"rare": True, "description": "of an invitation"})
    business_name = Name(min=2, max=200, metadata={"example": "Kapana Corner"})
    contact_name = Name(min=2, max=120, metadata={"example": "Tuli Hamutenya"})
    email = Email()
    phone = Phone(min=4, max=32)
    stall_type = Name(max=120, metadata={"example": "Food"})
    products = Text(max=1000, metadata={"example": "Kapana, fat cakes, oshikundu"})
    description = Text(max=2000, metadata={"example": "A charcoal grill under a canvas roof, three people."})
    website = Website()


class DecisionBody(Schema):
    decision = Choice(
        "approved",
        "declined",
        "submitted",
        "waitlisted",
        required=True,
        metadata={"description": "waitlisted puts it in line; submitted takes a refusal back and needs a reason"},
    )
    waitlist_rank = WholeNumber(
        min=1,
        max=MAX_RANK,
        allow_none=True,
        metadata={
            "rare": True,
            "description": "with waitlisted: the place in line; by default by time, after the ranked",
        },
    )
    fee_minor = WholeNumber(
        min=0,
        max=MAX_AMOUNT_MINOR,
        metadata={"rare": True, "description": "another fee than the application's, in NAD cents; it needs a reason"},
    )
    pay_by = fields.Date(
        metadata={
            "rare": True,
            "example": "2026-12-31",
            "description": "with approved: the day until which the fee is to be paid, in the event's time zone",
        }
    )
    reason = Text(
        max=500,
        metadata={"rare": True, "description": "why the list does not apply, or why a decision is revised; not shown"},
    )
    override_quota = Boolean(
        metadata={"rare": True, "description": "approve beyond the quantity of the stall type; it needs a reason"}
    )
    decline_reason = EmailText(max=1000, metadata={"rare": True, "description": "part of the mail to the applicant"})
    reviewer_notes = Text(max=2000, metadata={"rare": True, "description": "never shown to the applicant"})
    risk_level = Choice(*RISK_LEVELS, metadata={"description": "never shown to the applicant"})
    documents_required = List(
        Choice(*KINDS),
        max=len(KINDS),
        metadata={"description": "which documents; [] waives them; by default those that the stall type needs"},
    )

    @validates_schema
    def check_rank(self, data: Mapping[str, object], **_: object) -> None:
        if "waitlist_rank" in data and data.get("decision") != WAITLISTED:
            message = "Only with the decision waitlisted."
            raise ValidationError({"waitlistRank": field_error("unexpected_value", message).messages})


class AnswerBody(Schema):
    answer = Choice(*ANSWERS, required=True)
    amount_minor = WholeNumber(
        min=0,
        max=MAX_AMOUNT_MINOR,
        metadata={"example": 250000, "description": "the fee of the offer that was read; another one is 409"},
    )


class ReceivedBody(Schema):
    amount_minor = WholeNumber(required=True, min=1, max=MAX_AMOUNT_MINOR, metadata={"example": 250000})
    reference = Name(
        required=True, min=1, max=80, metadata={"example": "MA-7K2P9QXT", "description": "of the transfer"}
    )
    received_on = fields.Date(
        required=True,
        metadata={"example": "2026-06-05", "description": "the day in the account, of the last year"},
    )


class WaiveBody(Schema):
    reason = Text(required=True, min=1, max=500, metadata={"example": "A school's stall"})


class FeeDocumentQuery(Query):
    number = Text(min=1, max=20, metadata={"description": "of a credit note", "example": "CN-STL-2026-00007"})


class RefundBody(Schema):
    reason = EmailText(
        required=True,
        min=1,
        max=500,
        metadata={"example": "The merchant fell ill", "description": "part of the credit note that the applicant gets"},
    )
    amount_minor = WholeNumber(
        min=1, max=MAX_AMOUNT_MINOR, metadata={"description": "NAD cents; by default the whole fee", "rare": True}
    )
    reference = Name(
        min=1, max=80, metadata={"rare": True, "description": "of a transfer by which the money was sent back already"}
    )


class LinkBody(Schema):
    purpose = Choice(*PURPOSES, required=True)


class ContactBody(Schema):
    email = Email()
    contact_name = Name(min=2, max=120, allow_none=True, metadata={"example": "Tuli Hamutenya"})
    phone = Phone(min=4, max=32, allow_none=True)


class DocumentRequestBody(Schema):
    kinds = List(
        Choice(*KINDS),
        required=True,
        min=1,
        max=len(KINDS),
        metadata={"description": "documents that are there, and of which another file is needed"},
    )
    reason = EmailText(
        required=True,
        min=1,
        max=500,
        metadata={"example": "The photo is blurred.", "description": "the applicant reads it in the mail"},
    )


class AcceptedDocumentsBody(Schema):
    kinds = List(
        Choice(*KINDS),
        required=True,
        min=1,
        max=len(KINDS),
        metadata={"description": "documents that are there"},
    )


class BillingBody(Schema):
    billing_address = PostalAddress(allow_none=True, metadata=BILLING_ADDRESS)
    billing_vat_number = BankNumber(max=20, allow_none=True, metadata=BILLING_VAT_NUMBER)


class PayBody(Schema):
    payrail_msisdn = Phone(min=8, max=20, metadata={"description": "the wallet; by default that of the application"})


class OtpBody(Schema):
    """The code from the wallet, as `code` or as `otp`."""

    code = Secret(min=4, max=12, metadata={"example": "123456"})
    otp = Secret(min=4, max=12, metadata={"rare": True, "description": "another name for code"})

    @validates_schema
    def check_code(self, data: Mapping[str, object], **_: object) -> None:
        if "code" not in data and "otp" not in data:
            raise ValidationError({"code": field_error("required", "This field is required.").messages})
        if "code" in data and "otp" in data and data["code"] != data["otp"]:
            raise ValidationError({"otp": field_error("unexpected_value", "Send one of code and otp.").messages})


class Filters(Query):
    """Filters of the list. Those on notes and risk match only where the caller may read them."""

    decision = Choice("approved", "declined")
    decline_reason = Text(max=1000, metadata={"description": "words in the reason"})
    reviewer_notes = Text(max=2000, metadata={"description": "words in the notes"})
    risk_level = Choice(*RISK_LEVELS)
    status = Choice(*STATES)
    event_id = Id()
    stall_type = Text(min=1, max=120, metadata={"example": "Food"})
    fee_state = Choice(
        *FEE_STATES,
        metadata={
            "example": "open",
            "description": "of the stall fee; overdue ones are open too, paid also by transfer",
        },
    )
    has_new_documents = Boolean(
        metadata={"description": "whether documents came that no decider has accepted or asked for again", "rare": True}
    )
    q = Text(min=1, max=200, metadata={"example": "kapana", "description": "in business, contact, email, reference"})


def _document_field(kind: str) -> File:
    return File(metadata={"description": f"{LABELS[kind]}: PDF, JPEG or PNG, 10 MiB at most", "rare": True})


def _expiry_field(kind: str) -> fields.Date:
    description = f"{LABELS[kind]}: the last day on which it is valid"
    return fields.Date(metadata={"description": description, "example": "2027-03-31", "rare": True})


Documents = Multipart.from_dict(
    {
        **{kind: _document_field(kind) for kind in KINDS},
        **{f"{kind}_expires_on": _expiry_field(kind) for kind in KINDS},
        "submit": Boolean(load_default=False, metadata={"description": "hand everything in; so does an empty body"}),
    },
    name="DocumentsBody",
)
for kind in KINDS:
    Documents._declared_fields[kind].data_key = kind


class ActivationQuery(Query):
    """Optional parameters, all ignored but `path`, which is checked and returned."""

    name = Name(min=2, max=80, metadata={"rare": True})
    password = Secret(min=8, max=128, metadata={"rare": True, "description": "ignored: never put it in an address"})
    confirm_password = Secret(min=8, max=128, metadata={"rare": True, "description": "ignored"})
    message = Text(metadata={"rare": True})
    path = SafePath(metadata={"rare": True})


class ActivationBody(Schema):
    name = Name(required=True, min=2, max=80, metadata={"example": "Tuli Hamutenya"})
    password = NewPassword(
        required=True, metadata={**PASSWORD_METADATA, "description": "of the account, if there is one"}
    )
    confirm_password = NewPassword(required=True, metadata=PASSWORD_METADATA)
    message = Text(required=True, validate=[validate.Length(max=1000)], metadata={"example": "See you at gate B."})
    path = SafePath(required=True)
    email = Email(metadata={"rare": True, "description": "only where the application names none"})

    @validates_schema
    def check_passwords(self, data: Mapping[str, object], **_: object) -> None:
        if data.get("password") != data.get("confirm_password"):
            raise ValidationError({"confirmPassword": field_error("mismatch", "The two passwords differ.").messages})
