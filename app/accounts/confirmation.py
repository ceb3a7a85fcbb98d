"""Confirmation: an operation that a bearer token alone must not do needs the password, or a recent sign-in."""

from datetime import timedelta

from app.accounts.caller import Caller
from app.accounts.errors import ConfirmationRequired, CurrentPasswordWrong
from app.accounts.throttling import check_own_password
from app.core.db import fetch_row

RECENT = timedelta(minutes=10)
NEW_IDENTITY = timedelta(hours=24)
"""How long an identity that was linked to an existing account confirms nothing: a stolen token can link one."""
SIGN_IN = """
    SELECT a.password_hash IS NOT NULL,
           s.created_at > now() - %s::interval AND NOT EXISTS (
               SELECT FROM external_identity i WHERE i.account_id = a.id
                  AND i.linked_at > a.created_at AND i.linked_at > now() - %s::interval)
      FROM account a JOIN account_session s ON s.account_id = a.id
     WHERE a.id = %s AND s.id = %s
"""


def confirm_owner(caller: Caller, password: str | None) -> None:
    """Checks that the caller is the owner of the account: by the password, if there is one, else by a recent sign-in.

    Raises ConfirmationRequired, CurrentPasswordWrong (it counts like a failed sign-in), Throttled.
    """
    if password is not None:
        if not check_own_password(caller, password):
            raise CurrentPasswordWrong()
        return
    has_password, recent = fetch_row(SIGN_IN, (RECENT, NEW_IDENTITY, caller.id, caller.session_id)) or (True, False)
    if not recent:
        raise ConfirmationRequired(methods=["password", "sign_in"] if has_password else ["sign_in"])
