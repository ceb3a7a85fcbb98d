"""Wall clocks and instants: a naive time is in the event's time zone.

Where clocks go forward a time that no clock shows means the one the clock shows instead (02:30 → 03:30 on the last
Sunday of March in Berlin). Where they go back, a time that comes twice means the first. Whoever needs the second
writes an offset. See docs/decisions/local-times.md.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def instant(moment: datetime, zone: str) -> datetime:
    """The UTC instant of a time as it was sent, to the millisecond."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone), fold=0)
    return moment.astimezone(UTC).replace(microsecond=moment.microsecond // 1000 * 1000)
