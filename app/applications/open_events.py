"""Whether an application can still go on: not after its event, and not if that is cancelled or archived."""

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.orm import Session as OrmSession

from app.applications.errors import ApplicationsClosed
from app.applications.models import Application
from app.core.db import database_now
from app.events.models import Event
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.sql import is_event_open_sql


def can_go_on_sql() -> ColumnElement[bool]:
    """True for applications whose event is not over, cancelled or archived, and for those without an event."""
    return Application.event_id.is_(None) | exists().where(Event.id == Application.event_id, is_event_open_sql())


def is_event_closed(event: Event) -> bool:
    """Whether the event is over, cancelled or archived: its applications can only be declined, and fees sent back."""
    return event.visibility in (CANCELLED, ARCHIVED) or event.ends_at <= database_now()


def check_event_open(session: OrmSession, application: Application) -> None:
    """Raises ApplicationsClosed if the event is over, cancelled or archived."""
    event_query = select(Event.id).where(Event.id == application.event_id, is_event_open_sql())
    if application.event_id is not None and session.scalar(event_query) is None:
        raise ApplicationsClosed()
