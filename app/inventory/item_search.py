"""What an item is found by: the beginnings of its words.

PostgreSQL keeps them beside the item, folded and each behind a blank, so that a list in any order can be read for
them without touching the items. The same words are entries of one index, each behind a mark of its event, so that the
size of other events' stock costs nothing. Most texts are plain ASCII and are folded by one short expression, because
what this costs is a third of the price of an import.
"""

from collections.abc import Sequence

from app.core.db import fetch_rows
from app.core.text_folding import folded_sql
from app.events.search import words_of

SEARCHED_COLUMNS = ("name", "sku", "barcode", "batch_number", "category", "brand", "supplier", "storage_location")
MAX_LENGTH = 480
"""Characters that are kept, with the texts in that order; what must fit into an index with the longest name."""
EVENT_TAG_LENGTH = 8
INDEX_NAME = "ix_inventory_item_search"

_JOINED_TEXT_SQL = " || ' ' || ".join(f"coalesce({column}, '')" for column in SEARCHED_COLUMNS)
_FOLDED_TEXT_SQL = (
    f"CASE WHEN octet_length({_JOINED_TEXT_SQL}) = char_length({_JOINED_TEXT_SQL})"
    f" THEN regexp_replace(lower({_JOINED_TEXT_SQL}), '[^a-z0-9]+', ' ', 'g') ELSE {folded_sql(_JOINED_TEXT_SQL)} END"
)
WORDS_SQL = f"' ' || btrim(left({_FOLDED_TEXT_SQL}, {MAX_LENGTH}))"
_EVENT_TAG_SQL = f"right(event_id, {EVENT_TAG_LENGTH})"
WORD_ENTRIES_SQL = f"array_to_tsvector(string_to_array(ltrim(replace(words, ' ', ' ' || {_EVENT_TAG_SQL})), ' '))"
# What ANALYZE has seen: the entries that stand with the most items, and with how many of them.
_WORD_COUNTS_SQL = f"""
SELECT w.word, coalesce(sum(common.share), 0) * (SELECT reltuples FROM pg_class WHERE relname = '{INDEX_NAME}')
  FROM unnest(%(words)s::text[]) w (word)
  LEFT JOIN (SELECT u.entry, u.share FROM pg_stats,
                    unnest(most_common_elems::text::text[], most_common_elem_freqs) u (entry, share)
              WHERE schemaname = current_schema() AND tablename = '{INDEX_NAME}') common
    ON starts_with(common.entry, right(%(event)s, {EVENT_TAG_LENGTH}) || w.word)
 GROUP BY w.word
"""


def split_words(search_text: str) -> list[str]:
    """The words that somebody looks for."""
    return words_of(search_text)


def estimate_word_counts(event_id: str, words: Sequence[str]) -> dict[str, float]:
    """About how many items of an event have a word that begins so; words of few items count as none. It costs next to
    nothing, being read from PostgreSQL's own statistics."""
    return dict(fetch_rows(_WORD_COUNTS_SQL, {"event": event_id, "words": list(words)}))
