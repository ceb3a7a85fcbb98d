"""The days that an export covers: by default this year until today, in Windhoek."""

from datetime import date
from typing import NamedTuple
from zoneinfo import ZoneInfo

from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.formatting import HOME


class Period(NamedTuple):
    """The first and the last day."""

    since: date
    until: date


def build_period(since: date | None, until: date | None) -> Period:
    """Return the period with what is missing filled in. Raises ValidationFailed if it ends before it begins."""
    until = until or database_now().astimezone(ZoneInfo(HOME)).date()
    since = since or until.replace(month=1, day=1)
    if since > until:
        raise ValidationFailed.of("to", "before_start", "Must not be before `from`.")
    return Period(since, until)
