"""Refused scans: logged with their reason and listed for people.

The same device, ticket and reason within ten seconds are one row. Of a code that no ticket of the event has the first
characters are kept: enough to recognise a ticket that somebody shows, too little to copy it. Codes that begin alike are
one row, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg
import structlog
from sqlalchemy import ColumnElement, Select, TextClause, cast, literal, select
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.exc import DBAPIError

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
from app.gate.batch import OfflineScan
from app.gate.errors import (
    NonceReused,
    NoReentry,
    NotInside,
    TicketCancelled,
    TicketNotFound,
    WrongDay,
    WrongEvent,
)
from app.gate.log import find_guest_name, find_ticket_number, is_of_guest
from app.gate.places import key_params
from app.gate.refused_scans_sql import INSERT_REFUSED, INSERT_REFUSED_LATER
from app.gate.scan import Scan, scan

log = structlog.get_logger("gate")
UNKNOWN_CODE_ERRORS = (TicketNotFound, WrongEvent)
LOGGED_ERRORS = (
    *UNKNOWN_CODE_ERRORS,
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
        row = _build_row(refusal.code, **fields)
        ticket = fields.get("code") or fields.get("place_id")
        if isinstance(refusal, UNKNOWN_CODE_ERRORS):
            ticket = row["code_start"]
        row["fingerprint"] = _digest("refused scan", caller.client_id, refusal.code, row["direction"], ticket)
        _log(INSERT_REFUSED, caller, event_id, [row])
        raise


def log_refused_batch(caller: Caller, event_id: str, refused: Iterable[tuple[OfflineScan, str]]) -> None:
    """Log scans that a phone sent later, each with the code of its error, at an event of the caller.

    A nonce of the same device that is logged already adds nothing.
    """
    rows = []
    for offline_scan, reason in refused:
        fingerprint = _digest("refused scan of a batch", caller.client_id, offline_scan.nonce)
        rows.append({**_build_row(reason, **offline_scan._asdict()), "fingerprint": fingerprint})
    if rows:
        _log(INSERT_REFUSED_LATER, caller, event_id, rows)


def _build_row(
    reason: str,
    *,
    code: str | None = None,
    place_id: str | None = None,
    gate: str | None = None,
    direction: str = IN,
    occurred_at: datetime | None = None,
    **_: object,
) -> dict[str, object]:
    """Return a row without its fingerprint. A time without a zone is left out: the time of the log counts."""
    has_zone = occurred_at is not None and occurred_at.tzinfo is not None
    return {
        **key_params(code, place_id),
        "id": new_id(),
        "reason": reason,
        "code_start": mask_code(code),
        "direction": direction,
        "gate": gate,
        "occurred_at": occurred_at if has_zone else None,
    }


def _digest(purpose: str, *parts: object) -> str:
    return derived_text(purpose, *parts)[:22]


def _log(statement: TextClause, caller: Caller, event_id: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert the rows. A log that fails is reported, and the device gets the answer about its scan all the same."""
    params: dict[str, object] = {
        "event_id": event_id,
        "actor_kind": caller.kind,
        "actor_id": caller.client_id,
        "actor_name": caller.name,
        **{name: [row[name] for row in rows] for name in rows[0]},
    }
    try:
        write_row(statement, params)
    except (psycopg.Error, DBAPIError):
        log.exception("refused scans are not logged", scans=len(rows))


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
    """Return the refused scans of an event that match the filters, with `name`, `ticket_number`, `ticket_type` and `timezone`.

    `q` is as in `list_log_query`. Raises NotFound.
    """
    check_event(caller, event_id)
    statement = (
        select(
            *(column for column in RefusedScan.__table__.columns if column.key not in ("event_id", "fingerprint")),
            TicketType.name.label("ticket_type"),
            find_guest_name(RefusedScan),
            find_ticket_number(RefusedScan),
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
