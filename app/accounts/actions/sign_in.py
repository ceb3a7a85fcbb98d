"""Signing in with a password."""

from sqlalchemy import update

from app.accounts import passwords, sessions, throttling
from app.accounts.errors import InvalidCredentials
from app.accounts.models import Account
from app.accounts.queries import by_email
from app.accounts.sessions import SignedIn
from app.core import throttle
from app.core.db import release
from app.core.transaction import transaction


def log_in(*, email: str, password: str, network: str) -> SignedIn:
    """A new session. Raises InvalidCredentials (one answer for wrong and unknown, in one time), Throttled."""
    failed_before = throttling.check(email, network)
    account = by_email(email)
    release()
    if not passwords.matches(account.password_hash if account else None, password) or account is None:
        throttling.count_failure(email, network, account.id if account else None)
        raise InvalidCredentials()
    better = passwords.hashed(password) if passwords.outdated(account.password_hash or "") else None
    with transaction() as session:
        if failed_before:
            throttle.clear(session, throttling.PER_ADDRESS, email)
        if better:
            session.execute(update(Account).where(Account.id == account.id).values(password_hash=better))
        return sessions.begin(session, account)
