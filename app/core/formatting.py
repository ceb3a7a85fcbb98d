"""Formats amounts of money (whole cents of NAD) and times for people: `Fri 4 December 2026, 18:00 (Windhoek)`."""

from datetime import datetime
from zoneinfo import ZoneInfo

NARROW = "\u202f"


def format_money(amount_minor: int) -> str:
    """Return `N$ 1 234.50`, for pages, mails and documents; lines do not break at its spaces."""
    sign = "−" if amount_minor < 0 else ""
    whole, cents = divmod(abs(amount_minor), 100)
    return f"{sign}N$\u00a0{f'{whole:,}'.replace(',', NARROW)}.{cents:02d}"


HOME = "Africa/Windhoek"


def format_day(moment: datetime, zone: str | None = None) -> str:
    """Return `Fri 4 December 2026` in the time zone, by default that of Windhoek."""
    local = moment.astimezone(ZoneInfo(zone or HOME))
    return f"{local:%a} {local.day} {local:%B %Y}"


def format_time(moment: datetime, zone: str | None = None) -> str:
    """Return day, time and the place of the time zone."""
    zone = zone or HOME
    local = moment.astimezone(ZoneInfo(zone))
    return f"{format_day(moment, zone)}, {local:%H:%M} ({zone.rpartition('/')[2].replace('_', ' ')})"
