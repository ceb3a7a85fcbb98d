"""Signing in with a password."""

from collections.abc import Sequence

from sqlalchemy import update

from app.accounts import passwords, sessions, throttling
from app.accounts.devices import is_known_device
from app.accounts.errors import InvalidCredentials
from app.accounts.models import Account
from app.accounts.queries import by_email
from app.accounts.sessions import SignedIn
from app.core import throttle
from app.core.db import release
from app.core.transaction import transaction


def log_in(
    *, email: str, password: str, network: str, refresh_token: str | None = None, device_marks: Sequence[str] = ()
) -> SignedIn:
    """A new session. A known device is not held up by the failures of others on its network.

    Raises InvalidCredentials (one answer for wrong and unknown, in one time), Throttled.
    """
    account = by_email(email)
    known = is_known_device(account, marks=device_marks, refresh_token=refresh_token)
    counted_network = None if known else network
    failed_before = throttling.check(email, counted_network)
    release()
    if not passwords.matches(account.password_hash if account else None, password) or account is None:
        throttling.count_failure(email, counted_network, account.id if account else None)
        raise InvalidCredentials()
    better = passwords.hashed(password) if passwords.outdated(account.password_hash or "") else None
    with transaction() as session:
        if failed_before:
            throttle.clear(session, throttling.PER_ADDRESS, email)
        if better:
            session.execute(update(Account).where(Account.id == account.id).values(password_hash=better))
        return sessions.begin(session, account)
