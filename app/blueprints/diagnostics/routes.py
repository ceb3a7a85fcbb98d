"""The route of client reports: `/api/diagnostics/logs`."""

from app.blueprints.diagnostics.schemas import LogsBody
from app.diagnostics import actions
from app.diagnostics.errors import DiagnosticsLimit
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.rate_limits import Limit, get_client_network

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
