"""Taking in client reports.

Client reports made safe to keep: control characters escaped, secrets masked, size bounded.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import orjson
from sqlalchemy import insert

from app.core import throttle
from app.core.context import request_id
from app.core.db import fetch_rows
from app.core.logs import mask_secrets
from app.core.metrics import Counter
from app.core.session import ReadOrWriteSession
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.diagnostics.errors import DiagnosticsLimit
from app.diagnostics.models import DiagnosticEvent

BYTES_PER_DAY = Rule("diagnostics-bytes", 5 * 1024 * 1024, timedelta(days=1))
MAX_EVENT_BYTES = 16 * 1024
MAX_EVENTS = 50_000
"""The table holds this many, of at most 16 KiB each: under 1 GB. Newer ones push the oldest out."""
DROP_BATCH_SIZE = 500
DROPPED_EVENTS = Counter("commerce_diagnostics_dropped_total", "Client reports that were not kept.", ("reason",))
DROP_OLDEST_SQL = """
    DELETE FROM diagnostic_event WHERE id IN (
        SELECT id FROM diagnostic_event WHERE id <= (SELECT max(id) FROM diagnostic_event) - %s
         ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED)
    RETURNING 1
"""


def record_events(*, events: Sequence[dict[str, Any]], network: str, client: str | None = None) -> None:
    """Keeps the events, scrubbed, for thirty days. Raises DiagnosticsLimit when the network has sent enough today."""
    rows = [_build_row(client, sanitize_event(event)) for event in events]
    size = sum(len(orjson.dumps(row)) for row in rows)
    with transaction() as session:
        limit_statuses = throttle.hit_many(session, dict.fromkeys(throttle.by_network(BYTES_PER_DAY, network), size))
        exceeded_limits = [limit_status for limit_status in limit_statuses if limit_status.exceeded]
        dropped_count = 0 if exceeded_limits else _insert_rows(session, rows)
    if exceeded_limits:
        DROPPED_EVENTS.add("network_limit", by=len(rows))
        raise DiagnosticsLimit(retry_after=max(limit_status.seconds for limit_status in exceeded_limits))
    if dropped_count:
        DROPPED_EVENTS.add("table_limit", by=dropped_count)


def _insert_rows(session: ReadOrWriteSession, rows: Sequence[dict[str, Any]]) -> int:
    """Writes the rows, and removes the oldest beyond what the table may hold; how many."""
    session.execute(insert(DiagnosticEvent), rows)
    return len(fetch_rows(DROP_OLDEST_SQL, (MAX_EVENTS, DROP_BATCH_SIZE)))


def _build_row(client: str | None, event: dict[str, Any]) -> dict[str, Any]:
    message = str(event.get("message", ""))[:2000]
    if len(orjson.dumps(event, default=str)) > MAX_EVENT_BYTES:
        event = {"message": message, "truncated": True}
    return {
        "client": client,
        "level": str(event.get("level", "info"))[:20],
        "event": event,
        "message": message,
        "request_id": request_id.get() or None,
    }


MAX_TEXT_LENGTH, MAX_ENTRIES, MAX_DEPTH = 2000, 50, 5


def sanitize_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event as it may stand in the database and in a log line."""
    bounded_event: dict[str, Any] = _bound_value(event, MAX_DEPTH)
    return dict(mask_secrets(None, "", bounded_event))


def _bound_value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return escape_control_characters(value)[:MAX_TEXT_LENGTH]
    if isinstance(value, Mapping):
        if depth == 0:
            return "[deeper]"
        return {
            escape_control_characters(str(name))[:80]: _bound_value(value[name], depth - 1)
            for name in list(value)[:MAX_ENTRIES]
        }
    if isinstance(value, list):
        return [_bound_value(item, depth - 1) for item in value[:MAX_ENTRIES]] if depth else "[deeper]"
    return value


def escape_control_characters(text: str) -> str:
    """Control and direction characters as `\\u….`; everything else as it is."""
    return "".join(
        character if unicodedata.category(character) not in ("Cc", "Cf", "Cs") else f"\\u{ord(character):04x}"
        for character in text
    )
