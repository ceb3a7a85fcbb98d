"""Schemas of invoices, credit notes and ticket packs."""

from marshmallow import fields

from app.web.fields import Email, List, Nested, Text, TimeField, WholeNumber
from app.web.schema import Query, Schema


class PaperQuery(Query):
    number = Text(min=1, max=20, metadata={"description": "of a credit note", "example": "CN-2026-000001"})


class MailInvoiceBody(Schema):
    to = Email(metadata={"description": "by default the holder's address"})


class MailedInvoice(Schema):
    number = fields.String(required=True, metadata={"example": "2026-000001"})
    to = fields.String(required=True, metadata={"example": "frieda@example.com"})


class CreditNote(Schema):
    number = fields.String(required=True, metadata={"example": "CN-2026-000001"})
    issued_at = TimeField(required=True)
    total_minor = WholeNumber(required=True, metadata={"description": "negative", "example": -85000})


class InvoiceData(Schema):
    number = fields.String(required=True, metadata={"example": "2026-000001"})
    status = fields.String(required=True, metadata={"enum": ["issued", "credited"], "example": "issued"})
    issued_at = TimeField(required=True)
    total_minor = WholeNumber(required=True)
    credited_minor = WholeNumber(required=True)
    credit_notes = List(Nested(CreditNote), required=True)


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
