"""Proving that an address is one's own."""

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import codes
from app.accounts.errors import CodeInvalid
from app.accounts.identities import unlink_all
from app.accounts.models import Account
from app.core.transaction import transaction


def resend_verification(*, email: str) -> None:
    """Mails a fresh code when the address has an account to verify; says the same when not. Raises Throttled."""
    with transaction() as session:
        codes.issue(session, codes.VERIFY, email)


def verify_email(*, email: str, code: str) -> None:
    """Marks the address as verified. Raises CodeInvalid; the try counts."""
    with transaction() as session:
        right = codes.spend(session, codes.VERIFY, email, code)
        if right:
            right = mark_verified(session, email)
    if not right:
        raise CodeInvalid()


def mark_verified(session: OrmSession, email: str) -> bool:
    """Whether there is an account with that address, which is verified now.

    Identities that it had before are unlinked: nobody knows whose they are. Only earlier releases linked them.
    """
    proven = update(Account).where(Account.email == email, Account.email_verified_at.is_(None))
    values = {"email_verified_at": func.now(), "version": Account.version + 1}
    account_id = session.scalar(proven.values(**values).returning(Account.id))
    if account_id is None:
        return session.scalar(select(Account.id).where(Account.email == email)) is not None
    unlink_all(session, account_id)
    return True
