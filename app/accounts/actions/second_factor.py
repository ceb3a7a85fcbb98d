"""Turns the second factor of an account on and off, and replaces its recovery codes."""

from dataclasses import dataclass
from email.utils import parseaddr

import pyotp
from flask import current_app
from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts import second_factor, sessions
from app.accounts.account_lifecycle import lock_own_account
from app.accounts.authentication import confirm_owner
from app.accounts.caller import Caller
from app.accounts.errors import CodeInvalid, SecondFactorOff, SecondFactorOn
from app.accounts.models import Account
from app.accounts.own_account_models import SecondFactor
from app.accounts.queries import lock_account_by_email
from app.audit.actions import Action
from app.core.errors import StaleVersion
from app.core.transaction import transaction


@dataclass(frozen=True)
class Enrolment:
    """The secret for the authenticator app, the same as a URI for a QR code, and encrypted for its owner's page."""

    secret: str
    uri: str
    token: str


def begin_second_factor(*, caller: Caller, password: str | None) -> Enrolment:
    """A new secret, which replaces an earlier one that was not confirmed.

    Raises SecondFactorOn, ConfirmationRequired, CurrentPasswordWrong, Throttled.
    """
    confirm_owner(caller, password)
    secret = pyotp.random_base32()
    token = second_factor.encrypt_secret(caller.id, secret)
    new_values = {"secret": token, "created_at": func.now(), "last_step": None}
    with transaction() as session:
        if lock_own_account(session, caller).second_factor_since is not None:
            raise SecondFactorOn()
        statement = insert(SecondFactor).values(account_id=caller.id, **new_values)
        session.execute(statement.on_conflict_do_update(index_elements=["account_id"], set_=new_values))
    return _build_enrolment(caller, secret, token)


def restore_enrolment(*, caller: Caller, token: str) -> Enrolment | None:
    """The secret that a page of the caller has encrypted; None for any other text. It changes nothing."""
    secret = second_factor.decrypt_secret(caller.id, token)
    return None if secret is None else _build_enrolment(caller, secret, token)


def _build_enrolment(caller: Caller, secret: str, token: str) -> Enrolment:
    issuer = parseaddr(current_app.extensions["settings"].MAIL_FROM)[0] or "Event Commerce"
    return Enrolment(secret, pyotp.TOTP(secret).provisioning_uri(name=caller.email, issuer_name=issuer), token)


def confirm_second_factor(*, caller: Caller, code: str) -> list[str]:
    """Turns the second factor on by a code of the new secret. Returns the recovery codes.

    Raises SecondFactorOn, CodeInvalid.
    """
    with transaction() as session:
        account = lock_own_account(session, caller, CodeInvalid)
        if account.second_factor_since is not None:
            raise SecondFactorOn()
        if not second_factor.redeem_app_code(session, account.id, second_factor.normalize_code(code)):
            raise CodeInvalid("The code is wrong or old; enter the code that the app shows now.")
        account.second_factor_since = func.now()
        account.version += 1
        second_factor.record_change(session, Action.SECOND_FACTOR_ON, account.id, "on")
        return second_factor.replace_recovery_codes(session, account.id)


def renew_recovery_codes(*, caller: Caller, password: str | None) -> list[str]:
    """Ten new recovery codes; the earlier ones stop working.

    Raises SecondFactorOff, ConfirmationRequired, CurrentPasswordWrong, Throttled.
    """
    confirm_owner(caller, password)
    with transaction() as session:
        account = lock_own_account(session, caller)
        if account.second_factor_since is None:
            raise SecondFactorOff()
        second_factor.record_change(session, Action.RECOVERY_CODES_RENEWED, account.id, "codes_renewed")
        return second_factor.replace_recovery_codes(session, account.id)


def turn_off_second_factor(*, caller: Caller, password: str | None, expected_version: int | None = None) -> None:
    """Turns the second factor off, also one that was not confirmed. A second call changes nothing.

    Raises ConfirmationRequired, CurrentPasswordWrong, Throttled, StaleVersion.
    """
    confirm_owner(caller, password)
    with transaction() as session:
        account = lock_own_account(session, caller)
        if expected_version not in (None, account.version):
            raise StaleVersion()
        _turn_off(session, account, Action.SECOND_FACTOR_OFF, "off")


def reset_second_factor(*, email: str) -> bool:
    """Turns the second factor of a person off who has lost their phone and their codes, and ends all sessions.

    Only operators may do this, after they have made sure who the person is. False when there was none.
    """
    with transaction() as session:
        account = lock_account_by_email(session, email)
        if account is None or account.second_factor_since is None:
            return False
        _turn_off(session, account, Action.SECOND_FACTOR_RESET, "reset")
        sessions.end_all_sessions(session, account.id, "second_factor_reset")
    return True


def _turn_off(session: OrmSession, account: Account, action: Action, news: str) -> None:
    if account.second_factor_since is not None:
        second_factor.record_change(session, action, account.id, news)
    second_factor.remove_second_factor(session, account)
