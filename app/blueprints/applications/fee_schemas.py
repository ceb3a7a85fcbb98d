"""Schemas of the stall fees of an event."""

from typing import Any

from marshmallow import fields, pre_dump

from app.applications.fee_books import FEE_STATUSES
from app.applications.fee_statement import MATCHED, RECORDED, UNMATCHED, MatchedRow
from app.applications.statement_columns import FIELDS, REQUIRED_FIELDS
from app.applications.states import REFUND_STATES, STATES
from app.blueprints.applications.response_schemas import CREDIT_NOTE_NUMBER
from app.money.statements import StatementResult
from app.web.fields import Boolean, Choice, File, List, Nested, WholeNumber
from app.web.mapping_fields import ColumnMapping
from app.web.schema import Multipart, Query, Schema

STATEMENT_REASONS = (
    "no_reference",
    "unknown_reference",
    "several_references",
    "wrong_amount",
    "paid_already",
    "nothing_due",
    "more_than_due",
    "invoice_settled",
    "payment_in_progress",
    "repeated",
    "reversed",
    "future",
    "too_early",
    "amount_unreadable",
    "date_unreadable",
    "direction_unknown",
)
AMOUNT_METADATA = {"example": 250000}


class FeeQuery(Query):
    status = Choice(*FEE_STATUSES)


class FeeTotals(Schema):
    """The sums of an event in NAD cents: `dueMinor` is the sum of the others."""

    due_minor = WholeNumber(required=True, metadata={"example": 1000000})
    paid_minor = WholeNumber(required=True, metadata={**AMOUNT_METADATA, "description": "by the rail, and kept"})
    received_minor = WholeNumber(required=True, metadata={**AMOUNT_METADATA, "description": "by transfer, and kept"})
    waived_minor = WholeNumber(required=True, metadata=AMOUNT_METADATA)
    refunded_minor = WholeNumber(required=True, metadata={"example": 0})
    open_minor = WholeNumber(required=True, metadata=AMOUNT_METADATA)


class StallFeeRow(FeeTotals):
    """The fee of an application; the amounts say how it was settled."""

    id = fields.String(required=True, metadata={"description": "of the application"})
    reference = fields.String(required=True, metadata={"example": "MA-7K2Q9XRD"})
    business_name = fields.String(required=True, allow_none=True, metadata={"example": "Kapana Corner"})
    stall_type = fields.String(required=True, allow_none=True, metadata={"example": "Food"})
    application_status = fields.String(required=True, metadata={"enum": list(STATES), "example": "ready"})
    status = fields.String(required=True, metadata={"enum": list(FEE_STATUSES), "example": "paid"})
    transfer_reference = fields.String(required=True, allow_none=True, metadata={"example": "MA-7K2Q9XRD"})
    received_on = fields.Date(required=True, allow_none=True)
    refund_status = fields.String(
        required=True, allow_none=True, metadata={"enum": [*REFUND_STATES, None], "example": None}
    )
    refund_reference = fields.String(required=True, allow_none=True, metadata={"example": None})
    invoice_number = fields.String(required=True, allow_none=True, metadata={"example": "STL-2026-00042"})
    credit_note_number = fields.String(required=True, allow_none=True, metadata=CREDIT_NOTE_NUMBER)


class StatementBody(Multipart):
    file = File(required=True, metadata={"description": "the statement, CSV or XLSX, 2 MiB at most"})
    dry_run = Boolean(load_default=True, metadata={"description": "only look what the rows pay"})
    mapping = ColumnMapping(
        FIELDS,
        required_names=REQUIRED_FIELDS,
        each_once=True,
        metadata={
            "type": "string",
            "description": f"JSON: the column of each field; the fields are {', '.join(FIELDS)}. Without it the columns "
            "are found by their names.",
            "example": '{"date": "Booked", "amount": "N$", "text": "What"}',
        },
    )


class StatementLine(Schema):
    """A row of the statement; `row` is its number in the file."""

    row = WholeNumber(required=True, metadata={"example": 2})
    received_on = fields.Date(required=True, allow_none=True)
    amount_minor = WholeNumber(required=True, allow_none=True, metadata=AMOUNT_METADATA)
    text = fields.String(required=True, metadata={"example": "EFT MA-7K2Q9XRD KAPANA CORNER"})
    reference = fields.String(
        required=True, allow_none=True, metadata={"example": "MA-7K2Q9XRD", "description": "of the application"}
    )
    application_id = fields.String(required=True, allow_none=True)
    event_id = fields.String(
        required=True, allow_none=True, metadata={"description": "of the application or the invoice"}
    )
    invoice_number = fields.String(
        required=True, allow_none=True, metadata={"example": None, "description": "of the invoice of a block"}
    )
    block_id = fields.String(required=True, allow_none=True, metadata={"example": None})
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": [*STATEMENT_REASONS, None],
            "example": None,
            "description": "why the row pays nothing",
        },
    )

    @pre_dump
    def serialize_row(self, matched: MatchedRow, **_: object) -> dict[str, object]:
        application = matched.application
        return {
            "row": matched.row.number,
            "received_on": matched.row.day,
            "amount_minor": matched.row.amount_minor,
            "text": matched.row.text,
            "reference": application and application.reference,
            "application_id": application and application.id,
            "event_id": matched.event_id,
            "invoice_number": matched.invoice_number,
            "block_id": matched.block_id,
            "reason": matched.reason,
        }


class StatementData(Schema):
    """The rows that pay a fee or an invoice, those that were recorded before, and the others with the reason."""

    dry_run = Boolean(required=True)
    matched = List(Nested(StatementLine), required=True)
    already_recorded = List(Nested(StatementLine), required=True)
    unmatched = List(Nested(StatementLine), required=True)

    @pre_dump
    def group_rows(self, result: StatementResult, **_: object) -> dict[str, Any]:
        names = {MATCHED: "matched", RECORDED: "already_recorded", UNMATCHED: "unmatched"}
        groups = {name: [row for row in result.rows if row.status == status] for status, name in names.items()}
        return {"dry_run": result.dry_run, **groups}
