"""Whether an event is so far away that its gate says so: a scan counts at any time, also by mistake."""

from datetime import timedelta

from app.core.clock import utcnow
from app.events.models import Event

TIME_AT_THE_GATE = timedelta(days=1)
"""How long before its beginning nobody wonders about scans."""


def is_far_away(event: Event) -> bool:
    """Whether the event begins in more than a day. Scans are decided without asking."""
    return event.starts_at - utcnow() > TIME_AT_THE_GATE
