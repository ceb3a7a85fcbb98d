"""Sessions and their refresh tokens.

A refresh token is `<session id>.<counter>.<keyed hash of both>`: the database holds only the counter, so a
stolen copy of it holds no token, and the successor of a token can be given again.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account, AccountSession
from app.core.ids import is_id
from app.core.tokens import derived_text, same

ACCESS_SECONDS = 900
IDLE = timedelta(days=30)
SESSIONS_AN_ACCOUNT = 20


@dataclass(frozen=True)
class SignedIn:
    """A session that has just begun or gone on, and what its owner is told."""

    session_id: str
    refresh_token: str
    user: dict[str, Any]
    tier: str | None


def begin(session: OrmSession, account: Account) -> SignedIn:
    """Starts a session; the oldest beyond twenty ends."""
    started = AccountSession(account_id=account.id)
    session.add(started)
    session.flush()
    surplus = (
        select(AccountSession.id)
        .where(AccountSession.account_id == account.id, AccountSession.ended_at.is_(None))
        .order_by(AccountSession.created_at.desc(), AccountSession.id.desc())
        .offset(SESSIONS_AN_ACCOUNT)
    )
    session.execute(
        update(AccountSession)
        .where(AccountSession.id.in_(surplus))
        .values(ended_at=func.now(), end_reason="too_many")
        .execution_options(synchronize_session=False)
    )
    return told(account, started.id, 0)


def told(account: Account, session_id: str, counter: int) -> SignedIn:
    """What the owner of a session is told of it."""
    user = {"id": account.id, "name": account.name, "email": account.email, "roles": sorted(account.roles)}
    if account.phone:
        user["phone"] = account.phone
    return SignedIn(session_id, refresh_token(session_id, counter), user, account.admin_tier)


def end_all(session: OrmSession, account_id: str, reason: str, *, but: str | None = None) -> None:
    """Ends every living session of an account, except `but`."""
    living = [AccountSession.account_id == account_id, AccountSession.ended_at.is_(None)]
    if but is not None:
        living.append(AccountSession.id != but)
    session.execute(
        update(AccountSession)
        .where(*living)
        .values(ended_at=func.now(), end_reason=reason)
        .execution_options(synchronize_session=False)
    )


def refresh_token(session_id: str, counter: int) -> str:
    return f"{session_id}.{counter}.{derived_text('refresh-token', session_id, counter)}"


def read(token: str) -> tuple[str, int] | None:
    """Session id and counter of a token that this service made; None for anything else."""
    session_id, _, rest = token.partition(".")
    counter, _, _ = rest.partition(".")
    if not is_id(session_id) or not (counter.isascii() and counter.isdigit()) or len(counter) > 9:
        return None
    return (session_id, int(counter)) if same(token, refresh_token(session_id, int(counter))) else None
