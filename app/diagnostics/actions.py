"""Taking in client reports."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import orjson
from sqlalchemy import insert

from app.core import throttle
from app.core.context import request_id
from app.core.db import fetch_rows
from app.core.metrics import Counter
from app.core.session import ReadOrWriteSession
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.diagnostics.errors import DiagnosticsLimit
from app.diagnostics.models import DiagnosticEvent
from app.diagnostics.scrubbing import safe

BYTES_A_DAY = Rule("diagnostics-bytes", 5 * 1024 * 1024, timedelta(days=1))
MOST_EVENT_BYTES = 16 * 1024
MOST_EVENTS = 50_000
"""The table holds this many, of at most 16 KiB each: under 1 GB. Newer ones push the oldest out."""
DROP_AT_ONCE = 500
DROPPED = Counter("commerce_diagnostics_dropped_total", "Client reports that were not kept.", ("reason",))
DROP_OLDEST = """
    DELETE FROM diagnostic_event WHERE id IN (
        SELECT id FROM diagnostic_event WHERE id <= (SELECT max(id) FROM diagnostic_event) - %s
         ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED)
    RETURNING 1
"""


def record(*, events: Sequence[dict[str, Any]], network: str, client: str | None = None) -> None:
    """Keeps the events, scrubbed, for thirty days. Raises DiagnosticsLimit when the network has sent enough today."""
    rows = [_row(client, safe(event)) for event in events]
    size = sum(len(orjson.dumps(row)) for row in rows)
    with transaction() as session:
        counted = throttle.hit_many(session, dict.fromkeys(throttle.by_network(BYTES_A_DAY, network), size))
        exceeded = [item for item in counted if item.exceeded]
        dropped = 0 if exceeded else _keep(session, rows)
    if exceeded:
        DROPPED.add("network_limit", by=len(rows))
        raise DiagnosticsLimit(retry_after=max(item.seconds for item in exceeded))
    if dropped:
        DROPPED.add("table_limit", by=dropped)


def _keep(session: ReadOrWriteSession, rows: Sequence[dict[str, Any]]) -> int:
    """Writes the rows, and removes the oldest beyond what the table may hold; how many."""
    session.execute(insert(DiagnosticEvent), rows)
    return len(fetch_rows(DROP_OLDEST, (MOST_EVENTS, DROP_AT_ONCE)))


def _row(client: str | None, event: dict[str, Any]) -> dict[str, Any]:
    message = str(event.get("message", ""))[:2000]
    if len(orjson.dumps(event, default=str)) > MOST_EVENT_BYTES:
        event = {"message": message, "truncated": True}
    return {
        "client": client,
        "level": str(event.get("level", "info"))[:20],
        "event": event,
        "message": message,
        "request_id": request_id.get() or None,
    }
