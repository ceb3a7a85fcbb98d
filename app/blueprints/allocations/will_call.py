"""The gate: `/api/events/{eventId}/allocations/will-call`."""

from typing import Any

import orjson

from app.allocations import actions, errors
from app.allocations import will_call as listing
from app.blueprints.allocations import response_schemas, schemas
from app.web import paging
from app.web.access import ORGANISER, ORGANISER_OR_ANALYST
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint
from app.web.envelope import dump_json, envelope_response

blp = Blueprint("gate", __name__, url_prefix="/api/events", description="Admission at the gate")
# What a scan answers is told without a schema: at the gate each millisecond is a queue.
JSON_KEYS = {
    field_name: str(field.data_key) for field_name, field in response_schemas.AdmittedData().dump_fields.items()
}
ADMISSION_ERRORS = [errors.AlreadyAdmitted, errors.NotClaimed, errors.SlotRevoked, errors.PartyTooSmall]


@blp.get(
    "/<eventId>/allocations/will-call",
    access=ORGANISER_OR_ANALYST,
    query=schemas.WillCallQuery,
    returns=response_schemas.WillCallPage,
)
def will_call(event_id: str, **query: Any) -> Any:
    """List who is expected and who is in, by name. `q` finds by the beginning of a name, address or code."""
    return envelope_response(orjson.dumps(_build_page(event_id, **query)))


@blp.post(
    "/<eventId>/allocations/will-call/<slotId>/admit",
    access=ORGANISER,
    body=schemas.AdmitBody,
    returns=response_schemas.AdmittedData,
    idempotent=True,
    errors=ADMISSION_ERRORS,
)
def admit(event_id: str, slot_id: str, **body: Any) -> Any:
    """Admit somebody, exactly once. The same `nonce` again gets the same answer; `count` admits so many of a party."""
    admitted = actions.admit_slot(get_current_caller(), event_id, slot_id, **body)
    return envelope_response(dump_json({json_key: admitted[name] for name, json_key in JSON_KEYS.items()}))


def _build_page(event_id: str, *, limit: int, cursor: str | None = None, **query: Any) -> dict[str, Any]:
    cursor_scope = f"will-call {event_id} {query.get('q') or ''}"
    after = paging.decode_cursor(cursor, cursor_scope, listing.SORT_KEY) if cursor is not None else None
    result = listing.list_will_call(get_current_caller(), event_id, limit=limit, after=after, **query)
    pagination = {"limit": limit, "nextCursor": result.after and paging.encode_cursor(result.after, cursor_scope)}
    total = {} if result.total is None else {"total": result.total}
    return {"slots": result.rows, "pagination": {**pagination, **total}}
