"""The gate: `/api/events/{eventId}/allocations/will-call`."""

from typing import Any

import orjson

from app.allocations import actions, errors
from app.allocations import gate as listing
from app.blueprints.allocations import answers, schemas
from app.web import paging
from app.web.access import ORGANISER, ORGANISER_READS
from app.web.auth import current_caller
from app.web.blueprint import Blueprint
from app.web.envelope import as_json, spliced_response

blp = Blueprint("gate", __name__, url_prefix="/api/events", description="Admission at the gate")
# What a scan answers is told without a schema: at the gate each millisecond is a queue.
WIRE = {name: str(field.data_key) for name, field in answers.AdmittedData().dump_fields.items()}
NOT_ADMITTED = [errors.AlreadyAdmitted, errors.NotClaimed, errors.SlotRevoked, errors.PartyTooSmall]


@blp.get(
    "/<eventId>/allocations/will-call",
    access=ORGANISER_READS,
    query=schemas.WillCallQuery,
    returns=answers.WillCallPage,
)
def will_call(event_id: str, **query: Any) -> Any:
    """List who is expected and who is in, by name. `q` finds by the beginning of a name, address or code."""
    return spliced_response(orjson.dumps(_page(event_id, **query)))


@blp.post(
    "/<eventId>/allocations/will-call/<slotId>/admit",
    access=ORGANISER,
    body=schemas.AdmitBody,
    returns=answers.AdmittedData,
    idempotent=True,
    errors=NOT_ADMITTED,
)
def admit(event_id: str, slot_id: str, **body: Any) -> Any:
    """Admit somebody, exactly once. The same `nonce` again gets the same answer; `count` admits so many of a party."""
    admitted = actions.admit(current_caller(), event_id, slot_id, **body)
    return spliced_response(as_json({wire: admitted[name] for name, wire in WIRE.items()}))


def _page(event_id: str, *, limit: int, cursor: str | None = None, **query: Any) -> dict[str, Any]:
    place = f"will-call {event_id} {query.get('q') or ''}"
    after = paging.decoded(cursor, place, listing.SORT_KEY) if cursor is not None else None
    found = listing.will_call(current_caller(), event_id, limit=limit, after=after, **query)
    pagination = {"limit": limit, "nextCursor": found.after and paging.encoded(found.after, place)}
    total = {} if found.total is None else {"total": found.total}
    return {"slots": found.rows, "pagination": {**pagination, **total}}
