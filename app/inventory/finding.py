"""What an item is found by: the beginnings of its words, and its values as they stand in a filter.

Both are entries of one index, each beginning with a mark of the event, so that the size of other events' stock costs
nothing. PostgreSQL makes the entries itself. Most texts are plain ASCII, and are folded without regular expressions:
that is two thirds of the price of an import.
"""

import re
from typing import Any

from sqlalchemy import ColumnElement, String, cast, func, literal
from sqlalchemy.dialects.postgresql import TSQUERY

from app.core.folding import unaccented_sql
from app.events.search import words_of

WORDS = ("name", "sku", "category", "brand", "supplier", "barcode", "storage_location", "batch_number")
FACETS = ("category", "brand", "supplier", "product_type", "storage_location", "batch_number", "barcode", "unit")
MARK = 8

_PUNCTUATION = "!\"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~\t\n"
_BLANKS = " " * (len(_PUNCTUATION) - 1)
_JOINED = " || ' ' || ".join(f"coalesce({each}, '')" for each in WORDS)
_PLAIN = (
    f"CASE WHEN octet_length({_JOINED}) = char_length({_JOINED}) THEN lower({_JOINED})"
    f" ELSE {unaccented_sql(_JOINED)} END"
)
_MARK = f"right(event_id, {MARK})"
_WORDS = f"translate({_PLAIN}, '{_PUNCTUATION}', '{_BLANKS}')"
_ENTRIES = f"string_to_array(replace(' ' || {_WORDS}, ' ', ' ' || {_MARK}), ' ')"
_VALUES = ", ".join(f"{_MARK} || '.{each}=' || lower({each})" for each in FACETS)
SEARCH = (
    f"array_to_tsvector(array_remove(array_remove(array_remove("
    f"{_ENTRIES} || ARRAY[{_VALUES}], {_MARK}::text), NULL), ''))"
)


def words_query(event_id: str, q: str) -> ColumnElement[Any] | None:
    """What finds items with words that begin like those of `q`; None when there is no word in it."""
    words = words_of(q)
    return _query(" & ".join(f"'{event_id[-MARK:]}{word}':*" for word in words)) if words else None


def facet_query(event_id: str, name: str, value: str) -> ColumnElement[Any]:
    """What finds items with that value, in any case: PostgreSQL lowers what is stored and what is asked for."""
    quoted = re.sub(r"(['\\])", r"\1\1", value)
    opening, closing = _literal(f"'{event_id[-MARK:]}.{name}="), _literal("'")
    return cast(opening.concat(func.lower(_literal(quoted))).concat(closing), TSQUERY)


def _query(said: str) -> ColumnElement[Any]:
    return cast(_literal(said), TSQUERY)


def _literal(said: str) -> ColumnElement[str]:
    """A value that stands in the statement itself: how common a word is decides how it is looked for."""
    return literal(said, String, literal_execute=True)
