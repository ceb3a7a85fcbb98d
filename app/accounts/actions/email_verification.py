"""Verifies the e-mail address of an account by a mailed code."""

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import one_time_codes
from app.accounts.errors import CodeInvalid
from app.accounts.external_identities import unlink_all_identities
from app.accounts.models import Account
from app.core.transaction import transaction


def resend_verification(*, email: str) -> None:
    """Mails a new code if the address has an unverified account. The response is always the same. Raises Throttled."""
    with transaction() as session:
        one_time_codes.issue_code(session, one_time_codes.VERIFY_EMAIL, email)


def verify_email(*, email: str, code: str) -> None:
    """Marks the address as verified. Raises CodeInvalid; the attempt counts."""
    with transaction() as session:
        is_verified = one_time_codes.redeem_code(session, one_time_codes.VERIFY_EMAIL, email, code)
        if is_verified:
            is_verified = mark_email_verified(session, email)
    if not is_verified:
        raise CodeInvalid()


def mark_email_verified(session: OrmSession, email: str) -> bool:
    """Marks the account with this address as verified. Returns whether there is one.

    Identities that were linked before are unlinked, because their owner is unknown; only earlier releases linked them.
    """
    statement = update(Account).where(Account.email == email, Account.email_verified_at.is_(None))
    values = {"email_verified_at": func.now(), "version": Account.version + 1}
    account_id = session.scalar(statement.values(**values).returning(Account.id))
    if account_id is None:
        return session.scalar(select(Account.id).where(Account.email == email)) is not None
    unlink_all_identities(session, account_id)
    return True
