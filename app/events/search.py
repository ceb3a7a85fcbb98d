"""Searching events by the beginnings of words, with accents and case folded.

What is searched stands in one column: the name's words on the first line, everything else on the second.
PostgreSQL makes the index from it; words are compared as they are (`simple`), because names follow no grammar.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

WORDS = 8
KEY_LENGTH = 240
WORD_LENGTH = 40
_WORD = re.compile(r"[^\W_]+")
# Letters that Unicode does not take apart into a base and an accent.
_PLAIN = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})


def folded(text: str) -> str:
    """The words of a text in lower case without accents, one blank between them."""
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_PLAIN))
    return " ".join(_WORD.findall("".join(item for item in apart if not unicodedata.combining(item))))


def key_of(name: str) -> str:
    """What two spellings of one name have in common: its words without case, accents and punctuation."""
    return (folded(name) or name.casefold())[:KEY_LENGTH]


def search_text(*, name: str, others: Iterable[str | None]) -> str:
    """What an event is found by."""
    return folded(name) + "\n" + folded(" ".join(other for other in others if other))


def words_of(q: str) -> list[str]:
    """The words somebody looks for: the first few, none of them endless."""
    return [word[:WORD_LENGTH] for word in folded(q).split()][:WORDS]


def prefix_query(words: Sequence[str]) -> str:
    """What `to_tsquery('simple', …)` takes: every word, each as a beginning."""
    return " & ".join(f"'{word}':*" for word in words)


def near(words: Sequence[str], rows: Iterable[tuple[str, str]], *, count: int = 5, cutoff: float = 0.6) -> list[str]:
    """Names among `rows` (name, search text) that hold words like those, the likeliest first."""
    scored = {name: _likeness(words, text.split()) for name, text in rows}
    best = sorted((item for item in scored.items() if item[1] >= cutoff), key=lambda item: (-item[1], item[0]))
    return [name for name, _ in best[:count]]


def _likeness(words: Sequence[str], others: Sequence[str]) -> float:
    if not others or not words:
        return 0.0
    return sum(max(_ratio(word, other) for other in others) for word in words) / len(words)


def _ratio(word: str, other: str) -> float:
    if abs(len(word) - len(other)) > 3:
        return 0.0
    return SequenceMatcher(None, word, other, autojunk=False).ratio()
