"""Packs: unnamed tickets printed for the door, `/api/events/{eventId}/allocations/{blockId}/packs`."""

from typing import Any

from flask import current_app

from app.allocations.errors import InsufficientSlots
from app.allocations.tickets import errors, ticket_packs
from app.blueprints.allocations import document_schemas as schemas
from app.blueprints.allocations.invoices import BLOCK_PATH, PDF_LIMIT, build_pdf_response
from app.blueprints.allocations.invoices import blp as blp
from app.invitations.errors import EventClosed
from app.web.access import ORGANISER, ORGANISER_OR_ANALYST
from app.web.auth import get_current_caller


@blp.post(
    f"{BLOCK_PATH}/packs",
    access=ORGANISER,
    body=schemas.PackBody,
    returns=schemas.PackData,
    status=202,
    idempotent=True,
    errors=[InsufficientSlots, EventClosed],
)
def make_pack(event_id: str, block_id: str, **body: Any) -> Any:
    """Print unnamed tickets for the door.

    So many free places of the block become tickets without a name, all or none. They are drawn by a worker; `url` has
    them as one PDF, eight to a sheet. To print the same tickets again, get that PDF again.
    """
    return _serialize_pack(
        event_id, ticket_packs.create_pack(get_current_caller(), event_id, block_id, **body), block_id
    )


@blp.get(f"{BLOCK_PATH}/packs", access=ORGANISER_OR_ANALYST, returns=schemas.PacksData)
def list_packs(event_id: str, block_id: str) -> Any:
    """List the packs that were printed of a block, the newest first."""
    rows = ticket_packs.list_packs(get_current_caller(), event_id, block_id)
    return {"packs": [_serialize_pack(event_id, pack, block_id) for pack in rows]}


@blp.get(f"{BLOCK_PATH}/packs/<packId>", access=ORGANISER_OR_ANALYST, returns=schemas.PackData)
def read_pack(event_id: str, block_id: str, pack_id: str) -> Any:
    """See how far a pack is."""
    return _serialize_pack(event_id, ticket_packs.get_pack(get_current_caller(), event_id, block_id, pack_id), block_id)


@blp.get(
    f"{BLOCK_PATH}/packs/<packId>/tickets.pdf",
    access=ORGANISER_OR_ANALYST,
    content_type="application/pdf",
    limit=PDF_LIMIT,
    errors=[errors.PackNotReady],
)
def print_pack(event_id: str, block_id: str, pack_id: str) -> Any:
    """Get the tickets of a pack as one PDF, the same however often."""
    return build_pdf_response(
        ticket_packs.get_pack_pdf(get_current_caller(), event_id, block_id, pack_id), f"tickets-{pack_id}"
    )


def _serialize_pack(event_id: str, pack: dict[str, Any], block_id: str) -> dict[str, Any]:
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    return {**pack, "url": f"{base_url}/api/events/{event_id}/allocations/{block_id}/packs/{pack['id']}/tickets.pdf"}
