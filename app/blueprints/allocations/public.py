"""Links that people bring: `/api/allocations/claim/{token}` and `/api/allocations/allocator/{token}`."""

from typing import Any

from app.allocations import actions, errors, visits
from app.blueprints.allocations import answers, schemas
from app.blueprints.allocations.slot_pages import with_slots
from app.core.errors import LinkExpired, LinkUsed, Throttled
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.limits import client_network

blp = Blueprint(
    "allocation_links", __name__, url_prefix="/api/allocations", description="Claiming a place, and handing them out"
)
CLAIM_ERRORS = [LinkExpired, LinkUsed, Throttled, errors.NoSlotsLeft]


@blp.get("/claim/<token>", access=PUBLIC, returns=answers.ClaimOffer, errors=CLAIM_ERRORS)
def read_claim(token: str) -> Any:
    """See what a claim link, a claim code or an open link offers."""
    return visits.claim(token, client_network())


@blp.post(
    "/claim/<token>",
    access=PUBLIC,
    body=schemas.ClaimBody,
    returns=answers.ClaimedData,
    idempotent=True,
    errors=[*CLAIM_ERRORS, errors.AlreadyClaimed],
)
def claim(token: str, **body: Any) -> Any:
    """Claim a place with a link, a code or an open link. An e-ticket goes out by mail."""
    return actions.claim(token, client_network(), **body)


@blp.get(
    "/allocator/<token>",
    access=PUBLIC,
    query=schemas.SlotPage,
    returns=answers.AllocatorData,
    errors=[LinkExpired, Throttled],
)
def read_allocator(token: str, **page: Any) -> Any:
    """See the block that a holder's link opens, and whom he has given places."""
    return with_slots(visits.allocator(token, client_network()), visits.handed_out, **page)


@blp.post(
    "/allocator/<token>",
    access=PUBLIC,
    body=schemas.AllocatorBody,
    returns=answers.ClaimedData,
    idempotent=True,
    errors=[LinkExpired, Throttled, errors.NoSlotsLeft, errors.AlreadyClaimed, errors.AlreadyAdmitted],
)
def use_allocator(token: str, **body: Any) -> Any:
    """Hand out a place with `name` and `email`; with `slotId`, give it to somebody else or take it back."""
    return actions.use_allocator(token, client_network(), **body)
