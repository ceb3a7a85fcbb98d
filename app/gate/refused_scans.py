"""Refused scans: logged once for each device, ticket and reason within ten seconds, and listed for people.

A code that belongs to no ticket of the event is kept as its first characters: enough to recognise a ticket that somebody
shows, too little to copy it.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, cast, literal, select
from sqlalchemy.dialects.postgresql import TSQUERY

from app.accounts.caller import Caller
from app.admissions.kinds import IN
from app.admissions.models import RefusedScan
from app.allocations.errors import AlreadyAdmitted, NotClaimed, PartyTooSmall, SlotRevoked
from app.allocations.will_call import build_tsquery
from app.core.errors import ValidationFailed
from app.core.ids import new_id
from app.core.tokens import derived_text
from app.core.transaction import write_row
from app.events.models import Event, TicketType
from app.events.queries import check_event
from app.gate.errors import (
    NonceReused,
    NoReentry,
    NotInside,
    TicketCancelled,
    TicketNotFound,
    WrongDay,
    WrongEvent,
)
from app.gate.log import find_guest_name, is_of_guest
from app.gate.places import key_params
from app.gate.refused_scans_sql import INSERT_REFUSED
from app.gate.scan import Scan, scan
from app.gate.sql import BY_CODE, BY_ID

LOGGED_ERRORS = (
    TicketNotFound,
    WrongEvent,
    WrongDay,
    SlotRevoked,
    TicketCancelled,
    NotClaimed,
    AlreadyAdmitted,
    PartyTooSmall,
    NoReentry,
    NotInside,
)
REASONS = tuple(error.code for error in (*LOGGED_ERRORS, NonceReused, ValidationFailed))
"""The last two are of scans that a phone sent later: with the nonce of another scan, or with a time that is too old."""
SHOWN_CHARACTERS = 4
SORTS: dict[str, ColumnElement[Any]] = {"occurredAt": RefusedScan.occurred_at.expression}


def scan_or_log_refusal(caller: Caller, event_id: str, **fields: Any) -> Scan:
    """Scan as `scan` does, and log the scan if it is refused. Raises as `scan` does."""
    try:
        return scan(caller, event_id, **fields)
    except LOGGED_ERRORS as refusal:
        log_refused_scan(caller, event_id, refusal.code, **fields)
        raise


def log_refused_scan(
    caller: Caller,
    event_id: str,
    reason: str,
    *,
    code: str | None = None,
    place_id: str | None = None,
    gate: str | None = None,
    direction: str = IN,
    occurred_at: datetime | None = None,
    **_: object,
) -> None:
    """Log a refused scan at an event of the caller; `reason` is the code of the error. The same scan by the same device
    again is counted.

    A naive time is left out: the time of the log counts.
    """
    has_zone = occurred_at is not None and occurred_at.tzinfo is not None
    params = {
        **key_params(code, place_id),
        "id": new_id(),
        "event_id": event_id,
        "reason": reason,
        "code_start": mask_code(code),
        "fingerprint": derived_text("refused scan", caller.client_id, reason, direction, code or place_id)[:22],
        "direction": direction,
        "gate": gate,
        "actor_kind": caller.kind,
        "actor_id": caller.client_id,
        "actor_name": caller.name,
        "occurred_at": occurred_at if has_zone else None,
    }
    write_row(INSERT_REFUSED[BY_ID if code is None else BY_CODE], params)


def mask_code(code: str | None) -> str | None:
    """Return the first characters of a code, at most half of it, with an ellipsis."""
    code = (code or "").strip()
    return f"{code[: min(SHOWN_CHARACTERS, len(code) // 2)]}…" if code else None


def list_refused_scans_query(
    caller: Caller,
    event_id: str,
    *,
    q: str | None = None,
    reason: str | None = None,
    gate: str | None = None,
    by: str | None = None,
    place_id: str | None = None,
) -> Select[Any]:
    """Return the refused scans of an event that match the filters, with `name`, `ticket_type` and `timezone`.

    `q` is as in `list_log_query`. Raises NotFound.
    """
    check_event(caller, event_id)
    statement = (
        select(
            *(column for column in RefusedScan.__table__.columns if column.key not in ("event_id", "fingerprint")),
            TicketType.name.label("ticket_type"),
            find_guest_name(RefusedScan),
            select(Event.timezone).where(Event.id == RefusedScan.event_id).scalar_subquery().label("timezone"),
        )
        .outerjoin(
            TicketType, (TicketType.id == RefusedScan.ticket_type_id) & (TicketType.event_id == RefusedScan.event_id)
        )
        .where(RefusedScan.event_id == event_id)
    )
    filters = (
        (RefusedScan.reason, reason),
        (RefusedScan.gate, gate),
        (RefusedScan.actor_name, by),
        (RefusedScan.place_id, place_id),
    )
    for column, value in filters:
        if value is not None:
            statement = statement.where(column == value)
    if q is not None:
        words = cast(literal(build_tsquery(q, event_id)), TSQUERY)
        statement = statement.where(is_of_guest(RefusedScan, event_id, words))
    return statement
