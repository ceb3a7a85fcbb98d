"""The time of a scan that was made without a network."""

from datetime import datetime, timedelta

from sqlalchemy import func, select

from app.core.db import db
from app.core.errors import ValidationFailed
from app.events.models import Event
from app.events.timezones import to_instant

MAX_AGE, CLOCK_TOLERANCE = timedelta(hours=72), timedelta(minutes=5)


def resolve_occurred_at(event_id: str, occurred_at: datetime | None) -> datetime | None:
    """Return the time of the admission in UTC, checked by the database's clock. Raises ValidationFailed.

    A naive time is in the event's time zone.
    """
    if occurred_at is None:
        return None
    timezone_query = select(Event.timezone).where(Event.id == event_id).scalar_subquery()
    now, timezone = db.session.execute(select(func.now(), timezone_query)).one()
    occurred_instant = to_instant(occurred_at, timezone or "UTC")
    if not now - MAX_AGE <= occurred_instant <= now + CLOCK_TOLERANCE:
        raise ValidationFailed.of("occurredAt", "out_of_range", "Must be within the last 72 hours.")
    return occurred_instant
