"""Formats amounts of money (whole cents of NAD) and times for people, in the language in use.

`N$ 1 234.50` and `Fri 4 December 2026, 18:00 (Windhoek)` in English; `N$ 1 234,50` and
`Fr 4. Dezember 2026, 18:00 (Windhoek)` in German.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_date
from babel.numbers import get_decimal_symbol

from app.core.languages import get_language, gettext

NARROW = "\u202f"
HOME = "Africa/Windhoek"
HALF_A_DAY = timedelta(hours=12)
MEGABYTE = 1024 * 1024
DAY_PATTERNS = {"de": "ccc d. MMMM y"}
DAY_PATTERN = "ccc d MMMM y"
"""The standalone name of the weekday, `ccc`, has no full stop in German; in Afrikaans it has one."""


def format_number(number: float | Decimal) -> str:
    """Return `12 345` or `−12 345.5`, without zeros at the end of its decimals."""
    whole, _, decimals = f"{abs(number):,f}".replace(",", NARROW).partition(".")
    decimals = decimals.rstrip("0")
    sign = "−" if number < 0 else ""
    return f"{sign}{whole}{get_decimal_symbol(get_language())}{decimals}" if decimals else f"{sign}{whole}"


def format_money(amount_minor: int) -> str:
    """Return `N$ 1 234.50`, for pages, mails and documents; lines do not break at its spaces."""
    sign = "−" if amount_minor < 0 else ""
    whole, cents = divmod(abs(amount_minor), 100)
    decimal_sign = get_decimal_symbol(get_language())
    return f"{sign}N$\u00a0{format_number(whole)}{decimal_sign}{cents:02d}"


def format_megabytes(size: int) -> str:
    """Return a number of bytes as `14.3 MB`, rounded up."""
    tenths = -(-size * 10 // MEGABYTE)
    return f"{tenths / 10:.1f} MB".replace(".", get_decimal_symbol(get_language()))


def format_count(count: int, noun: str) -> str:
    """Return `1 error`, `2 errors`: an English count of things."""
    return f"{count} {noun if count == 1 else pluralize(noun)}"


def pluralize(noun: str) -> str:
    """Return the plural of an English noun that has a regular one."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"


def format_day(moment: datetime, zone: str | None = None) -> str:
    """Return `Fri 4 December 2026` in the time zone, by default that of Windhoek."""
    return format_calendar_day(moment.astimezone(ZoneInfo(zone or HOME)).date())


def format_calendar_day(day: date) -> str:
    """Return `Fri 4 December 2026` for a day without a time."""
    language = get_language()
    text = format_date(day, DAY_PATTERNS.get(language, DAY_PATTERN), locale=language)
    return text.replace(".", "", 1) if language == "af" else text


def format_short_day(day: date) -> str:
    """Return `4 Dec`, for a chart."""
    return _format_short_day(day, get_language())


@lru_cache(maxsize=4096)
def _format_short_day(day: date, language: str) -> str:
    return str(format_date(day, "d. MMM" if language == "de" else "d MMM", locale=language))


def format_month(day: date) -> str:
    """Return `December 2026` for the month of a day."""
    return str(format_date(day, "LLLL y", locale=get_language()))


def format_full_date(day: date) -> str:
    """Return `4 December 2026`, without the day of the week."""
    language = get_language()
    return str(format_date(day, DAY_PATTERNS.get(language, DAY_PATTERN).removeprefix("ccc "), locale=language))


def format_time(moment: datetime, zone: str | None = None) -> str:
    """Return day, time and the place of the time zone."""
    zone = zone or HOME
    return f"{format_day(moment, zone)}, {format_clock(moment, zone)} ({_format_zone(zone)})"


def format_table_day(day: date) -> str:
    """Return `4 Dec 2026`, for a table."""
    language = get_language()
    return str(format_date(day, "d. MMM y" if language == "de" else "d MMM y", locale=language))


def format_short_time(moment: datetime, zone: str | None = None) -> str:
    """Return `4 Dec 2026, 18:00`, for a table; with the place of the time zone if it is not that of Windhoek."""
    zone = zone or HOME
    day = format_table_day(moment.astimezone(ZoneInfo(zone)).date())
    place = "" if zone == HOME else f" ({_format_zone(zone)})"
    return f"{day}, {format_clock(moment, zone)}{place}"


def format_period(starts_at: datetime, ends_at: datetime, zone: str) -> str:
    """Return `Fri 4 December 2026, 18:00 to 23:00 (Windhoek)`; with the day of the end if that is another day."""
    first_day, last_day = format_day(starts_at, zone), format_day(ends_at, zone)
    end = format_clock(ends_at, zone) if last_day == first_day else f"{last_day}, {format_clock(ends_at, zone)}"
    period = gettext("%(start)s to %(end)s", start=f"{first_day}, {format_clock(starts_at, zone)}", end=end)
    return f"{period} ({_format_zone(zone)})"


def format_days(first: datetime, last: datetime, zone: str) -> str:
    """Return `Fri 4 – Sun 6 December 2026`; one day if both are on it."""
    first_words, last_words = format_day(first, zone).split(), format_day(last, zone).split()
    if first_words == last_words:
        return " ".join(last_words)
    while first_words[-1] == last_words[len(first_words) - 1]:
        first_words.pop()
    return f"{' '.join(first_words)} – {' '.join(last_words)}"


def format_when(starts_at: datetime, ends_at: datetime, zone: str) -> str:
    """Return when an event begins, and when it ends if it lasts longer than half a day."""
    return format_period(starts_at, ends_at, zone) if ends_at - starts_at > HALF_A_DAY else format_time(starts_at, zone)


def _format_zone(zone: str) -> str:
    return zone.rpartition("/")[2].replace("_", " ")


def format_country(code: str) -> str:
    """Return the name of a country by its two letters: `Namibia`."""
    return str(Locale(get_language()).territories.get(code, code))


def format_clock(moment: datetime, zone: str) -> str:
    """Return the time of the day in the time zone: `18:00`."""
    return f"{moment.astimezone(ZoneInfo(zone)):%H:%M}"
