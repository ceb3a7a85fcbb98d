"""JSON of scans and admissions. At the gate each millisecond is a queue, so no schema dumps it."""

from app.gate.place_search import PlaceMatch
from app.gate.scan import Scan
from app.gate.undo import Undo
from app.web.types import JsonObject


def serialize_scan(scan: Scan) -> JsonObject:
    """Return the result of a scan as JSON."""
    return {
        "admissionId": scan.id,
        "kind": scan.kind,
        "placeId": scan.place_id,
        "name": scan.name,
        "ticketType": scan.ticket_type,
        "ticketTypeId": scan.ticket_type_id,
        "direction": scan.direction,
        "reentry": scan.is_reentry,
        "admitted": scan.admitted,
        "remaining": scan.remaining,
        "admittedAt": scan.occurred_at,
        "gate": scan.gate,
        "by": scan.by,
        "training": scan.id is None,
    }


def serialize_undo(undo: Undo) -> JsonObject:
    """Return an undone scan as JSON."""
    return {
        "admissionId": undo.id,
        "undone": undo.undone,
        "undoneAt": undo.undone_at,
        "by": undo.by,
        "reason": undo.reason,
    }


def serialize_place(place: PlaceMatch) -> JsonObject:
    """Return a place that a search found as JSON."""
    return {
        "id": place.id,
        "kind": place.kind,
        "name": place.name,
        "email": place.email,
        "ticketType": place.ticket_type,
        "status": place.status,
        "partySize": place.party_size,
        "admittedAt": place.admitted_at,
        "leftAt": place.left_at,
        "details": place.details,
    }
