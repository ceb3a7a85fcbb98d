"""The will-call list and admission: `/api/events/{eventId}/allocations/will-call`."""

from typing import Any

import orjson
from flask import Response

from app.allocations import actions, errors
from app.allocations.will_call import SORT_KEY, list_will_call
from app.blueprints.allocations import response_schemas, schemas
from app.blueprints.allocations.serializers import JsonObject, serialize_admission, serialize_will_call_slot
from app.web import paging
from app.web.access import ORGANISER, ORGANISER_OR_ANALYST
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint
from app.web.envelope import dump_json, envelope_response

blp = Blueprint("gate", __name__, url_prefix="/api/events", description="Admission at the gate")
ADMISSION_ERRORS = [errors.AlreadyAdmitted, errors.NotClaimed, errors.SlotRevoked, errors.PartyTooSmall]


@blp.get(
    "/<eventId>/allocations/will-call",
    access=ORGANISER_OR_ANALYST,
    query=schemas.WillCallQuery,
    returns=response_schemas.WillCallPage,
)
def will_call(event_id: str, limit: int, cursor: str | None = None, q: str | None = None, **filters: Any) -> Response:
    """List who is expected and who is in, by name. `q` finds by the beginning of a name, address or code."""
    cursor_scope = f"will-call {event_id} {q or ''}"
    after = paging.decode_cursor(cursor, cursor_scope, SORT_KEY) if cursor is not None else None
    page = list_will_call(get_current_caller(), event_id, q=q, limit=limit, after=after, **filters)
    pagination: JsonObject = {
        "limit": limit,
        "nextCursor": page.after and paging.encode_cursor(page.after, cursor_scope),
    }
    if page.total is not None:
        pagination["total"] = page.total
    slots = [serialize_will_call_slot(slot) for slot in page.slots]
    return envelope_response(orjson.dumps({"slots": slots, "pagination": pagination}))


@blp.post(
    "/<eventId>/allocations/will-call/<slotId>/admit",
    access=ORGANISER,
    body=schemas.AdmitBody,
    returns=response_schemas.AdmittedData,
    idempotent=True,
    errors=ADMISSION_ERRORS,
)
def admit(event_id: str, slot_id: str, **body: Any) -> Response:
    """Admit somebody, exactly once. The same `nonce` again gets the same answer; `count` admits so many of a party."""
    admission = actions.admit_slot(get_current_caller(), event_id, slot_id, **body)
    return envelope_response(dump_json(serialize_admission(admission)))
