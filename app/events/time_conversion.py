"""Wall clocks and instants: a naive time is in the event's time zone.

Where clocks go forward a time that no clock shows means the one the clock shows instead (02:30 → 03:30 on the last
Sunday of March in Berlin). Where they go back, a time that comes twice means the first. Anyone who needs the second
writes an offset. See docs/decisions/local-times.md.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from app.core.db import database_now
from app.core.errors import ValidationFailed

LONGEST_WAIT_DAYS = 90


def to_instant(moment: datetime, zone: str) -> datetime:
    """The UTC instant of a time as it was sent, to the millisecond."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone), fold=0)
    return moment.astimezone(UTC).replace(microsecond=moment.microsecond // 1000 * 1000)


def to_payment_time(mode: str, moment: datetime | None, zone: str) -> datetime | None:
    """When a payment of the mode `schedule` is due; None for `now`.

    Raises ValidationFailed when the time is missing, past or more than 90 days off.
    """
    if mode == "now":
        return None
    if moment is None:
        raise ValidationFailed.of("scheduledFor", "required", "Say when, or choose the mode now.")
    when, now = to_instant(moment, zone), database_now()
    if when <= now:
        raise ValidationFailed.of("scheduledFor", "too_small", "Must be in the future.")
    if (when - now).days >= LONGEST_WAIT_DAYS:
        raise ValidationFailed.of("scheduledFor", "too_large", f"Must be within {LONGEST_WAIT_DAYS} days.")
    return when
