"""What a gate needs to decide without a network: every place of its event, and later only what changed.

    snapshot = load_snapshot(caller, event_id)                             # everything
    snapshot = load_snapshot(caller, event_id, since=snapshot.position)    # what changed; everything if it is too much

Codes are hashed with a salt of the device, so nobody reads them on a phone; who has the list can still guess them.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

import orjson

from app.accounts.caller import Caller
from app.core.change_positions import load_position, parse_snapshot
from app.core.clock import rfc3339
from app.core.db import database_now, db, fetch_rows
from app.core.tokens import derived_text
from app.events.models import Event
from app.events.queries import get_event
from app.events.reentry import DAILY_REENTRY
from app.gate.places_sql import CHANGED_PLACES_SQL, places_sql

MAX_CHANGES = 2000
MAX_AGE = timedelta(hours=24)
SALT_LENGTH = 22


class GateSnapshot(NamedTuple):
    """The JSON of a snapshot, its position, and the tag of its content, which does not depend on the time."""

    json: bytes
    position: str
    tag: str


class PlaceChanges(NamedTuple):
    """The ids of the places that changed since a position; None for too many, or a position that is not usable."""

    position: str
    ids: list[str] | None


def load_snapshot(caller: Caller, event_id: str, since: str | None = None) -> GateSnapshot:
    """Return the places of an event, or those that changed since a position. Raises NotFound."""
    event = get_event(caller, event_id)
    changes = load_changes_by_position(event.id, [since])[since] if since else PlaceChanges(load_position(), None)
    salt = derive_salt(caller)
    content = build_content(event, salt, changes.ids)
    tag = hashlib.sha256(content).hexdigest()[:32]
    head = {"position": changes.position, "takenAt": rfc3339(database_now()), "salt": salt}
    return GateSnapshot(orjson.dumps(head)[:-1] + b"," + content[1:], changes.position, tag)


def derive_salt(caller: Caller) -> str:
    """Return the salt of the codes for this device or session."""
    return derived_text("gate-snapshot", caller.session_id)[:SALT_LENGTH]


def load_changes_by_position(event_id: str, positions: Sequence[str]) -> dict[str, PlaceChanges]:
    """Return what changed since each of several positions, in one query; all get the same new position."""
    snapshots = {
        position: snapshot for position in positions if (snapshot := parse_snapshot(position, MAX_AGE)) is not None
    }
    params = {"event": event_id, "snapshots": list(snapshots.values()), "most": MAX_CHANGES + 1}
    rows = fetch_rows(CHANGED_PLACES_SQL, params) if snapshots else []
    new_position = str(rows[0][0]) if rows else load_position()
    ids: dict[str, list[str]] = {position: [] for position in snapshots}
    valid_positions = list(snapshots)
    for _, snapshot_number, place_id in rows:
        if place_id is not None:
            ids[valid_positions[snapshot_number - 1]].append(place_id)
    return {position: PlaceChanges(new_position, _limit_ids(ids.get(position))) for position in positions}


def load_event(event_id: str) -> Event | None:
    """Return the event for a reader that has been checked before."""
    return db.session.get(Event, event_id)


def build_content(event: Event, salt: str, ids: list[str] | None) -> bytes:
    """Return the JSON of a snapshot without position and time: of all places, or of those with these ids.

    `removed` has the ids that are no place of the gate any more.
    """
    params: Mapping[str, object] = {
        "event": event.id,
        "salt": salt,
        "types": [ticket_type.id for ticket_type in event.ticket_types],
        "ids": ids,
    }
    sql = places_sql(by_id=ids is not None, is_daily=event.reentry == DAILY_REENTRY)
    rows = [] if ids == [] else fetch_rows(sql, params, prepare=False)
    head = {
        "full": ids is None,
        "event": {
            "id": event.id,
            "name": event.name,
            "startsAt": rfc3339(event.starts_at),
            "endsAt": rfc3339(event.ends_at),
            "timezone": event.timezone,
            "reentry": event.reentry,
        },
        "ticketTypes": [
            {
                "id": ticket_type.id,
                "name": ticket_type.name,
                "validFrom": ticket_type.valid_from and rfc3339(ticket_type.valid_from),
                "validUntil": ticket_type.valid_until and rfc3339(ticket_type.valid_until),
            }
            for ticket_type in event.ticket_types
        ],
        "removed": sorted(set(ids or ()) - {row[0] for row in rows}),
    }
    return orjson.dumps(head)[:-1] + b',"places":[' + ",".join(_list_texts(rows)).encode() + b"]}"


def _list_texts(rows: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (text for _, text in rows)


def _limit_ids(ids: list[str] | None) -> list[str] | None:
    return ids if ids is not None and len(ids) <= MAX_CHANGES else None
