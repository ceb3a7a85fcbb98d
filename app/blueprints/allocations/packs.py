"""Packs: unnamed tickets printed for the door, `/api/events/{eventId}/allocations/{blockId}/packs`."""

from typing import Any

from flask import current_app

from app.allocations.errors import InsufficientSlots
from app.allocations.tickets import errors, packs
from app.blueprints.allocations import paper_schemas as schemas
from app.blueprints.allocations.papers import DRAWING, OF_BLOCK, pdf_response
from app.blueprints.allocations.papers import blp as blp
from app.invitations.errors import EventClosed
from app.web.access import ORGANISER, ORGANISER_READS
from app.web.auth import current_caller


@blp.post(
    f"{OF_BLOCK}/packs",
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
    return _told(event_id, packs.make_pack(current_caller(), event_id, block_id, **body), block_id)


@blp.get(f"{OF_BLOCK}/packs", access=ORGANISER_READS, returns=schemas.PacksData)
def list_packs(event_id: str, block_id: str) -> Any:
    """List the packs that were printed of a block, the newest first."""
    found = packs.packs(current_caller(), event_id, block_id)
    return {"packs": [_told(event_id, each, block_id) for each in found]}


@blp.get(f"{OF_BLOCK}/packs/<packId>", access=ORGANISER_READS, returns=schemas.PackData)
def read_pack(event_id: str, block_id: str, pack_id: str) -> Any:
    """See how far a pack is."""
    return _told(event_id, packs.pack(current_caller(), event_id, block_id, pack_id), block_id)


@blp.get(
    f"{OF_BLOCK}/packs/<packId>/tickets.pdf",
    access=ORGANISER_READS,
    content_type="application/pdf",
    limit=DRAWING,
    errors=[errors.PackNotReady],
)
def print_pack(event_id: str, block_id: str, pack_id: str) -> Any:
    """Get the tickets of a pack as one PDF, the same however often."""
    return pdf_response(packs.printed(current_caller(), event_id, block_id, pack_id), f"tickets-{pack_id}")


def _told(event_id: str, pack: dict[str, Any], block_id: str) -> dict[str, Any]:
    base = current_app.extensions["settings"].PUBLIC_BASE_URL
    return {**pack, "url": f"{base}/api/events/{event_id}/allocations/{block_id}/packs/{pack['id']}/tickets.pdf"}
