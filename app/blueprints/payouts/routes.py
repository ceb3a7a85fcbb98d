"""A merchant's payouts: `/api/merchants/me/payout-requests`."""

from typing import Any

from app.accounts.errors import EmailNotVerified
from app.blueprints.payouts import schemas
from app.core.errors import Unavailable
from app.ledger.errors import InsufficientFunds
from app.merchants.errors import MerchantDeleted, MerchantPaused
from app.payouts import actions, errors, queries
from app.web.access import MERCHANT
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint
from app.web.idempotency import find_idempotency_key
from app.web.paging import Listing

blp = Blueprint("payouts", __name__, url_prefix="/api/merchants/me/payout-requests", description="Payouts")


@blp.post(
    "",
    access=MERCHANT.with_verified_email(),
    body=schemas.PayoutBody,
    returns=schemas.PayoutRow,
    status=201,
    idempotent="forever",
    errors=[
        EmailNotVerified,
        InsufficientFunds,
        MerchantDeleted,
        MerchantPaused,
        errors.PayoutDetailsMissing,
        Unavailable,
    ],
)
def request_payout(**body: Any) -> Any:
    """Ask to be paid out, now or at a time.

    The amount is held at once. A key is kept for ever: the same key never makes a second payout. Nothing was paid to
    the destination before: send the `password`, or sign in again (409 CONFIRMATION_REQUIRED); it is told by mail, and
    the payout rests until `heldUntil`.
    """
    payout = actions.request_payout(caller=get_current_caller(), idempotency_key=find_idempotency_key(), **body)
    return payout, {"ETag": f'"{payout["version"]}"'}


@blp.get(
    "",
    access=MERCHANT,
    query=schemas.PayoutFilters,
    returns=Listing("payoutRequests", schemas.PayoutRow, queries.SORTS, "-createdAt"),
)
def list_payouts(**filters: Any) -> Any:
    """List one's own payouts, the newest first."""
    return queries.list_payouts_query(get_current_caller(), **filters)


@blp.get("/availability", access=MERCHANT, query=schemas.PayoutWish, returns=schemas.AvailabilityData)
def read_availability(**payout_request: Any) -> Any:
    """Read what one has and may be paid; with an amount, whether it could be paid out, and if not why."""
    return queries.load_availability(get_current_caller(), **payout_request)


@blp.get("/<id>", access=MERCHANT, returns=schemas.PayoutData, etag=True)
def read_payout(id: str) -> Any:
    """Read a payout with every step that it took."""
    return queries.get_payout(get_current_caller(), id)


@blp.post("/<id>/cancel", access=MERCHANT, returns=schemas.PayoutRow, errors=[errors.NotCancellable])
def cancel_payout(id: str) -> Any:
    """Cancel a payout that has not been handed to the rail; its amount is given back.

    Doing it again changes nothing.
    """
    return actions.cancel_payout(caller=get_current_caller(), id=id)
