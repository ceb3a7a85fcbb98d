"""Signing out."""

from sqlalchemy import func, update

from app.accounts import sessions
from app.accounts.models import AccountSession
from app.core.transaction import transaction


def log_out(*, refresh_token: str) -> None:
    """Ends the token's session at once, its access tokens included. Tokens that never counted are no error."""
    known = sessions.read(refresh_token)
    if known is None:
        return
    with transaction() as session:
        session.execute(
            update(AccountSession)
            .where(AccountSession.id == known[0], AccountSession.ended_at.is_(None))
            .values(ended_at=func.now(), end_reason="logged_out")
        )
