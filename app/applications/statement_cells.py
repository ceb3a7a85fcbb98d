"""The cells of bank statements: amounts, days, texts, and words that say whether money came in or went out.

Forms of amounts and days are those of Namibian banks, in English, Afrikaans and German.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime

from app.core.spreadsheet_cells import BadCell, parse_cents, parse_time
from app.core.text_normalization import CONTROL, clean_name

OUTGOING = re.compile(
    r"\b(D|DR|DT|DEBITS?|DEBIET|OUT|OUTGOING|OUTWARD|SENT|WITHDRAWALS?|PURCHASES?|FEES?|CHARGES?|REVERSALS?|REVERSED"
    r"|RETURNED|UNPAID|REFUNDS?|ONTTREKKINGS?|AANKOOP|FOOI|KOSTE|UIT|UITGAANDE?|UITBETALINGS?|DEBIETORDER|TERUGBETALING"
    r"|SOLL|LASTSCHRIFT\w*|\w*BELASTUNG|\w*AUSGANG|\w*ABGANG|ABBUCHUNG|AUSZAHLUNG|ENTGELT|GEBÜHR(EN)?)\b|^(S|AF|-)$"
)
PAYMENT, INCOMING = (
    re.compile(r"\b(PAYMENTS?|BETALINGS?)\b"),
    re.compile(
        r"\b(C|CR|CT|CREDITS?|KREDIET|KREDIT|IN|INCOMING|INWARD|RECEIVED|RECEIPTS?|DEPOSITS?|ONTVANG|ONTVANGSTE?|INKOMENDE?"
        r"|INBETALINGS?|DEPOSITO'?S?|HABEN|\w*GUTSCHRIFT|\w*EINGANG|\w*ZUGANG|EINZAHLUNG)\b|^(H|BY|\+)$"
    ),
)
"""Words of the columns for the direction. A payment went out, but a `payment received` or `inward payment` came in."""
DAY_FORMATS = ("%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%d %b %y", "%d-%b-%y")
DELIMITER = re.compile(r"[,;\t]")
MAX_DAY_CELLS, MAX_DAY_PARTS, MAX_DAY_LENGTH = 30, 5, 40


def read_direction(cell: str) -> bool | None:
    """Whether the word of a cell says that money went out; None if it is not known or empty."""
    word = cell.strip().upper()
    if OUTGOING.search(word):
        return True
    if INCOMING.search(word):
        return False
    return True if PAYMENT.search(word) else None


def has_digit(cell: str) -> bool:
    """Whether a cell has an amount other than zero."""
    return any(character.isdecimal() and int(character) for character in cell)


def clean_text(text: str) -> str:
    """The text without control characters, invisible ones and double blanks."""
    return " ".join(clean_name(CONTROL.sub(" ", text)).split())


def parse_amount(cell: str, *, decimal_comma: bool) -> int | None:
    """The cents, below 0 for money that went out; None for an empty cell. Raises BadCell."""
    text = cell.strip().upper().removesuffix("CR").strip()
    if not text.strip("-"):
        return None
    is_outgoing = text.startswith(("-", "\u2212", "(")) or text.endswith(("-", "DR"))
    if is_outgoing:
        text = text.removesuffix("DR").strip(" -\u2212()")
    cents = parse_cents(text.removeprefix("+").strip(), decimal_comma=decimal_comma)
    return -cents if is_outgoing else cents


def parse_day(cell: str) -> date:
    """The day, also as `20 Nov 2026`. Raises BadCell."""
    for day_format in DAY_FORMATS:
        try:
            return datetime.strptime(cell, day_format).date()
        except ValueError:
            continue
    return parse_time(cell).date()


def has_day(cells: Sequence[str]) -> bool:
    """Whether one of the first cells is a day, or has one between the delimiters of CSV."""
    return any(is_day(part) for cell in cells[:MAX_DAY_CELLS] for part in DELIMITER.split(cell, MAX_DAY_PARTS))


def is_day(text: str) -> bool:
    """Whether a cell is a day that `parse_day` reads."""
    text = text.strip()
    if len(text) > MAX_DAY_LENGTH or not any(map(str.isdigit, text)):
        return False
    try:
        parse_day(text)
    except BadCell:
        return False
    return True
