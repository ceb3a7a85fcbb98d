"""What admins see of accounts and may do to them: `/api/admin/accounts`."""

from typing import Any

from marshmallow import fields

from app.accounts import actions, administration_queries
from app.accounts.administration_queries import ACCOUNT_SORTS, STATUSES, AccountDetails
from app.accounts.errors import InvalidCredentials, OwnAccount, TierTooHigh
from app.core.errors import NotFound
from app.web.access import ADMIN, SUPPORT, TIERS, get_current_caller
from app.web.blueprint import Blueprint
from app.web.fields import Boolean, List, Nested, Text, TimeField, WholeNumber
from app.web.paging import Listing
from app.web.schema import Query, Schema

blp = Blueprint("admin_accounts", __name__, url_prefix="/api/admin/accounts", description="Accounts, for admins")

ACT_ERRORS = [NotFound, OwnAccount, TierTooHigh, InvalidCredentials]
REASON = {"example": "Three people reported payment requests from this account."}
OWNER_TOLD = {"description": "whether the owner gets a mail about it, with the reason"}


class AccountQuery(Query):
    q = Text(
        max=254,
        metadata={
            "example": "frieda@",
            "description": "an id, the beginning of an e-mail address, or beginnings of words in the name",
        },
    )


class ActBody(Schema):
    reason = Text(max=500, metadata=REASON)
    tell_owner = Boolean(load_default=True, metadata=OWNER_TOLD)
    not_told_reason = Text(
        min=1,
        max=500,
        metadata={
            "rare": True,
            "description": "required with `tellOwner` false: why the owner must not be told; it is recorded",
        },
    )


class SuspensionBody(ActBody):
    reason = Text(required=True, min=1, max=500, metadata=REASON)


class AccountRow(Schema):
    id = fields.String(required=True)
    email = fields.String(required=True)
    email_verified = Boolean(required=True)
    name = fields.String(required=True)
    roles = List(fields.String(metadata={"example": "customer"}), required=True)
    tier = fields.String(required=True, allow_none=True, metadata={"enum": [*TIERS, None], "example": None})
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": "active"})
    created_at = TimeField(required=True)
    version = WholeNumber(required=True)


class AccountActData(Schema):
    verb = fields.String(
        required=True, metadata={"enum": ["suspended", "restored", "sessions_ended"], "example": "suspended"}
    )
    admin_id = fields.String(required=True)
    reason = fields.String(required=True, allow_none=True, metadata=REASON)
    owner_told = Boolean(required=True, metadata={"example": True, **OWNER_TOLD})
    not_told_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "why the owner was not told; null if they were"},
    )
    at = TimeField(required=True)


class AccountData(AccountRow):
    phone = fields.String(required=True, allow_none=True)
    title = fields.String(required=True, allow_none=True, metadata={"example": None})
    sessions = WholeNumber(required=True, metadata={"example": 2, "description": "number of active sessions"})
    suspended_at = TimeField(required=True, allow_none=True, metadata={"example": None})
    suspended_because = fields.String(required=True, allow_none=True, metadata={"example": None})
    deletes_at = TimeField(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "when the account is deleted, if its owner has asked for it"},
    )
    acts = List(Nested(AccountActData), required=True, metadata={"description": "what admins did, the newest 50 first"})


@blp.get("", access=SUPPORT, query=AccountQuery, returns=Listing("accounts", AccountRow, ACCOUNT_SORTS, "-createdAt"))
def list_accounts(q: str | None = None) -> Any:
    """List accounts, or find one."""
    return administration_queries.list_accounts_query(q=q)


@blp.get("/<accountId>", access=SUPPORT, returns=AccountData, etag=True, errors=[NotFound])
def read_account(account_id: str) -> AccountDetails:
    """Read an account: roles, status, sessions, and what admins did to it."""
    return administration_queries.get_account_details(account_id)


@blp.post("/<accountId>/suspend", access=ADMIN, body=SuspensionBody, returns=AccountData, errors=ACT_ERRORS)
def suspend_account(account_id: str, **body: Any) -> AccountDetails:
    """Suspend an account.

    Its sessions end immediately, it cannot sign in (403 `ACCOUNT_SUSPENDED`), and its payouts wait. Its events, tickets
    and stalls stay as they are. Admins can suspend accounts up to their own tier, but not their own. Repeating it changes
    nothing.
    """
    actions.suspend_account(
        caller=get_current_caller(), account_id=account_id, justification=actions.build_justification(**body)
    )
    return administration_queries.get_account_details(account_id)


@blp.post("/<accountId>/restore", access=ADMIN, body=ActBody, returns=AccountData, errors=ACT_ERRORS)
def restore_account(account_id: str, **body: Any) -> AccountDetails:
    """Restore a suspended account: its owner can sign in again. Repeating it changes nothing."""
    actions.restore_account(
        caller=get_current_caller(),
        account_id=account_id,
        justification=actions.build_justification(**body),
    )
    return administration_queries.get_account_details(account_id)


@blp.delete("/<accountId>/sessions", access=ADMIN, body=ActBody, errors=ACT_ERRORS)
def end_sessions(account_id: str, **body: Any) -> None:
    """End every session of an account. Its owner can sign in again."""
    actions.end_account_sessions(
        caller=get_current_caller(),
        account_id=account_id,
        justification=actions.build_justification(**body),
    )
