"""Proving that an address is one's own."""

from sqlalchemy import func, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import codes
from app.accounts.errors import CodeInvalid
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
    """Whether there is an account with that address, which is verified now."""
    changed = session.execute(
        update(Account)
        .where(Account.email == email)
        .values(
            email_verified_at=func.coalesce(Account.email_verified_at, func.now()),
            version=Account.version + 1,
        )
        .returning(Account.id)
    )
    return changed.first() is not None
