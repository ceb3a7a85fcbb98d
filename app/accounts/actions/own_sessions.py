"""Ends sessions that their owner no longer wants, and extends the session of a page that is in use."""

from sqlalchemy import func, update

from app.accounts import sessions
from app.accounts.caller import Caller
from app.accounts.models import AccountSession
from app.accounts.sessions import LAST_SEEN_INTERVAL, PAGE_IDLE_LIFETIME
from app.accounts.sql import EXTEND_PAGE_SESSION_SQL
from app.core.errors import NotFound
from app.core.transaction import transaction, write_row


def end_session(*, caller: Caller, session_id: str) -> None:
    """Ends a session of the caller's account immediately; ending it again changes nothing.

    Raises NotFound, also for a session of another account.
    """
    with transaction() as session:
        ended_id = session.scalar(
            update(AccountSession)
            .where(AccountSession.id == session_id, AccountSession.account_id == caller.id)
            .values(
                ended_at=func.coalesce(AccountSession.ended_at, func.now()),
                end_reason=func.coalesce(AccountSession.end_reason, "ended_by_owner"),
            )
            .returning(AccountSession.id)
            .execution_options(synchronize_session=False)
        )
        if ended_id is None:
            raise NotFound()


def end_other_sessions(*, caller: Caller) -> None:
    """Ends every session of the caller's account but the caller's own."""
    with transaction() as session:
        sessions.end_all_sessions(session, caller.id, "ended_by_owner", except_session_id=caller.session_id)


def extend_page_session(*, session_id: str) -> None:
    """Records the use of a page, and lets its session live on. Of concurrent calls one writes."""
    params = {"session_id": session_id, "idle_lifetime": PAGE_IDLE_LIFETIME, "interval": LAST_SEEN_INTERVAL}
    write_row(EXTEND_PAGE_SESSION_SQL, params)
