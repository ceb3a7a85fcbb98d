"""Request schemas of diagnostics (specification 4.4)."""

from marshmallow import fields

from app.web.fields import BaseField, List, Text
from app.web.schema import Schema

EXAMPLE_EVENT = {"level": "error", "message": "The map did not load", "at": "2026-12-04T16:00:00Z", "screen": "map"}


class Report(BaseField, fields.Dict):
    """Any JSON object."""


class LogsBody(Schema):
    client = Text(max=40, metadata={"example": "gate-app 2.4.1"})
    events = List(
        Report(keys=fields.String(), metadata={"example": EXAMPLE_EVENT}),
        required=True,
        min=1,
        max=100,
        metadata={"description": "each with optional level, message and at, and any other fields"},
    )
