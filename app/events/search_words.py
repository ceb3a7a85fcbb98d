"""Words of names and searches without accents and case, and names that are similar to a search."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression, Text, func

WORDS = 8
KEY_LENGTH = 240
WORD_LENGTH = 40
MAX_LENGTH_DIFFERENCE = 3
TYPOGRAPHIC_APOSTROPHES = "\u2019\u2018\u02bc"
_WORD = re.compile(r"[^\W_]+")
OTHER_APOSTROPHES = f"`\u00b4{TYPOGRAPHIC_APOSTROPHES}"
_APOSTROPHE = re.compile(f"['{OTHER_APOSTROPHES}]")

# Letters that Unicode does not split into a base and an accent.
_WITHOUT_ACCENT = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)


def folded(text: str) -> str:
    """The words of a text in lower case without accents, separated by one blank."""
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_WITHOUT_ACCENT))
    return " ".join(_WORD.findall("".join(char for char in decomposed if not unicodedata.combining(char))))


def key_of(name: str) -> str:
    """The same key for all spellings of a name: its words without case, accents and punctuation."""
    return (folded(name) or name.casefold())[:KEY_LENGTH]


def search_text(*, name: str, others: Iterable[str | None]) -> str:
    """The text by which an event is found."""
    return folded(name) + "\n" + folded(" ".join(other for other in others if other))


def words_of(q: str) -> list[str]:
    """The first eight words of a search, each cut to 40 characters."""
    return [word[:WORD_LENGTH] for word in folded(q).split()][:WORDS]


def straighten_apostrophes(text: str) -> str:
    """The text with the apostrophe of typewriters in place of every other one."""
    return _APOSTROPHE.sub("'", text)


def spell_apostrophes(word: str) -> list[str]:
    """The folded spellings of a word with each typographic apostrophe; none for a word without an apostrophe.

    The indexes of guests and items keep these in a word, and take the one of typewriters for the end of a word.
    """
    parts = [folded(part) for part in _APOSTROPHE.split(word)]
    return [mark.join(parts) for mark in TYPOGRAPHIC_APOSTROPHES] if len(parts) > 1 and any(parts) else []


def contains_sql(column: SQLColumnExpression[Any], text: str) -> ColumnElement[bool]:
    """The condition that a column has this text somewhere, in any case and with any apostrophe for another."""
    if not _APOSTROPHE.search(text):
        return column.icontains(text, autoescape=True)
    straightened = func.translate(column, OTHER_APOSTROPHES, "'" * len(OTHER_APOSTROPHES), type_=Text)
    return straightened.icontains(straighten_apostrophes(text), autoescape=True)


def prefix_query(words: Sequence[str]) -> str:
    """The argument of `to_tsquery('simple', …)` that requires every word as a prefix."""
    return " & ".join(f"'{word}':*" for word in words)


def similar_names(
    words: Sequence[str], rows: Iterable[tuple[Any, ...]], *, count: int = 5, cutoff: float = 0.6
) -> list[str]:
    """Names among `rows` (name, search text) whose words are similar to `words`, the most similar first."""
    scores = {name: _similarity(words, text.split()) for name, text in rows}
    names = [name for name, score in scores.items() if score >= cutoff]
    return sorted(names, key=lambda name: (-scores[name], name))[:count]


def _similarity(words: Sequence[str], others: Sequence[str]) -> float:
    if not others or not words:
        return 0.0
    return sum(max(_word_similarity(word, other) for other in others) for word in words) / len(words)


def _word_similarity(word: str, other: str) -> float:
    if abs(len(word) - len(other)) > MAX_LENGTH_DIFFERENCE:
        return 0.0
    return SequenceMatcher(None, word, other, autojunk=False).ratio()
