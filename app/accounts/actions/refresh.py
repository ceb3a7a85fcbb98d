"""Exchanging a refresh token for its successor."""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select, text, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import sessions
from app.accounts.errors import RefreshInvalid, RefreshReused
from app.accounts.models import Account, AccountSession
from app.accounts.notices import enqueue_notice
from app.accounts.sessions import IDLE, SignedIn
from app.core.transaction import transaction

GRACE = timedelta(seconds=10)
ADVANCE = text(f"""
    UPDATE account_session s
       SET counter = s.counter + 1, rotated_at = now(),
           idle_until = least(now() + interval '{IDLE.days} days', s.ends_at)
      FROM account a
     WHERE s.id = :session AND s.counter = :presented AND s.ended_at IS NULL AND s.idle_until > now()
       AND s.ends_at > now() AND a.id = s.account_id
    RETURNING a.id, a.name, a.email, a.phone, a.roles, a.admin_tier
""")


def refresh(*, refresh_token: str) -> SignedIn:
    """The successor of a token. The predecessor within ten seconds gets the same successor (two tabs, a lost
    answer); anything older ends the session and tells its owner. Raises RefreshInvalid, RefreshReused."""
    known = sessions.read(refresh_token)
    if known is None:
        raise RefreshInvalid()
    session_id, counter = known
    with transaction() as session:
        owner: Row[Any] | Account | None = session.execute(
            ADVANCE, {"session": session_id, "presented": counter}
        ).first()
        if owner is None and _repeated(session, session_id, counter):
            owner = _owner(session, session_id)
        if owner is not None:
            return sessions.told(owner, session_id, counter + 1)
        reused = _end_if_living(session, session_id)
    raise RefreshReused() if reused else RefreshInvalid()


def _repeated(session: OrmSession, session_id: str, counter: int) -> bool:
    fresh = select(AccountSession.id).where(
        *_living(session_id),
        AccountSession.counter == counter + 1,
        AccountSession.rotated_at >= func.now() - GRACE,
    )
    return session.scalar(fresh) is not None


def _end_if_living(session: OrmSession, session_id: str) -> bool:
    account_id = session.scalar(
        update(AccountSession)
        .where(*_living(session_id))
        .values(ended_at=func.now(), end_reason="refresh_reused")
        .returning(AccountSession.account_id)
    )
    if account_id is not None:
        enqueue_notice("sessions_ended", account_id)
    return account_id is not None


def _owner(session: OrmSession, session_id: str) -> Account:
    return session.scalars(
        select(Account)
        .join(AccountSession, AccountSession.account_id == Account.id)
        .where(AccountSession.id == session_id)
    ).one()


def _living(session_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        AccountSession.id == session_id,
        AccountSession.ended_at.is_(None),
        AccountSession.idle_until > func.now(),
        AccountSession.ends_at > func.now(),
    )
