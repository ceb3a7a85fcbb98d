"""Storing reports of clients, with control characters escaped, secrets masked and a bounded size."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypedDict

import orjson
from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import aliased

from app.core import throttle
from app.core.context import request_id
from app.core.db import ReadOrWriteSession
from app.core.errors import Throttled
from app.core.logs import mask_secrets
from app.core.metrics import Counter
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.diagnostics.models import DiagnosticEvent

Report = dict[str, object]
"""An event as a client reports it: any JSON object."""


class EventRow(TypedDict):
    """A row of `diagnostic_event`."""

    client: str | None
    level: str
    event: Report
    message: str
    request_id: str | None


BYTES_PER_DAY = Rule("diagnostics-bytes", 5 * 1024 * 1024, timedelta(days=1))
MAX_EVENT_BYTES = 16 * 1024
MAX_EVENTS = 50_000
"""The table holds this many, of at most 16 KiB each: under 1 GB. The oldest are deleted."""
DELETE_BATCH_SIZE = 500
DROPPED_EVENTS = Counter("commerce_diagnostics_dropped_total", "Client reports that were not stored.", ("reason",))


def record_events(*, events: Sequence[Report], network: str, client: str | None = None) -> None:
    """Stores the events for thirty days. Raises DiagnosticsLimit when the network has sent 5 MiB today."""
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


def _insert_rows(session: ReadOrWriteSession, rows: Sequence[EventRow]) -> int:
    """Adds the rows and deletes the oldest beyond MAX_EVENTS; returns how many were deleted."""
    session.execute(insert(DiagnosticEvent), rows)
    newest = aliased(DiagnosticEvent)
    oldest = (
        select(DiagnosticEvent.id)
        .where(DiagnosticEvent.id <= select(func.max(newest.id)).scalar_subquery() - MAX_EVENTS)
        .order_by(DiagnosticEvent.id)
        .limit(DELETE_BATCH_SIZE)
        .with_for_update(skip_locked=True, of=DiagnosticEvent)
    )
    statement = delete(DiagnosticEvent).where(DiagnosticEvent.id.in_(oldest)).returning(DiagnosticEvent.id)
    return len(session.scalars(statement).all())


def _build_row(client: str | None, event: Report) -> EventRow:
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


def sanitize_event(event: Report) -> Report:
    """The event without control characters and secrets, safe for the database and for logs."""
    bounded_event = {name: _bound_value(value, MAX_DEPTH - 1) for name, value in _bound_entries(event)}
    return dict(mask_secrets(None, "", bounded_event))


def _bound_value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return escape_control_characters(value)[:MAX_TEXT_LENGTH]
    if isinstance(value, Mapping):
        if depth == 0:
            return "[deeper]"
        return {name: _bound_value(member, depth - 1) for name, member in _bound_entries(value)}
    if isinstance(value, list):
        return [_bound_value(entry, depth - 1) for entry in value[:MAX_ENTRIES]] if depth else "[deeper]"
    return value


def _bound_entries(mapping: Mapping[str, object]) -> list[tuple[str, object]]:
    """The first fifty entries of an object, with their names escaped and cut to 80 characters."""
    return [(escape_control_characters(str(name))[:80], mapping[name]) for name in list(mapping)[:MAX_ENTRIES]]


def escape_control_characters(text: str) -> str:
    """Control and direction characters as `\\u….`; everything else as it is."""
    return "".join(
        character if unicodedata.category(character) not in ("Cc", "Cf", "Cs") else f"\\u{ord(character):04x}"
        for character in text
    )


class DiagnosticsLimit(Throttled):
    number, code = 42997, "DIAGNOSTICS_LIMIT"
    message = "This network has sent 5 MiB of reports within a day; the next ones are taken later."
