"""Whether an application can still go on: not after its event, and not if that is cancelled or archived; and to which
events people may apply."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session as OrmSession

from app.applications.errors import ApplicationsClosed
from app.applications.models import Application
from app.core.db import database_now, db
from app.events.models import Event
from app.events.visibility import ARCHIVED, CANCELLED, in_lists, takes_applications
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


class EventToApplyTo(NamedTuple):
    """A published event with a form for applications."""

    id: str
    name: str
    city: str
    timezone: str
    starts_at: datetime


def list_events_to_apply_to(count: int) -> Sequence[EventToApplyTo]:
    """The next events in the public list that have stall types and take applications, at most `count`."""
    statement = (
        select(Event.id, Event.name, Event.city, Event.timezone, Event.starts_at)
        .where(in_lists(), takes_applications(), func.jsonb_array_length(Event.stall_types) > 0)
        .where(Event.starts_at > func.now())
        .order_by(Event.starts_at, Event.id)
        .limit(count)
    )
    return [EventToApplyTo(*row) for row in db.session.execute(statement)]
