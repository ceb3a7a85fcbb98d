"""Normalises text that people send, in Python and as SQL expressions for generated columns and indexes."""

import re
import unicodedata

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters other than newline, carriage return and tab, and halves of characters."""


def normalize_text(text: str) -> str:
    """Return the text in NFC, with newlines as line ends and without surrounding blanks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).strip()


_ACCENTS = r"[\u0300-\u036f]"
_PUNCTUATION = r"[!-/:-@\[-`{-~\s]+"
# Letters that Unicode does not decompose into a base letter and an accent.
_UNDECOMPOSED, _BASE_LETTERS = "ŁØĐłøđħı", "lodlodhi"


def folded_sql(expression: str) -> str:
    """Return an immutable expression: the words of the text in lower case without accents, one blank between them."""
    return f"btrim(regexp_replace({unaccented_sql(expression)}, '{_PUNCTUATION}', ' ', 'g'))"


def unaccented_sql(expression: str) -> str:
    """Return an immutable expression: the text in lower case without accents; blanks and punctuation do not change."""
    decomposed = f"regexp_replace(lower(normalize({expression}, NFKD)), '{_ACCENTS}', '', 'g')"
    return f"replace(translate({decomposed}, '{_UNDECOMPOSED}', '{_BASE_LETTERS}'), 'ß', 'ss')"
