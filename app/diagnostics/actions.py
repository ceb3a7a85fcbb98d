"""Taking in client reports."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from app.core.context import request_id
from app.core.transaction import transaction
from app.diagnostics.models import DiagnosticEvent
from app.diagnostics.scrubbing import safe


def record(*, events: Sequence[dict[str, Any]], client: str | None = None) -> None:
    """Keeps the events, scrubbed, for thirty days."""
    rows = [_row(client, safe(event)) for event in events]
    with transaction() as session:
        session.execute(insert(DiagnosticEvent), rows)


def _row(client: str | None, event: dict[str, Any]) -> dict[str, Any]:
    return {
        "client": client,
        "level": str(event.get("level", "info"))[:20],
        "event": event,
        "message": str(event.get("message", ""))[:2000],
        "request_id": request_id.get() or None,
    }
