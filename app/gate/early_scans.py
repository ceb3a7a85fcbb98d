"""Whether scans are early: a scan counts at any time, so a page says when the event begins later."""

from datetime import timedelta

from app.core.clock import utcnow
from app.events.models import Event

DAY_BEFORE = timedelta(days=1)


def are_scans_early(event: Event) -> bool:
    """Return whether the event begins in more than a day. It only decides about a note: early scans count too."""
    return event.starts_at - utcnow() > DAY_BEFORE
