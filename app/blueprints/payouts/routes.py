"""Payouts of the signed-in merchant: `/api/merchants/me/payout-requests`."""

from typing import Any, Unpack

from app.accounts.errors import EmailNotVerified
from app.accounts.permissions import STALL_MONEY
from app.blueprints.payouts import schemas
from app.core.errors import Unavailable
from app.ledger.errors import InsufficientFunds
from app.merchants.errors import MerchantDeleted, MerchantPaused
from app.payouts import actions, errors, queries
from app.payouts.queries import Availability, PayoutFilters, PayoutQuestion, PayoutSummary
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.idempotency import find_idempotency_key
from app.web.paging import Listing

blp = Blueprint("payouts", __name__, url_prefix="/api/merchants/me/payout-requests", description="Payouts")


@blp.post(
    "",
    access=may(STALL_MONEY).with_verified_email(),
    body=schemas.PayoutBody,
    returns=schemas.PayoutRow,
    status=201,
    idempotent="forever",
    errors=[
        errors.OwnerMustConfirm,
        EmailNotVerified,
        InsufficientFunds,
        MerchantDeleted,
        MerchantPaused,
        errors.PayoutDetailsMissing,
        Unavailable,
    ],
)
def request_payout(**body: Any) -> tuple[PayoutSummary, dict[str, str]]:
    """Ask to be paid out, now or at a time.

    The amount is held immediately. A key is kept without a time limit: the same key never makes a second payout. If
    nothing was paid to the destination before, send the `password`, or sign in again (409 CONFIRMATION_REQUIRED); a
    mail informs the owner, and the payout is on hold until `heldUntil`.
    """
    payout = actions.request_payout(caller=get_current_caller(), idempotency_key=find_idempotency_key(), **body)
    return payout, {"ETag": f'"{payout.version}"'}


@blp.get(
    "",
    access=may(STALL_MONEY),
    query=schemas.PayoutFilters,
    returns=Listing("payoutRequests", schemas.PayoutRow, queries.SORTS, "-createdAt"),
)
def list_payouts(**filters: Unpack[PayoutFilters]) -> Any:
    """List one's own payouts, the newest first."""
    return queries.list_payouts_query(get_current_caller(), **filters)


@blp.get("/availability", access=may(STALL_MONEY), query=schemas.PayoutWish, returns=schemas.AvailabilityData)
def read_availability(**question: Unpack[PayoutQuestion]) -> Availability:
    """Read one's balances; with an amount, whether it could be paid out, and if not why.

    Send the `destination` and the `payrailMsisdn` of the request too, unless they are saved in the profile.
    """
    return queries.load_availability(get_current_caller(), **question)


@blp.get("/<id>", access=may(STALL_MONEY), returns=schemas.PayoutData, etag=True)
def read_payout(id: str) -> PayoutSummary:
    """Read a payout with its history."""
    return queries.get_payout(get_current_caller(), id)


@blp.post("/<id>/cancel", access=may(STALL_MONEY), returns=schemas.PayoutRow, errors=[errors.NotCancellable])
def cancel_payout(id: str) -> PayoutSummary:
    """Cancel a payout that has not been submitted to the rail; its amount is available again.

    Cancelling again changes nothing.
    """
    return actions.cancel_payout(caller=get_current_caller(), id=id)
