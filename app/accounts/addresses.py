"""Who holds an address, decided for one request at a time."""

from sqlalchemy import select, text
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account

LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('account-address:' || :email, 0))")


def lock_address(session: OrmSession, email: str) -> None:
    """Waits until no other transaction changes the holder or the codes of this address.

    The lock also covers an address without an account, and it comes before all row locks of accounts and codes.
    """
    session.execute(LOCK, {"email": email})


def lock_holder(session: OrmSession, email: str) -> Account | None:
    """The account that has this address, with its row locked; None when nobody has it."""
    lock_address(session, email)
    statement = select(Account).where(Account.email == email).with_for_update()
    return session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()
