"""The route of client reports and its schemas: `/api/diagnostics/logs` (specification 4.4)."""

from marshmallow import fields

from app.diagnostics import actions
from app.diagnostics.actions import DiagnosticsLimit
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.fields import BaseField, List, Text
from app.web.rate_limits import Limit, get_client_network
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


blp = Blueprint("diagnostics", __name__, url_prefix="/api/diagnostics", description="Reports from clients")


@blp.post(
    "/logs",
    access=PUBLIC,
    body=LogsBody,
    limit=Limit(60),
    max_bytes=256 * 1024,
    errors=[DiagnosticsLimit],
)
def record_logs(events: list[actions.Report], client: str | None = None) -> None:
    """Report client-side events.

    Secrets are masked and control characters escaped. The newest 50,000 reports are stored for thirty days.
    A network may send 5 MiB within a day.
    """
    actions.record_events(network=get_client_network(), events=events, client=client)
