"""Whether a ticket enters an event again: never, once a day, after it was scanned at the exit, or always."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

NO_REENTRY, DAILY_REENTRY, COUNTED_REENTRY, FREE_REENTRY = "none", "daily", "counted", "free"
REENTRY_MODES = (NO_REENTRY, DAILY_REENTRY, COUNTED_REENTRY, FREE_REENTRY)
DAY_BEGINS = timedelta(hours=5)
"""Who comes at three in the morning still comes for the evening before."""


def get_entry_day(moment: datetime, timezone: str) -> date:
    """Return the day of an entry in the event's timezone; it begins at 5 in the morning."""
    return (moment.astimezone(ZoneInfo(timezone)).replace(tzinfo=None) - DAY_BEGINS).date()


def get_last_entry_day(end: datetime, timezone: str) -> date:
    """Return the day of the last entry before `end`."""
    return get_entry_day(end - timedelta(microseconds=1), timezone)


def entry_day_sql(moment: str, timezone: str = "e.timezone") -> str:
    """Return the SQL of `get_entry_day`."""
    return f"(({moment} AT TIME ZONE {timezone}) - interval '{DAY_BEGINS.seconds} seconds')::date"
