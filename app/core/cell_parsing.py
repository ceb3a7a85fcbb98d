"""Cells as values: money, times and texts the way spreadsheets and ticket shops write them."""

import re
from datetime import datetime

SPACES = re.compile(r"[\s\u00a0\u202f']")
CURRENCY = re.compile(r"^(N\$|NAD|\$)|(N\$|NAD)$", re.I)
POINT = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d+(?:\.\d{1,2})?")
COMMA = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?|\d+(?:,\d{1,2})?")
EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>.]{2,}")
DAY_FIRST = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})(?:[ T](.+))?")
MOST_MONEY = 100_000_000_000


class BadCell(ValueError):
    """A cell that cannot be read; `code` and the sentence say why."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def parse_cents(cell: str, *, decimal_comma: bool) -> int:
    """`450`, `450.00`, `N$ 1,234.50` and, where the decimal sign is a comma, `1.234,50`: in cents."""
    number = CURRENCY.sub("", SPACES.sub("", cell))
    if POINT.fullmatch(number):
        plain = number.replace(",", "")
    elif decimal_comma and COMMA.fullmatch(number):
        plain = number.replace(".", "").replace(",", ".")
    else:
        raise BadCell("invalid_price", "Must be an amount like 450.00, of whole cents.")
    whole, _, part = plain.partition(".")
    return _bounded(int(whole) * 100 + int(part.ljust(2, "0") if part else 0))


def parse_whole_cents(cell: str) -> int:
    """A whole number of cents."""
    if not re.fullmatch(r"\d{1,15}", cell):
        raise BadCell("invalid_price", "Must be a whole number of cents.")
    return _bounded(int(cell))


def parse_time(cell: str) -> datetime:
    """RFC 3339, `2026-09-22 01:02:11`, `22.09.2026 01:02` or `22/09/2026` (the day first); naive ones stay naive."""
    text = cell.replace("/", "-") if re.match(r"\d{4}/", cell) else cell
    match = DAY_FIRST.fullmatch(text)
    if match:
        text = f"{match[4]}-{match[3]:0>2}-{match[1]:0>2}" + (f" {match[5]}" if match[5] else "")
    try:
        result = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadCell("invalid_time", "Must be a time like 2026-09-22 18:00 or 22.09.2026 18:00.") from error
    if not 1990 <= result.year <= 2200:
        raise BadCell("invalid_time", "Must be a time of our days.")
    return result


def parse_email(cell: str) -> str:
    """An address, lower-case."""
    if len(cell) > 254 or not EMAIL.fullmatch(cell):
        raise BadCell("invalid_email", "Must be an e-mail address.")
    return cell.lower()


def parse_text(cell: str, *, longest: int) -> str:
    """A text without control characters."""
    if len(cell) > longest:
        raise BadCell("too_long", f"Must have at most {longest} characters.")
    if any(ord(item) < 32 or 127 <= ord(item) < 160 for item in cell):
        raise BadCell("invalid_characters", "Control characters are not allowed.")
    return cell


def _bounded(amount: int) -> int:
    if amount > MOST_MONEY:
        raise BadCell("too_large", "Must be a smaller amount.")
    return amount
