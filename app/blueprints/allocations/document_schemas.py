"""Schemas of the documents of blocks: invoices with their buyers and credit notes, reports, and packs of tickets."""

from marshmallow import fields

from app.blueprints.allocations.response_schemas import LineData
from app.web.buyer_fields import BUYER_METADATA
from app.web.fields import Boolean, Choice, Email, List, Nested, Secret, Text, TimeField, WholeNumber
from app.web.schema import Query, Schema
from app.web.text_fields import Name

DIGEST_METADATA = {
    "example": "9f86d081884c7d659a2feaa0c55ad015",
    "description": "of what a preview says but for the dates; another one means that something has changed",
}


class PreviousBuyerData(Schema):
    """The buyer that was entered last for another block of the same holder."""

    buyer_name = fields.String(required=True, allow_none=True, metadata=BUYER_METADATA["buyer_name"])
    buyer_address = fields.String(required=True, allow_none=True, metadata=BUYER_METADATA["buyer_address"])
    buyer_vat_number = fields.String(required=True, allow_none=True, metadata=BUYER_METADATA["buyer_vat_number"])


class LabelledText(Schema):
    label = fields.String(required=True, metadata={"example": "Due"})
    value = fields.String(required=True, metadata={"example": "Fri 4 December 2026"})


class PaperQuery(Query):
    number = Text(min=1, max=20, metadata={"description": "of a credit note", "example": "CN-2026-000001"})


class PreviewQuery(Query):
    format = Choice("json", "pdf", metadata={"description": "by default what `Accept` prefers"})


class MailInvoiceBody(Schema):
    to = Email(metadata={"description": "by default the holder's address"})
    preview_digest = Secret(length=32, metadata={"rare": True, **DIGEST_METADATA})


class MailedInvoice(Schema):
    number = fields.String(required=True, metadata={"example": "2026-000001"})
    to = fields.String(required=True, metadata={"example": "frieda@example.com"})


class CreditNote(Schema):
    number = fields.String(required=True, metadata={"example": "CN-2026-000001"})
    issued_at = TimeField(required=True)
    total_minor = WholeNumber(required=True, metadata={"description": "negative", "example": -85000})


class ReceivedInvoiceBody(Schema):
    amount_minor = WholeNumber(
        required=True, min=1, max=10**12, metadata={"example": 1700000, "description": "what is due; of a part, less"}
    )
    reference = Name(
        required=True, min=1, max=80, metadata={"example": "2026-000001", "description": "of the transfer"}
    )
    received_on = fields.Date(
        required=True, metadata={"example": "2026-06-05", "description": "the day in the account, of the last year"}
    )
    part = Boolean(load_default=False, metadata={"rare": True, "description": "less came than is due"})
    paid_back = Boolean(
        load_default=False,
        metadata={"rare": True, "description": "you have sent the buyer what you owe them after a credit note"},
    )


class TakeBackPaymentBody(Schema):
    number = WholeNumber(
        required=True, min=1, max=32767, metadata={"example": 1, "description": "of the payment, in `payments`"}
    )
    reason = Text(required=True, min=1, max=200, metadata={"example": "It was for another invoice"})


class TakenBackData(Schema):
    """When a payment that was recorded wrongly was taken back, by whom and why."""

    at = TimeField(required=True)
    by = fields.String(required=True, allow_none=True, metadata={"example": "Nangula Shikongo"})
    reason = fields.String(required=True, metadata={"example": "It was for another invoice"})


class InvoicePaymentData(Schema):
    """A bank transfer that paid the invoice or a part of it; below zero what you have paid back."""

    number = WholeNumber(required=True, metadata={"example": 1, "description": "of the payment, for taking it back"})
    amount_minor = WholeNumber(required=True, metadata={"example": 1700000})
    reference = fields.String(required=True, metadata={"example": "2026-000001", "description": "of the transfer"})
    received_on = fields.Date(required=True, metadata={"example": "2026-06-05"})
    taken_back = Nested(
        TakenBackData,
        required=True,
        allow_none=True,
        metadata={"description": "null if the payment counts; one that was taken back pays nothing"},
    )


class InvoiceData(Schema):
    number = fields.String(required=True, metadata={"example": "2026-000001"})
    status = fields.String(required=True, metadata={"enum": ["issued", "credited"], "example": "issued"})
    issued_at = TimeField(required=True)
    total_minor = WholeNumber(required=True)
    credited_minor = WholeNumber(required=True)
    due_minor = WholeNumber(
        required=True,
        metadata={"description": "still to be paid; below zero: to be paid back, after a credit note", "example": 0},
    )
    buyer = List(
        fields.String(),
        required=True,
        metadata={
            "description": "the buyer as it is printed, in lines: name, address, contact, VAT registration number",
            "example": ["Kalahari Coffee (Pty) Ltd", "12 Independence Avenue", "Windhoek"],
        },
    )
    due_day = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "12 Dec 2026", "description": "the day until which it is to be paid, as printed"},
    )
    buyer_reference = fields.String(required=True, allow_none=True, metadata=BUYER_METADATA["buyer_reference"])
    credit_notes = List(Nested(CreditNote), required=True)
    payments = List(
        Nested(InvoicePaymentData),
        required=True,
        metadata={"description": "the transfers that came in, the first first, also those that were taken back"},
    )


class InvoicePreview(Schema):
    """What the invoice of a block would say now, as it is printed. It has no number."""

    title = fields.String(
        required=True, metadata={"description": "what the document is", "example": "Preview of the tax invoice"}
    )
    seller = List(
        fields.String(),
        required=True,
        metadata={"example": ["Windhoek Lights"], "description": "the organisation, line by line"},
    )
    vat_number = fields.String(
        required=True, metadata={"description": "of the seller; empty for none", "example": "1234567-01-5"}
    )
    buyer = List(fields.String(), required=True, metadata={"example": ["Kalahari Coffee (Pty) Ltd", "Windhoek"]})
    facts = List(Nested(LabelledText), required=True, metadata={"description": "event, buyer's reference, due date"})
    lines = List(Nested(LineData), required=True)
    vat_percent = fields.Float(required=True)
    vat_minor = WholeNumber(required=True)
    total_minor = WholeNumber(required=True)
    payment = List(
        Nested(LabelledText), required=True, metadata={"description": "where to transfer the money; empty without bank"}
    )
    notes = List(
        fields.String(),
        required=True,
        metadata={"description": "what is printed below the totals", "example": ["Prices include VAT."]},
    )
    digest = fields.String(required=True, metadata=DIGEST_METADATA)
    previous_buyer = Nested(
        PreviousBuyerData,
        required=True,
        allow_none=True,
        metadata={"description": "what was entered last for another block of the same holder"},
    )


class ReportQuery(Query):
    format = Choice("json", "pdf", metadata={"description": "by default what `Accept` prefers"})


class MailReportBody(Schema):
    to = Email(metadata={"description": "by default the holder's address"})


class MailedReport(Schema):
    to = fields.String(required=True, metadata={"example": "frieda@example.com"})


class PackBody(Schema):
    count = WholeNumber(required=True, min=1, max=5000, metadata={"example": 10})


class PackData(Schema):
    id = fields.String(required=True, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6"})
    count = WholeNumber(required=True)
    status = fields.String(required=True, metadata={"enum": ["queued", "running", "done"], "example": "queued"})
    progress = WholeNumber(required=True, metadata={"description": "0 to 100"})
    url = fields.String(required=True, metadata={"example": "https://events.example/api/…/tickets.pdf"})
    created_at = TimeField()


class PacksData(Schema):
    packs = List(Nested(PackData), required=True)
