"""A scan at the gate: each place exactly once, with any number of scanners.

One ticket is one statement (`sql.scan_sql`). The reasons of a refusal are read only afterwards. The unique index of
nonces is the last guard against a scan that is sent twice.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.admissions.kinds import ALLOCATION, IN
from app.admissions.queries import LoggedScan, find_scan, is_conflict
from app.admissions.sql import scan_params
from app.admissions.times import resolve_occurred_at
from app.allocations.errors import PartyTooSmall
from app.allocations.models import AllocationSlot
from app.allocations.sql import build_organiser_actor
from app.audit.actions import Action
from app.audit.log import entry_params
from app.core.db import DriverRow, fetch_rows
from app.core.errors import Busy
from app.core.transaction import transaction, write_row
from app.events.queries import ownership_params
from app.gate.entry_order import refresh_places
from app.gate.errors import NonceReused
from app.gate.places import GateEvent, Place, find_event, find_place, find_places, find_refusal, key_params
from app.gate.sql import BY_CODE, BY_ID, BY_PARTY, scan_sql

ATTEMPTS = 5


class Scan(NamedTuple):
    """What a scan did: `admitted` people of one place or party, `remaining` of the party still outside.

    `id` is None for a scan that only said what would happen.
    """

    id: str | None
    kind: str
    place_id: str
    name: str | None
    ticket_type_id: str
    ticket_type: str
    direction: str
    is_reentry: bool
    admitted: int
    remaining: int
    occurred_at: datetime
    gate: str | None
    by: str | None


def scan(caller: Caller, event_id: str, *, nonce: str, occurred_at: datetime | None = None, **fields: Any) -> Scan:
    """Admit or let out as `scan_once` does. If the scan was earlier than others of the place, it becomes the first."""
    result = scan_once(caller, event_id, nonce=nonce, occurred_at=occurred_at, **fields)
    if occurred_at is None or result.id is None or not result.is_reentry:
        return result
    refresh_places(event_id, result.id)
    logged_scan = find_scan(event_id, nonce)
    return result if logged_scan is None else result._replace(is_reentry=logged_scan.is_reentry)


def scan_once(
    caller: Caller,
    event_id: str,
    *,
    nonce: str,
    code: str | None = None,
    place_id: str | None = None,
    count: int | None = None,
    gate: str | None = None,
    occurred_at: datetime | None = None,
    direction: str = IN,
) -> Scan:
    """Admit the guest of a scanned code or of a place, or `count` of its party, or let them out.

    The same nonce returns the first result again. Raises NotFound, TicketNotFound, WrongEvent, WrongDay, SlotRevoked,
    TicketCancelled, NotClaimed, AlreadyAdmitted, PartyTooSmall, NoReentry, NotInside, NonceReused, ValidationFailed, Busy.
    """
    params: dict[str, Any] = {
        **build_organiser_actor(caller).build_params("admit"),
        **entry_params(Action.ADMITTED, caller),
        **ownership_params(caller),
        **scan_params(caller, count or 1, nonce),
        **key_params(code, place_id),
        "event_id": event_id,
        "gate": gate,
        "occurred_at": resolve_occurred_at(event_id, occurred_at),
    }
    key = BY_ID if code is None else BY_CODE
    for _ in range(ATTEMPTS):
        try:
            if count is not None:
                return _scan_party(caller, key, direction, params, nonce, count)
            row = write_row(scan_sql(key, direction), params)
        except psycopg.errors.UniqueViolation:
            row = None
        if row is not None:
            return _build_scan(caller, direction, params, [row])
        repeated = _replay_or_refuse(caller, key, direction, params, nonce)
        if repeated is not None:
            return repeated
    raise Busy()


def _replay_or_refuse(caller: Caller, key: str, direction: str, params: Mapping[str, Any], nonce: str) -> Scan | None:
    """Return the first result of the nonce; None if nothing refuses the scan any more. Raises the reason.

    A nonce that the log has only as a conflict is NonceReused.
    """
    event = find_event(caller, params["event_id"])
    logged_scan = find_scan(event.id, nonce)
    if logged_scan is not None:
        return _replay(event, key, direction, params, logged_scan)
    place = find_place(event, key, params)
    refusal = find_refusal(event, place, direction, params["occurred_at"])
    if refusal is not None:
        raise refusal
    if is_conflict(event.id, nonce):
        raise NonceReused()
    return None


def _replay(event: GateEvent, key: str, direction: str, params: Mapping[str, Any], logged_scan: LoggedScan) -> Scan:
    """Return the logged scan, if it was of the same place or its party. Raises NonceReused, TicketNotFound, WrongEvent."""
    place = find_place(event, key, params)
    if logged_scan.direction != direction or not _is_of(logged_scan, event, place):
        raise NonceReused()
    logged_place = find_places(BY_ID, {**params, "place_id": logged_scan.place_ids[0]})[0]
    return Scan(
        logged_scan.id,
        logged_place.kind,
        logged_place.id,
        logged_place.name,
        logged_place.ticket_type_id,
        logged_place.ticket_type,
        direction,
        logged_scan.is_reentry,
        len(logged_scan.place_ids),
        logged_scan.remaining,
        logged_scan.occurred_at,
        logged_scan.gate,
        logged_scan.by,
    )


def _is_of(logged_scan: LoggedScan, event: GateEvent, place: Place) -> bool:
    if place.id in logged_scan.place_ids:
        return True
    params = {"event_id": event.id, "place_id": logged_scan.place_ids[0]}
    return place.party_id is not None and any(other.party_id == place.party_id for other in find_places(BY_ID, params))


def _scan_party(caller: Caller, key: str, direction: str, params: dict[str, Any], nonce: str, count: int) -> Scan:
    """Scan `count` places of a party, which is locked in the order of its ids. Raises as `scan` does."""
    event = find_event(caller, params["event_id"])
    scanned_place = find_place(event, key, params)
    with transaction() as session:
        places = [scanned_place]
        if scanned_place.kind == ALLOCATION:
            places = list_party(session, event, scanned_place, locks=True)
        logged_scan = find_scan(event.id, nonce)
        if logged_scan is not None:
            return _replay(event, key, direction, params, logged_scan)
        chosen_places = choose_places(event, places, direction, params["occurred_at"], count)
        chosen = {"slot_ids": [place.id for place in chosen_places], "place_id": scanned_place.id}
        party_key = BY_PARTY if scanned_place.kind == ALLOCATION else BY_ID
        rows = fetch_rows(scan_sql(party_key, direction), {**params, **chosen})
        if len(rows) != count:
            raise Busy()
    return _build_scan(caller, direction, params, rows)


def choose_places(
    event: GateEvent, places: Sequence[Place], direction: str, occurred_at: datetime | None, count: int
) -> list[Place]:
    """Return `count` places that may be scanned. The first of `places` was scanned, the others are of its party.

    Raises PartyTooSmall, and the reason why the scanned place is refused.
    """
    refusals = [find_refusal(event, place, direction, occurred_at) for place in places]
    free_places = [place for place, refusal in zip(places, refusals, strict=True) if refusal is None]
    # Those who are outside enter before anybody enters again.
    free_places.sort(key=lambda place: direction == IN and place.admitted_at is not None)
    if refusals[0] is not None and (not free_places or places[0].admitted_at is None):
        raise refusals[0]
    if len(free_places) < count:
        raise PartyTooSmall(remaining=len(free_places), requested=count)
    return free_places[:count]


def list_party(session: Session, event: GateEvent, scanned_place: Place, *, locks: bool = False) -> list[Place]:
    """Return a slot and its party as they are now, the scanned slot first; with `locks` they are locked."""
    condition = AllocationSlot.id == scanned_place.id
    if scanned_place.party_id is not None:
        condition |= (AllocationSlot.party_id == scanned_place.party_id) & (AllocationSlot.party_size > 1)
    statement = select(AllocationSlot.id).where(AllocationSlot.event_id == event.id, condition)
    statement = statement.order_by(AllocationSlot.id)
    ids = session.scalars(statement.with_for_update(key_share=True) if locks else statement).all()
    places = find_places(BY_PARTY, {"event_id": event.id, "slot_ids": list(ids)})
    (scanned,) = [place for place in places if place.id == scanned_place.id]
    others = [place for place in places if place is not scanned and place.party_id == scanned.party_id]
    return [scanned, *others]


def _build_scan(caller: Caller, direction: str, params: Mapping[str, Any], rows: Sequence[DriverRow]) -> Scan:
    """Return the result of rows of `scan_sql`."""
    id, kind, name, ticket_type_id, ticket_type, is_reentry, remaining, occurred_at = rows[0]
    return Scan(
        params["admission_id"],
        kind, id, name, ticket_type_id, ticket_type, direction, is_reentry, len(rows), remaining, occurred_at,
        params["gate"], caller.name,
    )  # fmt: skip
