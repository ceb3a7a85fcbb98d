"""Scans that a gate made without a network: each is admitted as if it came now, or kept as a conflict for a human.

People whom an offline gate let in are inside, so nothing that it reports is lost. What the service would have refused is
logged with the error's code in `conflict`. The order in which scans arrive does not matter: the first entry of a place
is the one with the earliest time.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from app.accounts.caller import Caller
from app.admissions.kinds import IN, UNKNOWN
from app.admissions.times import resolve_occurred_at
from app.allocations.errors import AlreadyAdmitted, PartyTooSmall
from app.core.db import fetch_rows
from app.core.errors import AppError, Busy
from app.core.ids import new_id
from app.core.transaction import transaction
from app.events.reentry import NO_REENTRY
from app.gate.batch_sql import FIND_LOGGED_SQL, INSERT_CONFLICTS, LOCK_PLACE
from app.gate.entry_order import refresh_place, refresh_places
from app.gate.errors import NonceReused
from app.gate.places import GateEvent, Place, find_event, find_places, find_refusal, find_wrong_day, key_params
from app.gate.scan import scan_once
from app.gate.sql import BY_CODE, BY_ID

ADMITTED, REPEATED, CONFLICT, REFUSED = "admitted", "repeated", "conflict", "refused"
RESULT_STATUSES = (ADMITTED, REPEATED, CONFLICT, REFUSED)
ATTEMPTS = 3


class OfflineScan(NamedTuple):
    """A scan that a gate made without a network."""

    nonce: str
    occurred_at: datetime
    code: str | None = None
    place_id: str | None = None
    gate: str | None = None
    people: int | None = None
    direction: str = IN


class ScanResult(NamedTuple):
    """What became of a scan. `code` and `data` are of the error with which the service would have refused it."""

    nonce: str
    status: str
    admission_id: str | None = None
    code: str | None = None
    data: Mapping[str, Any] = {}


class LoggedNonce(NamedTuple):
    """The rows that the log has for a nonce."""

    nonce: str
    scan_id: str
    people: int
    conflict: str | None
    direction: str
    place_id: str | None
    code: str | None


def record_batch(caller: Caller, event_id: str, scans: Sequence[OfflineScan]) -> list[ScanResult]:
    """Record scans that were made without a network; return what became of each. Raises NotFound, Busy.

    A nonce that was sent before changes nothing; what an interrupted call left out is added.
    """
    event = find_event(caller, event_id)
    logged = _find_logged(event.id, (scan.nonce for scan in scans))
    results = []
    for offline_scan in scans:
        earlier = logged.get(offline_scan.nonce)
        result = _record(caller, event, offline_scan, earlier)
        if event.reentry != NO_REENTRY and result.admission_id is not None:
            refresh_places(event.id, result.admission_id)
        results.append(result)
        if earlier is None:
            logged.update(_find_logged(event.id, [offline_scan.nonce]))
    return results


def _find_logged(event_id: str, nonces: Iterable[str]) -> dict[str, LoggedNonce]:
    rows = fetch_rows(FIND_LOGGED_SQL, {"event": event_id, "nonces": list(nonces)})
    return {row[0]: LoggedNonce(*row) for row in rows}


def _record(caller: Caller, event: GateEvent, offline_scan: OfflineScan, earlier: LoggedNonce | None) -> ScanResult:
    nonce, people = offline_scan.nonce, offline_scan.people or 1
    try:
        occurred_at = resolve_occurred_at(event.id, offline_scan.occurred_at)
    except AppError as invalid:
        return ScanResult(nonce, REFUSED, code=invalid.code, data=invalid.data)
    assert occurred_at is not None
    if earlier is not None and not _is_same_scan(event.id, offline_scan, earlier):
        return ScanResult(nonce, REFUSED, code=NonceReused.code)
    if earlier is not None and earlier.people >= people:
        return ScanResult(nonce, REPEATED, earlier.scan_id, earlier.conflict)
    try:
        return _admit_or_log(caller, event, offline_scan, occurred_at, earlier)
    except NonceReused as reused:
        logged = _find_logged(event.id, [nonce]).get(nonce)
        if earlier is None and logged is not None:
            return _record(caller, event, offline_scan, logged)
        return ScanResult(nonce, REFUSED, code=reused.code)


def _is_same_scan(event_id: str, offline_scan: OfflineScan, earlier: LoggedNonce) -> bool:
    """Whether the scan with the same nonce was of the same place, or of its party, in the same direction."""
    if earlier.direction != offline_scan.direction:
        return False
    place = _find_place(event_id, offline_scan)
    if place is None or earlier.place_id is None:
        return earlier.place_id is None and earlier.code in (offline_scan.code, offline_scan.place_id)
    if place.id == earlier.place_id:
        return True
    others = find_places(BY_ID, {**key_params(None, earlier.place_id), "event_id": event_id})
    return place.party_id is not None and any(other.party_id == place.party_id for other in others)


def _admit_or_log(
    caller: Caller, event: GateEvent, offline_scan: OfflineScan, occurred_at: datetime, earlier: LoggedNonce | None
) -> ScanResult:
    """Admit whom the rules allow, and log the others as conflicts. Raises NonceReused, Busy."""
    nonce, people = offline_scan.nonce, offline_scan.people or 1
    scan_id, admitted, conflict = (earlier.scan_id, earlier.people, earlier.conflict) if earlier else (None, 0, None)
    for _ in range(ATTEMPTS):
        refusal: AppError | None = None
        if earlier is None:
            scan_id, admitted, refusal = _admit(caller, event.id, offline_scan)
        if admitted >= people:
            return ScanResult(nonce, ADMITTED, scan_id)
        if isinstance(refusal, AlreadyAdmitted):
            refusal = _find_wrong_day(event, offline_scan, occurred_at) or refusal
        code = conflict or (refusal.code if refusal else PartyTooSmall.code)
        logged_id = _log_conflict(caller, event, offline_scan, occurred_at, scan_id, admitted, code)
        if logged_id is not None:
            return ScanResult(nonce, CONFLICT, logged_id, code, refusal.data if refusal else {})
    raise Busy()


def _admit(caller: Caller, event_id: str, offline_scan: OfflineScan) -> tuple[str | None, int, AppError | None]:
    """Admit as many as are allowed; return the id of the scan, their number, and why the others are refused."""
    fields: dict[str, Any] = offline_scan._asdict()
    fields["count"] = fields.pop("people")
    refusal: AppError | None = None
    for _ in range(ATTEMPTS):
        try:
            result = scan_once(caller, event_id, **fields)
            return result.id, result.admitted, refusal
        except PartyTooSmall as error:
            refusal, fields["count"] = error, error.data["remaining"]
            if not fields["count"]:
                break
        except (NonceReused, Busy):
            raise
        except AppError as error:
            refusal = error
            break
    return None, 0, refusal


def _log_conflict(
    caller: Caller,
    event: GateEvent,
    offline_scan: OfflineScan,
    occurred_at: datetime,
    scan_id: str | None,
    first: int,
    conflict: str,
) -> str | None:
    """Log the people whom the service would have refused, by position from `first`; return the id of the scan.

    None if nothing refuses the place any more, because another scan was undone meanwhile.
    """
    last = (offline_scan.people or 1) - 1
    place = _find_place(event.id, offline_scan)
    params = {
        "ids": [new_id() for _ in range(first, last + 1)],
        "event_id": event.id,
        "place_kind": place.kind if place else UNKNOWN,
        "place_id": place.id if place else None,
        "ticket_type_id": place.ticket_type_id if place else None,
        "scan_id": scan_id,
        "first": first,
        "last": last,
        "nonce": offline_scan.nonce,
        "direction": offline_scan.direction,
        "gate": offline_scan.gate,
        "actor_kind": caller.kind,
        "actor_id": caller.client_id,
        "actor_name": caller.name,
        "occurred_at": occurred_at,
        "conflict": conflict,
        "code": None if place else (offline_scan.code or offline_scan.place_id),
    }
    with transaction() as session:
        if place is not None:
            session.execute(LOCK_PLACE[place.kind], params)
            place = _find_place(event.id, offline_scan)
            is_free = place is not None and find_refusal(event, place, offline_scan.direction, occurred_at) is None
            if is_free and not first and conflict != PartyTooSmall.code:
                return None
        row = session.execute(INSERT_CONFLICTS, params).first()
        if place is not None:
            refresh_place(session, place.kind, params)
    return row.scan_id if row else _find_logged(event.id, [offline_scan.nonce])[offline_scan.nonce].scan_id


def _find_wrong_day(event: GateEvent, offline_scan: OfflineScan, occurred_at: datetime) -> AppError | None:
    """Return the error of a scan on a wrong day, also if others entered with the ticket before the scan arrived."""
    place = _find_place(event.id, offline_scan)
    return find_wrong_day(event, place, occurred_at) if place is not None else None


def _find_place(event_id: str, offline_scan: OfflineScan) -> Place | None:
    key = BY_ID if offline_scan.code is None else BY_CODE
    params = {**key_params(offline_scan.code, offline_scan.place_id), "event_id": event_id}
    return next(iter(find_places(key, params)), None)
