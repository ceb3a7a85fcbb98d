"""The will-call list and admission: `/api/events/{eventId}/allocations/will-call`."""

from datetime import datetime

import orjson
from flask import Response

from app.accounts.permissions import GATE_ADMIT, GATE_READ
from app.allocations import actions, errors
from app.allocations.will_call import SORT_KEY, list_will_call
from app.blueprints.allocations import response_schemas, schemas
from app.blueprints.allocations.serializers import JsonObject, serialize_admission, serialize_will_call_slot
from app.web import paging
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.envelope import dump_json, envelope_response

blp = Blueprint("gate", __name__, url_prefix="/api/events", description="Admission at the gate")
ADMISSION_ERRORS = [errors.AlreadyAdmitted, errors.NotClaimed, errors.SlotRevoked, errors.PartyTooSmall]


@blp.get(
    "/<eventId>/allocations/will-call",
    access=may(GATE_READ),
    query=schemas.WillCallQuery,
    returns=response_schemas.WillCallPage,
)
def will_call(
    event_id: str,
    limit: int,
    cursor: str | None = None,
    q: str | None = None,
    status: str | None = None,
    block_id: str | None = None,
    with_total: bool = False,
) -> Response:
    """List the guests of an event by name, admitted or not. `q` is the beginning of a name, an address or a code.

    Codes are null for callers without the permission `gate.admit`, and such a search does not find codes.
    """
    cursor_scope = f"will-call {event_id} {q or ''}"
    after = paging.decode_cursor(cursor, cursor_scope, SORT_KEY) if cursor is not None else None
    page = list_will_call(
        get_current_caller(),
        event_id,
        q=q,
        status=status,
        block_id=block_id,
        limit=limit,
        after=after,
        with_total=with_total,
    )
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
    access=may(GATE_ADMIT),
    body=schemas.AdmitBody,
    returns=response_schemas.AdmittedData,
    idempotent=True,
    errors=ADMISSION_ERRORS,
)
def admit(
    event_id: str,
    slot_id: str,
    nonce: str | None = None,
    gate: str | None = None,
    occurred_at: datetime | None = None,
    count: int | None = None,
) -> Response:
    """Admit a guest exactly once. The same `nonce` gets the same response; `count` admits so many of a party."""
    admission = actions.admit_slot(
        get_current_caller(), event_id, slot_id, nonce=nonce, gate=gate, occurred_at=occurred_at, count=count
    )
    return envelope_response(dump_json(serialize_admission(admission)))
