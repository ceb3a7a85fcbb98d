"""A person's data and their leaving: `/api/auth/me`."""

from marshmallow import fields

from app.accounts import actions
from app.accounts.actions.deletion import PlannedDeletion
from app.accounts.errors import (
    ConfirmationRequired,
    CurrentPasswordWrong,
    ExportInProgress,
    InvalidCredentials,
    LastSuperAdmin,
)
from app.applications.errors import StallFeesOpen
from app.core.errors import Throttled
from app.events.errors import EventsNotOver
from app.merchants.errors import BalanceNotZero, PayoutInProgress
from app.teams.errors import TeamNeedsOwner
from app.web.access import SIGNED_IN, get_current_caller
from app.web.blueprint import Blueprint
from app.web.confirmation import ConfirmedBody
from app.web.fields import TimeField
from app.web.schema import Schema

blp = Blueprint("personal_data", __name__, url_prefix="/api/auth/me", description="Your data, and leaving")


class LeavingBody(ConfirmedBody):
    """The body of a deletion."""


class LeavingData(Schema):
    status = fields.String(
        required=True,
        dump_default="deletion_requested",
        metadata={"enum": ["deletion_requested"], "example": "deletion_requested"},
    )
    deletes_at = TimeField(
        required=True,
        metadata={"description": "when the account is deleted, unless its owner keeps it before"},
    )
    money_may_return_until = TimeField(
        required=True,
        allow_none=True,
        metadata={"description": "until when your last payout may come back; null without one"},
    )


@blp.post(
    "/export",
    access=SIGNED_IN.with_verified_email(),
    status=202,
    errors=[ExportInProgress, Throttled],
)
def request_export() -> None:
    """Get a copy of your data.

    Everything that is stored about you is put into a ZIP file, with the documents that you uploaded. A link to it comes
    by mail and works for seven days. You can have one copy at a time, and one a day.
    """
    actions.request_export(caller=get_current_caller())


@blp.delete(
    "",
    access=SIGNED_IN,
    body=LeavingBody,
    returns=LeavingData,
    etag=True,
    errors=[
        ConfirmationRequired,
        CurrentPasswordWrong,
        Throttled,
        InvalidCredentials,
        LastSuperAdmin,
        BalanceNotZero,
        PayoutInProgress,
        EventsNotOver,
        StallFeesOpen,
        TeamNeedsOwner,
    ],
)
def delete_account(password: str | None, expected_version: int | None) -> PlannedDeletion:
    """Delete your account in seven days.

    It needs your password, or a sign-in of the last ten minutes. All other sessions end now. Until it is deleted you can
    sign in, and `keep` cancels the deletion. Then your personal data is erased; the ledger, issued invoices and the
    history of who did what stay, without your name. Repeating it changes nothing.
    """
    return actions.request_deletion(caller=get_current_caller(), password=password, expected_version=expected_version)


@blp.post("/keep", access=SIGNED_IN, errors=[InvalidCredentials])
def keep_account() -> None:
    """Keep your account.

    This cancels a deletion that you asked for. Without one it changes nothing.
    """
    actions.keep_account(caller=get_current_caller())
