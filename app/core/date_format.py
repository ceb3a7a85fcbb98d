"""Times in words: `Fri 4 December 2026, 18:00 (Windhoek)`."""

from datetime import datetime
from zoneinfo import ZoneInfo

HOME = "Africa/Windhoek"


def format_day(moment: datetime, zone: str | None = None) -> str:
    """`Fri 4 December 2026` where the event is."""
    local = moment.astimezone(ZoneInfo(zone or HOME))
    return f"{local:%a} {local.day} {local:%B %Y}"


def format_time(moment: datetime, zone: str | None = None) -> str:
    """The same with the time and whose time it is."""
    zone = zone or HOME
    local = moment.astimezone(ZoneInfo(zone))
    return f"{format_day(moment, zone)}, {local:%H:%M} ({zone.rpartition('/')[2].replace('_', ' ')})"
