"""The errors of an imported file in a response."""

from marshmallow import fields

from app.web.fields import WholeNumber
from app.web.schema import Schema


class RowErrorData(Schema):
    row = WholeNumber(required=True, metadata={"description": "as a spreadsheet shows it"})
    column = fields.String(required=True, metadata={"example": "onHand"})
    code = fields.String(required=True, metadata={"example": "too_small"})
    message = fields.String(required=True)
    value = fields.String(required=True, metadata={"example": "-4"})
