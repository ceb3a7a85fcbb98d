"""A merchant's own account: `/api/merchants`."""

from typing import Any

from app.accounts.errors import CurrentPasswordWrong, EmailNotVerified
from app.blueprints.merchants import schemas
from app.core.errors import Throttled
from app.merchants import actions, errors, queries
from app.web.access import MERCHANT
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint

blp = Blueprint("merchants", __name__, url_prefix="/api/merchants", description="A merchant's own account")

PASSWORD_ERRORS = [CurrentPasswordWrong, Throttled]


@blp.get("/me", access=MERCHANT, returns=schemas.MerchantAccount, etag=True, sparse=True)
def read_merchant() -> Any:
    """Read one's own account as a merchant.

    Account and mobile numbers are masked.
    """
    return queries.load_merchant_account(get_current_caller())


@blp.patch(
    "/me",
    access=MERCHANT,
    body=schemas.MerchantChanges,
    returns=schemas.MerchantAccount,
    etag=True,
    errors=[EmailNotVerified, errors.MerchantDeleted],
)
def change_merchant(**body: Any) -> Any:
    """Change one's own account as a merchant.

    Both objects are merged: `{}` changes nothing, and a masked number that is sent back as it was read stays.
    New `payoutDetails` need a verified address.
    """
    merchant = actions.update_profile(caller=get_current_caller(), **body)
    return merchant, {"ETag": f'"{merchant["version"]}"'}


@blp.post("/change-password", access=MERCHANT, body=schemas.ChangePasswordBody, errors=PASSWORD_ERRORS)
def change_password(**body: Any) -> Any:
    """Set a new password; every other session ends, and a mail tells the owner."""
    return actions.change_password(caller=get_current_caller(), **body)


@blp.post("/me/pause", access=MERCHANT, returns=schemas.StatusData, errors=[errors.MerchantDeleted])
def pause_merchant() -> Any:
    """Pause: out of the directory, stalls closed, no invitation accepted, no payout leaves.

    It needs nothing but the token, and what is earned still accrues.
    """
    return actions.pause_merchant(caller=get_current_caller())


@blp.post(
    "/me/resume",
    access=MERCHANT,
    body=schemas.ResumeBody,
    returns=schemas.StatusData,
    errors=[*PASSWORD_ERRORS, errors.MerchantDeleted],
)
def resume_merchant(current_password: str, **body: Any) -> Any:
    """End the pause; stalls stay closed until they are opened."""
    return actions.resume_merchant(caller=get_current_caller(), current_password=current_password)


@blp.post(
    "/me/delete",
    access=MERCHANT,
    body=schemas.DeleteBody,
    returns=schemas.DeletedData,
    errors=[*PASSWORD_ERRORS, errors.BalanceNotZero, errors.MerchantDeleted, errors.PayoutInProgress],
)
def delete_merchant(current_password: str, **body: Any) -> Any:
    """Delete the merchant; what the books need stays, who it was does not.

    An account that holds another role keeps that. A payout that comes back afterwards is given to operators.
    """
    return actions.delete_merchant(caller=get_current_caller(), current_password=current_password)
