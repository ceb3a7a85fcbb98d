"""Known devices: those that have signed in to an account before.

A browser keeps a mark in a cookie, an app its last refresh token. Either exempts a sign-in from the count of its
network, which many people may share, and from nothing else: the ten failures of an address count wherever they come
from. So a stolen mark gains nothing, and a forged one is no mark.
"""

from collections.abc import Sequence

from sqlalchemy import select

from app.accounts import sessions
from app.accounts.models import Account, AccountSession
from app.core.db import db
from app.core.tokens import same


def is_known_device(account: Account | None, *, marks: Sequence[str], refresh_token: str | None) -> bool:
    """Whether one of the marks, or the refresh token, comes from an earlier sign-in to this account.

    The refresh token may have expired: its session says whose device it was. An unknown address costs the same.
    """
    earlier = sessions.read(refresh_token) if refresh_token else None
    owner_id = earlier and db.session.scalar(select(AccountSession.account_id).where(AccountSession.id == earlier[0]))
    if account is None:
        return False
    own = sessions.device_mark(account)
    return owner_id == account.id or any(same(mark, own) for mark in marks)
