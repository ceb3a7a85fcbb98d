"""Reads of the log of admissions."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, select

from app.accounts.caller import Caller
from app.admissions.models import Admission
from app.admissions.read_sql import FIND_CONFLICT, FIND_SCAN
from app.core.db import fetch_row
from app.events.models import TicketType
from app.events.queries import get_event

ADMISSION_SORTS: dict[str, ColumnElement[Any]] = {"recordedAt": Admission.id.expression}
"""Ids have the order of time."""


class LoggedScan(NamedTuple):
    """A scan in the log; its places by position. `place_ids` has None for an unknown code."""

    id: str
    place_ids: list[str]
    direction: str
    is_reentry: bool
    remaining: int
    occurred_at: datetime
    gate: str | None
    by: str | None


def find_scan(event_id: str, nonce: str) -> LoggedScan | None:
    """Return the scan of an event that was admitted with this nonce, also if it was undone."""
    row = fetch_row(FIND_SCAN, {"event_id": event_id, "nonce": nonce})
    return LoggedScan(*row) if row else None


def is_conflict(event_id: str, nonce: str) -> bool:
    """Return whether the log of an event has the scan with this nonce as a conflict."""
    return fetch_row(FIND_CONFLICT, {"event_id": event_id, "nonce": nonce}) is not None


def list_admissions_query(
    caller: Caller,
    event_id: str,
    *,
    gate: str | None = None,
    by: str | None = None,
    place_id: str | None = None,
    conflict: bool | None = None,
) -> Select[Any]:
    """Return the log of an event that matches the filters, also undone entries. Raises NotFound."""
    get_event(caller, event_id)
    columns = [column for column in Admission.__table__.columns if column.key not in ("event_id", "transaction_id")]
    statement = (
        select(*columns, TicketType.name.label("ticket_type"))
        .outerjoin(
            TicketType, (TicketType.id == Admission.ticket_type_id) & (TicketType.event_id == Admission.event_id)
        )
        .where(Admission.event_id == event_id)
    )
    for column, value in ((Admission.gate, gate), (Admission.actor_name, by), (Admission.place_id, place_id)):
        if value is not None:
            statement = statement.where(column == value)
    if conflict is not None:
        statement = statement.where(Admission.conflict.is_not(None) if conflict else Admission.conflict.is_(None))
    return statement
