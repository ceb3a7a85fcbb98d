"""Removing an event."""

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.core.errors import StaleVersion
from app.core.freshness import changed
from app.core.transaction import transaction
from app.events import queries, writing
from app.events.models import Event
from app.events.visibility import CANCELLED


def remove_event(*, caller: Caller, id: str, expected_version: int | None) -> dict[str, str]:
    """Deletes an event that nothing hangs on and cancels any other; `outcome` says which.

    Raises NotFound, StaleVersion.
    """
    with transaction() as session:
        event = queries.locked(session, caller, id)
        writing.settle(event)
        if expected_version not in (None, event.version):
            raise StaleVersion()
        changed(session, writing.CATALOGUE)
        if _deleted(session, event):
            return {"id": id, "outcome": "deleted"}
        if event.visibility != CANCELLED:
            event.visibility = CANCELLED
            event.version += 1
    return {"id": id, "outcome": "cancelled"}


def _deleted(session: Session, event: Event) -> bool:
    """Tickets, allocations and whatever else belongs to an event refuse its deletion by their foreign keys."""
    try:
        with session.begin_nested():
            session.execute(delete(Event).where(Event.id == event.id))
    except IntegrityError:
        return False
    session.expunge(event)
    return True
