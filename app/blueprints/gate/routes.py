"""Scans at the gate: `/api/events/{eventId}/admissions`."""

from typing import Any

from flask import Response

from app.accounts.permissions import GATE_ADMIT, GATE_READ
from app.admissions.queries import ADMISSION_SORTS
from app.admissions.stats import admission_stats
from app.allocations import errors as allocation_errors
from app.blueprints.gate import schemas
from app.blueprints.gate.serializers import serialize_place, serialize_scan, serialize_undo
from app.core.errors import Busy
from app.gate import errors, refused_scans
from app.gate.log import list_log_query
from app.gate.place_search import search_places
from app.gate.scan_check import check_scan
from app.gate.undo import undo_scan
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.envelope import dump_json, envelope_response
from app.web.paging import Listing

blp = Blueprint("admissions", __name__, url_prefix="/api/events", description="Scans of all tickets of an event")
SCAN_ERRORS = [
    errors.TicketNotFound,
    errors.WrongEvent,
    errors.WrongDay,
    errors.TicketCancelled,
    errors.NoReentry,
    errors.NotInside,
    errors.NonceReused,
    allocation_errors.AlreadyAdmitted,
    allocation_errors.NotClaimed,
    allocation_errors.SlotRevoked,
    allocation_errors.PartyTooSmall,
    Busy,
]


@blp.post(
    "/<eventId>/admissions",
    access=may(GATE_ADMIT),
    body=schemas.TrainingScanBody,
    returns=schemas.ScanData,
    errors=SCAN_ERRORS,
)
def scan_ticket(event_id: str, training: bool, **body: Any) -> Response:
    """Admit the guest of a ticket's code, or of a place, exactly once. The same `nonce` gets the same response.

    `count` admits so many of a party. `direction: out` lets guests out where the event counts re-entries. `training: true`
    gets the same response or refusal, and admits nobody.
    """
    take = check_scan if training else refused_scans.scan_or_log_refusal
    return envelope_response(dump_json(serialize_scan(take(get_current_caller(), event_id, **body))))


@blp.get(
    "/<eventId>/admissions",
    access=may(GATE_ADMIT),
    query=schemas.AdmissionQuery,
    returns=Listing("admissions", schemas.AdmissionRow, ADMISSION_SORTS, "-recordedAt"),
)
def list_admissions(event_id: str, **filters: Any) -> Any:
    """List who entered and left, also what was undone, the latest record first."""
    return list_log_query(get_current_caller(), event_id, **filters)


@blp.get(
    "/<eventId>/admissions/refused",
    access=may(GATE_ADMIT),
    query=schemas.RefusedQuery,
    returns=Listing("refused", schemas.RefusedScanRow, refused_scans.SORTS, "-occurredAt"),
)
def list_refused_scans(event_id: str, **filters: Any) -> Any:
    """List the scans that were refused, and why, the latest first.

    Of a code that no ticket of the event has, only the beginning is kept.
    """
    return refused_scans.list_refused_scans_query(get_current_caller(), event_id, **filters)


@blp.get("/<eventId>/admissions/places", access=may(GATE_ADMIT), query=schemas.PlaceQuery, returns=schemas.PlacesData)
def search(event_id: str, q: str) -> Response:
    """Find guests of blocks and of imported tickets by the beginnings of words; 50 at most. Accents do not matter."""
    places = search_places(get_current_caller(), event_id, q)
    return envelope_response(dump_json({"places": [serialize_place(place) for place in places]}))


@blp.get("/<eventId>/admissions/stats", access=may(GATE_READ), returns=schemas.AdmissionStatsData)
def stats(event_id: str) -> Response:
    """Get how many were admitted, by ticket type, gate and quarter of an hour.

    `inside` and `peak` are null unless the event counts re-entries.
    """
    return envelope_response(dump_json(admission_stats(get_current_caller(), event_id)))


@blp.post(
    "/<eventId>/admissions/<admissionId>/undo",
    access=may(GATE_ADMIT),
    body=schemas.UndoBody,
    returns=schemas.UndoData,
    errors=[errors.UndoTooLate],
)
def undo(event_id: str, admission_id: str, reason: str) -> Response:
    """Undo a scan, with all of its party. Who scanned can for ten minutes, owners and managers always."""
    return envelope_response(dump_json(serialize_undo(undo_scan(get_current_caller(), event_id, admission_id, reason))))
