"""Times and amounts as people read them."""

from datetime import datetime
from zoneinfo import ZoneInfo

NARROW_SPACE = "\u202f"


def format_date_time(moment: datetime, timezone: str) -> str:
    """`Fri 4 December 2026, 18:00 (Windhoek)`: by the clock of that place."""
    local = moment.astimezone(ZoneInfo(timezone))
    place = timezone.rpartition("/")[2].replace("_", " ")
    return f"{local:%a} {local.day} {local:%B %Y, %H:%M} ({place})"


def format_money(amount_minor: int) -> str:
    """`N$ 1 234.50`, with blanks at which no line breaks."""
    whole, cents = divmod(amount_minor, 100)
    return f"N$\u00a0{whole:,}.{cents:02d}".replace(",", NARROW_SPACE)
