"""Resets a forgotten password in three steps: request, verify, complete."""

from datetime import timedelta

from flask import current_app
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import authentication, one_time_codes, sessions
from app.accounts.account_lifecycle import build_default_name, replace_unverified_account
from app.accounts.actions.external_login import unlink_all_identities
from app.accounts.authentication import FAILURES_PER_ADDRESS
from app.accounts.errors import CodeInvalid, ResetTokenInvalid
from app.accounts.models import Account, ResetToken
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.queries import WorkingAccess, find_working_access, lock_account_by_email
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.tokens import fingerprint, opaque_token
from app.core.transaction import transaction

RESET_TOKEN_LIFETIME = timedelta(minutes=15)


def request_reset(*, email: str) -> None:
    """Mails a code if the address has an account. The response is always the same. Raises Throttled."""
    with transaction() as session:
        one_time_codes.issue_code(session, one_time_codes.RESET_PASSWORD, email)


def verify_reset(*, email: str, code: str) -> str:
    """A token that sets a new password once, within RESET_TOKEN_LIFETIME. Raises CodeInvalid; the attempt counts."""
    token = opaque_token()
    with transaction() as session:
        is_correct = one_time_codes.redeem_code(session, one_time_codes.RESET_PASSWORD, email, code)
        account = session.scalar(select(Account).where(Account.email == email)) if is_correct else None
        if account is not None:
            session.add(
                ResetToken(
                    token_hash=fingerprint(token),
                    account_id=account.id,
                    password_version=account.password_version,
                    expires_at=func.now() + RESET_TOKEN_LIFETIME,
                )
            )
    if account is None:
        raise CodeInvalid()
    return token


def check_new_password(*, email: str, password: str) -> None:
    """Raises ValidationFailed for a password that `complete_reset` would refuse, before a code is used for it."""
    production = current_app.extensions["settings"].production
    authentication.reject_common_password(password, email, production=production)


def complete_reset(*, email: str, reset_token: str, password: str) -> WorkingAccess:
    """Sets the password, verifies the address, ends every session and notifies the owner. Returns what works without it.

    An unverified account is retired, and a new one takes its address and roles, because the person who created the old
    account may not own the mailbox. Identities are unlinked, because a stranger may have linked one: afterwards only
    this password works, or a provider that has verified this address. Raises ResetTokenInvalid. Of concurrent requests
    with one token, one succeeds.
    """
    check_new_password(email=email, password=password)
    new_hash = authentication.hash_password(password)
    had_identities = False
    with transaction() as session:
        account = lock_account_by_email(session, email)
        if account is None or not _use_reset_token(session, account, reset_token):
            raise ResetTokenInvalid()
        if account.email_verified_at is None:
            name = build_default_name(email)
            account = replace_unverified_account(
                session, account, name=name, roles=account.roles, password_hash=new_hash
            )
        else:
            account.password_hash, account.password_version = new_hash, account.password_version + 1
            account.version += 1
            had_identities = unlink_all_identities(session, account.id)
            sessions.end_all_sessions(session, account.id, "password_reset")
        one_time_codes.void_code(session, one_time_codes.RESET_PASSWORD, email)
        throttle.clear(session, FAILURES_PER_ADDRESS, email)
        data = {"identitiesUnlinked": had_identities}
        record(session, Action.PASSWORD_RESET, account_id=account.id, subject=account.id, data=data)
        access = find_working_access(session, account.id)
        enqueue_notice("password_changed", account.id, unlinked=had_identities, **access._asdict())
    return access


def _use_reset_token(session: OrmSession, account: Account, reset_token: str) -> bool:
    """Whether the token is valid for the current password of this account. If so, it is used up."""
    result = session.execute(
        update(ResetToken)
        .where(
            ResetToken.token_hash == fingerprint(reset_token),
            ResetToken.used_at.is_(None),
            ResetToken.expires_at > func.now(),
            ResetToken.account_id == account.id,
            ResetToken.password_version == account.password_version,
        )
        .values(used_at=func.now())
        .returning(ResetToken.account_id)
        .execution_options(synchronize_session=False)
    )
    return result.first() is not None
