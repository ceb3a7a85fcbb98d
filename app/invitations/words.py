"""Times and amounts as people read them."""

from datetime import datetime
from zoneinfo import ZoneInfo

NARROW = "\u202f"


def day_and_time(moment: datetime, zone: str) -> str:
    """`Fri 4 December 2026, 18:00 (Windhoek)`: by the clock of that place."""
    local = moment.astimezone(ZoneInfo(zone))
    place = zone.rpartition("/")[2].replace("_", " ")
    return f"{local:%a} {local.day} {local:%B %Y, %H:%M} ({place})"


def money(minor: int) -> str:
    """`N$ 1 234.50`, with blanks at which no line breaks."""
    whole, cents = divmod(minor, 100)
    return f"N$\u00a0{whole:,}.{cents:02d}".replace(",", NARROW)
