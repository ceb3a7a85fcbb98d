"""Parses cells of tables, and escapes text for CSV files so that no spreadsheet runs it as a formula.

A spreadsheet splits a file by the separator of the user's locale: a cell with `x;=2+5` becomes two cells where that is
a semicolon. Quotes do not help, because they are no longer at the beginning of a field. So the part after each
separator is treated like the beginning of a cell: if it looks like a formula, a quote goes before it. A part that has
such a quote already gets another one, so that `unescape` returns every text unchanged.
"""

import re
from datetime import datetime

from app.core.languages import mark_for_translation

SEPARATORS = r";|\t\n\r"
FORMULA = "=+@＝＋－＠-"
_BEGINS = rf"""["' ]*[{FORMULA}]"""
_BLANK = r"""["' ]*[\t\r]"""
_ESCAPE = re.compile(rf"(^|[{SEPARATORS}])(?={_BEGINS})|^(?={_BLANK})")
_UNESCAPE = re.compile(rf"(^|[{SEPARATORS}])'(?={_BEGINS})|^'(?={_BLANK})")
_FIRST = ", ".join(str(ord(character)) for character in f"{FORMULA}\t\r\"' ")


def escape(text: str) -> str:
    """Return the text for a cell of a CSV file."""
    return _ESCAPE.sub(r"\1'", text)


def unescape(text: str) -> str:
    """Return the original text of a cell from `escape` or `escape_sql`."""
    return _UNESCAPE.sub(r"\1", text) if "'" in text else text


def escape_sql(column: str) -> str:
    """Return `escape` as an SQL expression. Nearly all texts skip the regular expression by their first character."""
    pattern, replacement = _ESCAPE.pattern.replace("'", "''"), r"\1''"
    has_separator = " OR ".join(f"strpos({column}, chr({ord(character)})) > 0" for character in ";|\t\n\r")
    return (
        f"CASE WHEN ascii({column}) IN ({_FIRST}) OR {has_separator} "
        f"THEN regexp_replace({column}, '{pattern}', '{replacement}', 'g') ELSE {column} END"
    )


SPACES = re.compile(r"[\s\u00a0\u202f']")
MAX_AMOUNT_LENGTH = 30
CURRENCY = re.compile(r"^(N\$|NAD|\$)|(N\$|NAD)$", re.I)
POINT = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d+(?:\.\d{1,2})?")
COMMA = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?|\d+(?:,\d{1,2})?")
CERTAIN_COMMA = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d{1,12}),\d{1,2}")
"""One or two digits after a comma are decimals in every file; three may be thousands."""
EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>.]{2,}")
DAY_FIRST = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})(?:[ T](.+))?")
MAX_CENTS = 100_000_000_000
FORMULA_TEXT = re.compile(r'="([^"]*)"')
ROUNDED_NUMBER = re.compile(r"\d([.,]\d+)?E\+\d+|\d{15}0{5,}", re.I)


class BadCell(ValueError):
    """A cell that cannot be parsed, with an error code and a message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def strip_amount(cell: str) -> str:
    """Return an amount without its currency and its spaces: `1265,50` for `N$ 1 265,50`."""
    return CURRENCY.sub("", SPACES.sub("", cell))


def parse_cents(cell: str, *, decimal_comma: bool) -> int:
    """Return the cents of `450`, `450.00`, `N$ 1,234.50` and, with a decimal comma, `1.234,50`. Raises BadCell."""
    number = strip_amount(cell)
    if len(number) > MAX_AMOUNT_LENGTH:
        raise BadCell("too_large", mark_for_translation("This amount is too large."))
    if POINT.fullmatch(number):
        plain = number.replace(",", "")
    elif CERTAIN_COMMA.fullmatch(number) or (decimal_comma and COMMA.fullmatch(number)):
        plain = number.replace(".", "").replace(",", ".")
    else:
        raise BadCell("invalid_price", mark_for_translation("Must be an amount like 450.00, of whole cents."))
    whole, _, cents = plain.partition(".")
    return _check_amount(int(whole) * 100 + int(cents.ljust(2, "0") if cents else 0))


def parse_whole_cents(cell: str) -> int:
    """Return a whole number of cents. Raises BadCell."""
    if not re.fullmatch(r"\d{1,15}", cell):
        raise BadCell("invalid_price", mark_for_translation("Must be a whole number of cents."))
    return _check_amount(int(cell))


def parse_time(cell: str) -> datetime:
    """Return the time of RFC 3339, `2026-09-22 01:02:11`, `22.09.2026 01:02` or `22/09/2026` (day first).

    A time without an offset stays naive. Raises BadCell.
    """
    text = cell.replace("/", "-") if re.match(r"\d{4}/", cell) else cell
    match = DAY_FIRST.fullmatch(text)
    if match:
        text = f"{match[4]}-{match[3]:0>2}-{match[1]:0>2}" + (f" {match[5]}" if match[5] else "")
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadCell(
            "invalid_time", mark_for_translation("Must be a time like 2026-09-22 18:00 or 22.09.2026 18:00.")
        ) from error
    if not 1990 <= time.year <= 2200:
        raise BadCell("invalid_time", mark_for_translation("Must be a time between 1990 and 2200."))
    return time


def parse_email(cell: str) -> str:
    """Return an email address in lower case. Raises BadCell."""
    if len(cell) > 254 or not EMAIL.fullmatch(cell):
        raise BadCell("invalid_email", mark_for_translation("Must be an e-mail address."))
    return cell.lower()


def parse_text(cell: str, *, longest: int) -> str:
    """Return the text, which may have no control characters. Raises BadCell."""
    if len(cell) > longest:
        raise BadCell("too_long", f"Must have at most {longest} characters.")
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in cell):
        raise BadCell("invalid_characters", mark_for_translation("Control characters are not allowed."))
    return cell


def parse_secret(cell: str) -> str:
    """Return the text of a barcode of up to 200 characters, with its zeros; `="0012"` is 0012. Raises BadCell.

    A spreadsheet keeps 15 digits of a number: `7E+22` and `700000000090000000000` have lost the others.
    """
    match = FORMULA_TEXT.fullmatch(cell)
    text = match[1].strip() if match else cell
    if ROUNDED_NUMBER.fullmatch(text):
        raise BadCell(
            "rounded_number",
            mark_for_translation(
                "A spreadsheet has rounded this number, and its last digits are lost. Export the file again and do not "
                "save it with a spreadsheet, or format the column as text first."
            ),
        )
    if not text.isprintable():
        raise BadCell("invalid_characters", mark_for_translation("Invisible characters are not allowed."))
    return parse_text(text, longest=200)


def _check_amount(amount: int) -> int:
    if amount > MAX_CENTS:
        raise BadCell("too_large", mark_for_translation("Must be a smaller amount."))
    return amount
