"""Schemas of the stall fees of an event."""

from marshmallow import fields

from app.applications.fee_books import FEE_STATUSES
from app.applications.states import REFUND_STATES, STATES
from app.web.fields import Choice, WholeNumber
from app.web.schema import Query, Schema

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
