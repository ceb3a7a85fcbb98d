"""The caller's own account as a merchant: `/api/merchants`."""

from typing import Any

from app.accounts import actions as accounts
from app.accounts.errors import CurrentPasswordWrong, EmailNotVerified
from app.accounts.permissions import STALL_MANAGE, STALL_OWN, STALL_READ
from app.blueprints.merchants import schemas
from app.core.errors import Throttled
from app.merchants import actions, errors, queries
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint

blp = Blueprint("merchants", __name__, url_prefix="/api/merchants", description="A merchant's own account")

PASSWORD_ERRORS = [CurrentPasswordWrong, Throttled]


@blp.get("/me", access=may(STALL_READ), returns=schemas.MerchantAccount, etag=True, sparse=True)
def read_merchant() -> queries.MerchantAccount:
    """Read your account as a merchant.

    Account and mobile numbers are masked.
    """
    return queries.load_merchant_account(get_current_caller())


@blp.patch(
    "/me",
    access=may(STALL_OWN),
    body=schemas.MerchantChanges,
    returns=schemas.MerchantAccount,
    etag=True,
    errors=[EmailNotVerified, errors.MerchantDeleted],
)
def change_merchant(**body: Any) -> tuple[queries.MerchantAccount, dict[str, str]]:
    """Change your account as a merchant.

    Both objects are merged: `{}` changes nothing, and a masked number that is sent back unchanged stays.
    New `payoutDetails` need a verified address.
    """
    merchant = actions.update_profile(caller=get_current_caller(), **body)
    return merchant, {"ETag": f'"{merchant["version"]}"'}


@blp.post("/change-password", access=may(STALL_OWN), body=schemas.ChangePasswordBody, errors=PASSWORD_ERRORS)
def change_password(current_password: str, new_password: str) -> None:
    """Set a new password. Every other session ends, and the owner gets a mail."""
    accounts.change_password(caller=get_current_caller(), current_password=current_password, new_password=new_password)


@blp.post("/me/pause", access=may(STALL_MANAGE), returns=schemas.StatusData, errors=[errors.MerchantDeleted])
def pause_merchant() -> actions.MerchantStatus:
    """Pause the merchant: hide them, close their stalls, and stop invitations and payouts.

    It needs only the token. Earnings still accrue.
    """
    return actions.pause_merchant(caller=get_current_caller())


@blp.post(
    "/me/resume",
    access=may(STALL_OWN),
    body=schemas.ResumeBody,
    returns=schemas.StatusData,
    errors=[*PASSWORD_ERRORS, errors.MerchantDeleted],
)
def resume_merchant(current_password: str, confirmation: bool) -> actions.MerchantStatus:
    """End the pause. Stalls stay closed until they are opened."""
    return actions.resume_merchant(caller=get_current_caller(), current_password=current_password)


@blp.post(
    "/me/delete",
    access=may(STALL_OWN),
    body=schemas.DeleteBody,
    returns=schemas.DeletedData,
    errors=[*PASSWORD_ERRORS, errors.BalanceNotZero, errors.MerchantDeleted, errors.PayoutInProgress],
)
def delete_merchant(current_password: str, confirmation: bool) -> actions.DeletionResult:
    """Delete the merchant and their personal data. The ledger keeps its entries.

    An account with another role or a place in a team keeps those. A payout that comes back later goes to a review by
    operators.
    """
    return actions.delete_merchant(caller=get_current_caller(), current_password=current_password)
