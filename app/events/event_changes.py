"""Changes of an event's days, time zone and place: handlers of other domains for what follows from them.

    @on_event_move
    def reschedule_reminder(session, event, previous):
        if event.timezone != previous.timezone: …

Handlers run in the transaction that changes the event; it has locked the event's row. What needs locks of other rows is
a job that the handler enqueues: other transactions lock those rows before the event. `app/jobs.py` lists the modules
that register handlers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from app.events.models import Event
from app.events.visibility import PUBLISHED, UNLISTED


@dataclass(frozen=True)
class EventSchedule:
    """When and where an event takes place, and whether the public can see it."""

    starts_at: datetime
    ends_at: datetime
    timezone: str
    venue: str
    city: str
    is_public: bool

    def count_days_to(self, starts_at: datetime, timezone: str) -> int:
        """How many days later the event begins if it begins at `starts_at`, by the calendar of `timezone`."""
        zone = ZoneInfo(timezone)
        return (starts_at.astimezone(zone).date() - self.starts_at.astimezone(zone).date()).days


Handler = Callable[[Session, Event, EventSchedule], None]
_handlers: list[Handler] = []


def on_event_move(handler: Handler) -> Handler:
    """Registers a handler for an event whose days, time zone or place have changed."""
    _handlers.append(handler)
    return handler


def build_schedule(event: Event) -> EventSchedule:
    """The schedule of the event as it is now."""
    is_public = event.visibility in (PUBLISHED, UNLISTED)
    return EventSchedule(event.starts_at, event.ends_at, event.timezone, event.venue, event.city, is_public)


def notify_event_move(session: Session, event: Event, previous: EventSchedule) -> None:
    """Runs all handlers if days, time zone or place are not the previous ones."""
    current = build_schedule(event)
    names = ("starts_at", "ends_at", "timezone", "venue", "city")
    if any(getattr(current, name) != getattr(previous, name) for name in names):
        session.flush()
        for handler in _handlers:
            handler(session, event, previous)
