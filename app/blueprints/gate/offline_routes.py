"""Scanning without a network: the snapshot and its stream before, batches of scans and their conflicts after."""

import gzip

from flask import Response, request

from app.accounts.permissions import GATE_ADMIT
from app.blueprints.gate import offline_schemas as schemas
from app.events.queries import ListQuery, get_event
from app.gate import conflicts, snapshot, stream_queries
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.envelope import envelope_response
from app.web.etags import not_modified_response
from app.web.paging import Listing
from app.web.scans import record_scans
from app.web.streams import StreamsFull, TooManyStreams, TooManyStreamsFromNetwork, build_event_stream

blp = Blueprint("offline_gate", __name__, url_prefix="/api/events", description="Scanning without a network")
PATH = "/<eventId>/admissions"
COMPRESSION_LEVEL = 4


@blp.get(f"{PATH}/snapshot", access=may(GATE_ADMIT), query=schemas.SnapshotQuery, returns=schemas.GateSnapshotData)
def load_snapshot(event_id: str, since: str | None = None) -> Response:
    """Get what a gate needs to decide without a network, or what changed since an earlier snapshot.

    A code is known by its hash: the first 12 bytes of SHA-256 of `salt` and the code, in base64url. If the salt is not
    that of your places, load all places again. `full` says that all places came, because too many have changed.
    """
    loaded = snapshot.load_snapshot(get_current_caller(), event_id, since)
    if request.if_none_match.contains_weak(loaded.tag):
        return not_modified_response(loaded.tag)
    response = envelope_response(loaded.json, ETag=f'"{loaded.tag}"', Vary="Accept-Encoding")
    if request.accept_encodings["gzip"]:
        response.set_data(gzip.compress(response.get_data(), COMPRESSION_LEVEL))
        response.headers["Content-Encoding"] = "gzip"
    return response


@blp.get(
    f"{PATH}/stream",
    access=may(GATE_ADMIT),
    content_type="text/event-stream",
    errors=[TooManyStreams, TooManyStreamsFromNetwork, StreamsFull],
)
def stream_changes(event_id: str) -> Response:
    """Follow the places of a gate as server-sent events.

    Send the `position` of the snapshot as `Last-Event-ID`. Events: `changes`, which has the form of the snapshot, and
    `resync`: load the snapshot again. A connection lasts ten minutes at most.
    """
    caller = get_current_caller()
    event = get_event(caller, event_id)
    return build_event_stream(stream_queries, topic=event.id, query_filters={"salt": snapshot.derive_salt(caller)})


@blp.post(f"{PATH}/batch", access=may(GATE_ADMIT), body=schemas.BatchBody, returns=schemas.BatchData)
def send_batch(event_id: str, admissions: list[object]) -> dict[str, object]:
    """Report scans that a gate made without a network, in any order, again after a lost response.

    Nothing is lost: what the service would have refused is a `conflict`, which people settle. A scan that cannot be read is
    `refused`, and the others count.
    """
    return {"results": record_scans(get_current_caller(), event_id, admissions)}


@blp.get(
    f"{PATH}/conflicts",
    access=may(GATE_ADMIT),
    returns=Listing("conflicts", schemas.ConflictRow, conflicts.SORTS, "-recordedAt"),
)
def list_conflicts(event_id: str) -> ListQuery:
    """List whom offline gates let in although the service would have refused them, with all entries of the place.

    The earliest entry came first, by the time of the scan. Undo one with a reason to settle a conflict.
    """
    return conflicts.list_conflicts_query(get_current_caller(), event_id)
