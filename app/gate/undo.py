"""Undoing a scan: by the gate crew within ten minutes, by an owner or a manager at any time."""

from datetime import datetime
from typing import NamedTuple

from app.accounts.caller import Caller
from app.accounts.permissions import GUESTS_WRITE
from app.admissions.kinds import ALLOCATION, IN, TICKET
from app.allocations.sql import build_organiser_actor
from app.audit.actions import Action
from app.audit.log import record
from app.core.db import fetch_row, fetch_rows
from app.core.errors import NotFound
from app.core.languages import mark_for_translation
from app.core.transaction import transaction
from app.gate import undo_sql
from app.gate.errors import UndoTooLate
from app.gate.places import find_event

OWN_TIME = "10 minutes"
UNDONE_AT_THE_GATE = "Undone at the gate"
"""The reason that the pages of the gate give; `admissions.js` has it too."""


class Undo(NamedTuple):
    """An undone scan; `undone` places."""

    id: str
    undone: int
    undone_at: datetime
    by: str
    reason: str


class _Row(NamedTuple):
    scan_id: str
    id: str
    kind: str
    place_id: str | None
    ticket_type_id: str | None
    direction: str
    is_reentry: bool
    actor_kind: str
    actor_id: str
    undone_at: datetime | None
    undone_by: str | None
    undo_reason: str | None
    is_recent: bool


def undo_scan(caller: Caller, event_id: str, admission_id: str, reason: str) -> Undo:
    """Undo all admissions of a scan; their places are as if it had not been. A second undo returns the first one.

    Raises NotFound, UndoTooLate.
    """
    event = find_event(caller, event_id)
    params: dict[str, object] = {"event_id": event.id, "admission_id": admission_id, "own_time": OWN_TIME}
    with transaction() as session:
        rows = _find_rows(params)
        may_undo_all = caller.may(GUESTS_WRITE, organisation_id=event.organiser_id, event_id=event.id)
        params["scan_id"] = rows[0].scan_id
        _lock_places(rows, params)
        fetch_rows(undo_sql.LOCK_ROWS, params)
        rows = _find_rows(params)
        undo = _get_undo(rows)
        if undo is not None:
            return undo
        if not may_undo_all and not rows[0].is_recent:
            raise UndoTooLate()
        if fetch_row(undo_sql.HAS_LEFT_SINCE, params) is not None:
            raise UndoTooLate(mark_for_translation("The guest has left since. Undo the scan at the exit first."))
        params |= {"undone_by": caller.name, "reason": reason}
        params |= build_organiser_actor(caller).build_params("undo")
        undone_at = fetch_rows(undo_sql.UNDO_ROWS, params)[0][0]
        for is_first in (True, False):
            _refresh_places(rows, params, is_first=is_first)
        fetch_rows(undo_sql.SETTLE_CONFLICTS, params)
        record(session, Action.ADMISSION_UNDONE, event_id=event.id, subject=rows[0].scan_id)
    return Undo(rows[0].scan_id, len(rows), undone_at, caller.name, reason)


def _find_rows(params: dict[str, object]) -> list[_Row]:
    rows = [_Row(*row) for row in fetch_rows(undo_sql.FIND_ROWS, params)]
    if not rows:
        raise NotFound()
    return rows


def _get_undo(rows: list[_Row]) -> Undo | None:
    """Return the undo of a scan if all of it was undone."""
    if any(row.undone_at is None for row in rows):
        return None
    first = rows[0]
    assert first.undone_at is not None
    return Undo(first.scan_id, len(rows), first.undone_at, first.undone_by or "", first.undo_reason or "")


def _place_ids(rows: list[_Row], kind: str) -> list[str]:
    return [row.place_id for row in rows if row.kind == kind and row.place_id is not None]


def _lock_places(rows: list[_Row], params: dict[str, object]) -> None:
    for kind, statement in ((ALLOCATION, undo_sql.LOCK_SLOTS), (TICKET, undo_sql.LOCK_TICKETS)):
        ids = _place_ids(rows, kind)
        if ids:
            fetch_rows(statement, {**params, "place_ids": ids})


def _refresh_places(rows: list[_Row], params: dict[str, object], *, is_first: bool) -> None:
    """Set the places of first entries, or those of re-entries and exits, by what the log has left."""
    rows = [row for row in rows if (row.direction == IN and not row.is_reentry) == is_first]
    slot_ids, ticket_ids = _place_ids(rows, ALLOCATION), _place_ids(rows, TICKET)
    params = {**params, "first": is_first}
    if is_first and slot_ids + ticket_ids:
        fetch_rows(undo_sql.FIRST_AGAIN, {**params, "place_ids": slot_ids + ticket_ids})
    if slot_ids:
        fetch_rows(undo_sql.REFRESH_SLOTS, {**params, "place_ids": slot_ids})
    if ticket_ids:
        fetch_row(undo_sql.REFRESH_TICKETS, {**params, "place_ids": ticket_ids})
