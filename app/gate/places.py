"""Places as the gate finds them, and the reason why a scan of a place is refused."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple

from app.accounts.caller import Caller
from app.admissions.kinds import ALLOCATION, IN, TICKET
from app.allocations import states
from app.allocations.errors import AlreadyAdmitted, NotClaimed, SlotRevoked
from app.allocations.links import parse_code
from app.core.db import fetch_row, fetch_rows
from app.core.errors import AppError, NotFound
from app.events.queries import ownership_params
from app.events.reentry import COUNTED_REENTRY, DAILY_REENTRY, FREE_REENTRY, get_entry_day
from app.gate.errors import NoReentry, NotInside, TicketCancelled, TicketNotFound, WrongDay, WrongEvent
from app.gate.lookup_sql import FIND_EVENT, FIND_OTHER_EVENT, FIND_PLACES
from app.gate.sql import BY_CODE

SOLD = "sold"


class GateEvent(NamedTuple):
    """What the gate needs of an event, and the database's time."""

    id: str
    organiser_id: str
    timezone: str
    reentry: str
    now: datetime


class Place(NamedTuple):
    """A slot or an imported ticket, and who let its guest in last (`entered_at`, `gate`, `by`).

    `entry_days` is filled for events where a ticket enters once a day.
    """

    kind: str
    id: str
    status: str
    name: str | None
    ticket_type_id: str
    ticket_type: str
    valid_from: datetime | None
    valid_until: datetime | None
    admitted_at: datetime | None
    left_at: datetime | None
    ended_at: datetime | None
    party_id: str | None
    outside_of_party: int
    entered_at: datetime | None
    gate: str | None
    by: str | None
    entry_days: list[date]


def key_params(code: str | None, place_id: str | None) -> dict[str, object]:
    """Return the parameters that find a place by the scanned code or by its id."""
    code = (code or "").strip()
    return {"slot_code": parse_code(code), "secret": code or None, "place_id": place_id}


def find_event(caller: Caller, event_id: str) -> GateEvent:
    """Return an event at which the caller may admit. Raises NotFound."""
    row = fetch_row(FIND_EVENT, {"event_id": event_id, **ownership_params(caller)})
    if row is None:
        raise NotFound()
    return GateEvent(*row)


def find_places(key: str, params: Mapping[str, object]) -> list[Place]:
    """Return the places of an event by the parameters of `key_params`, or by `slot_ids`, in the order of their ids."""
    return [Place(*row) for row in fetch_rows(FIND_PLACES[key], params)]


def find_place(event: GateEvent, key: str, params: Mapping[str, object]) -> Place:
    """Return the place that was scanned. Raises TicketNotFound; WrongEvent if the organiser has it at another event."""
    places: Sequence[Place] = find_places(key, params)
    if places:
        return places[0]
    if key == BY_CODE:
        row = fetch_row(FIND_OTHER_EVENT, {**params, "organiser_id": event.organiser_id})
        if row is not None:
            raise WrongEvent(eventName=row[0])
    raise TicketNotFound()


def find_refusal(event: GateEvent, place: Place, direction: str, occurred_at: datetime | None) -> AppError | None:
    """Return the error with which a scan of this place is refused now, or None."""
    scan_time = min(occurred_at or event.now, event.now)
    if direction != IN and event.reentry != COUNTED_REENTRY:
        return NoReentry()
    if place.kind == TICKET and place.status != SOLD:
        return TicketCancelled(status=place.status, name=place.name)
    if place.status == states.REVOKED:
        return SlotRevoked(revokedAt=place.ended_at, name=place.name)
    if place.kind == ALLOCATION and place.status not in (states.CLAIMED, states.ADMITTED):
        return NotClaimed(status=place.status)
    is_inside = (
        place.admitted_at is not None
        and place.left_at is None
        and (place.entered_at is None or place.entered_at <= scan_time)
    )
    if direction != IN and not is_inside:
        return NotInside(name=place.name)
    if direction == IN and place.admitted_at is not None and not _may_enter_again(event, place, scan_time):
        return AlreadyAdmitted(
            admittedAt=place.entered_at,
            gate=place.gate,
            by=place.by,
            name=place.name,
            ticketType=place.ticket_type,
            remaining=place.outside_of_party,
        )
    return find_wrong_day(event, place, occurred_at)


def find_wrong_day(event: GateEvent, place: Place, occurred_at: datetime | None) -> WrongDay | None:
    """Return the error of a place that is not valid at the time of the scan, or None."""
    scan_time = min(occurred_at or event.now, event.now)
    starts_later = place.valid_from is not None and scan_time < place.valid_from
    if starts_later or (place.valid_until is not None and scan_time >= place.valid_until):
        return WrongDay(validFrom=place.valid_from, validUntil=place.valid_until, name=place.name)
    return None


def _may_enter_again(event: GateEvent, place: Place, scan_time: datetime) -> bool:
    if event.reentry == DAILY_REENTRY:
        return get_entry_day(scan_time, event.timezone) not in place.entry_days
    has_left = place.left_at is not None and place.left_at <= scan_time
    return event.reentry == FREE_REENTRY or (event.reentry == COUNTED_REENTRY and has_left)
