"""Claim and allocator links: `/api/allocations/claim/{token}`, `/api/allocations/allocator/{token}`."""

from typing import Any

from app.allocations import actions, errors, link_queries
from app.allocations.actions.allocator_link import AllocatorSlot
from app.allocations.actions.claims import Claim
from app.blueprints.allocations import response_schemas, schemas
from app.blueprints.allocations.serializers import JsonObject, add_slot_page
from app.core.errors import LinkExpired, LinkUsed, Throttled
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.rate_limits import get_client_network

blp = Blueprint(
    "allocation_links", __name__, url_prefix="/api/allocations", description="Claiming a place, and handing them out"
)
CLAIM_ERRORS = [LinkExpired, LinkUsed, Throttled, errors.NoSlotsLeft]


@blp.get("/claim/<token>", access=PUBLIC, returns=response_schemas.ClaimOffer, errors=CLAIM_ERRORS)
def read_claim(token: str) -> link_queries.ClaimOffer:
    """See what a claim link, a claim code or an open link offers."""
    return link_queries.get_claim_offer(token, get_client_network())


@blp.post(
    "/claim/<token>",
    access=PUBLIC,
    body=schemas.ClaimBody,
    returns=response_schemas.ClaimedData,
    idempotent=True,
    errors=[*CLAIM_ERRORS, errors.AlreadyClaimed],
)
def claim(token: str, **body: Any) -> Claim:
    """Claim a place with a link, a code or an open link. An e-ticket goes out by mail."""
    return actions.claim_slot(token, get_client_network(), **body)


@blp.get(
    "/allocator/<token>",
    access=PUBLIC,
    query=schemas.SlotPage,
    returns=response_schemas.AllocatorData,
    errors=[LinkExpired, Throttled],
)
def read_allocator(token: str, **page: Any) -> JsonObject:
    """See the block that a holder's link opens, and who has its places."""
    block = link_queries.get_allocator_block(token, get_client_network())
    return add_slot_page(block, link_queries.list_allocator_slots_query, **page)


@blp.post(
    "/allocator/<token>",
    access=PUBLIC,
    body=schemas.AllocatorBody,
    returns=response_schemas.ClaimedData,
    idempotent=True,
    errors=[LinkExpired, Throttled, errors.NoSlotsLeft, errors.AlreadyClaimed, errors.AlreadyAdmitted],
)
def use_allocator(token: str, **body: Any) -> Claim | AllocatorSlot:
    """Hand out a place with `name` and `email`; with `slotId`, give it to somebody else or take it back."""
    return actions.run_allocator_action(token, get_client_network(), **body)
