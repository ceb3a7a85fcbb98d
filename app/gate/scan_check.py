"""Training at the gate: what a scan would do, without admitting anybody."""

from datetime import datetime

from app.accounts.caller import Caller
from app.admissions.kinds import ALLOCATION, IN
from app.admissions.times import resolve_occurred_at
from app.core.db import db
from app.events.reentry import DAILY_REENTRY
from app.gate.places import find_event, find_place, key_params
from app.gate.scan import Scan, choose_places, list_party
from app.gate.sql import BY_CODE, BY_ID


def check_scan(
    caller: Caller,
    event_id: str,
    *,
    code: str | None = None,
    place_id: str | None = None,
    count: int | None = None,
    gate: str | None = None,
    occurred_at: datetime | None = None,
    direction: str = IN,
    **_: object,
) -> Scan:
    """Return what a scan would do; its id is None. Nothing is written, not even for a refusal. Raises as `scan` does."""
    event = find_event(caller, event_id)
    key = BY_ID if code is None else BY_CODE
    place = find_place(event, key, {**key_params(code, place_id), "event_id": event.id})
    scan_time = resolve_occurred_at(event.id, occurred_at)
    places = [place]
    if count is not None and place.kind == ALLOCATION:
        places = list_party(db.session(), event, place)
    chosen = choose_places(event, places, direction, scan_time, count or 1)
    entering = (
        [it for it in chosen if it.admitted_at is None or event.reentry == DAILY_REENTRY] if direction == IN else []
    )
    first = chosen[0]
    return Scan(
        None,
        first.kind,
        first.id,
        first.name,
        first.ticket_type_id,
        first.ticket_type,
        direction,
        direction == IN and first.admitted_at is not None,
        len(chosen),
        max(0, place.outside_of_party - len(entering)),
        min(scan_time or event.now, event.now),
        gate,
        caller.name,
    )
