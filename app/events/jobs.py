"""Hooks of events: cancellation when an account is retired."""

from sqlalchemy import update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.account_lifecycle import on_account_retired
from app.core.cache_invalidation import invalidate
from app.events.actions import event_actions
from app.events.models import Event
from app.events.visibility import CANCELLED


@on_account_retired
def cancel_events(session: OrmSession, account_id: str) -> None:
    """Cancels every event of the account, so that its links and codes stop working."""
    session.execute(
        update(Event)
        .where(Event.organiser_id == account_id, Event.visibility != CANCELLED)
        .values(visibility=CANCELLED, version=Event.version + 1)
        .execution_options(synchronize_session=False)
    )
    invalidate(session, event_actions.CATALOGUE)
