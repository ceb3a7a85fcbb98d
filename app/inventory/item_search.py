"""The search words of items.

PostgreSQL keeps the folded words of an item in one column, each word after a space, which the indexes of the list
orders include. The same words are entries of one GIN index, each prefixed with a tag of its event, so that other events'
stock costs nothing. Most texts are plain ASCII and are folded by one short expression, because folding is a third of
the cost of an import.
"""

from app.core.text_normalization import folded_sql
from app.events.search_words import words_of

SEARCHED_COLUMNS = ("name", "sku", "barcode", "batch_number", "category", "brand", "supplier", "storage_location")
MAX_LENGTH = 480
"""Characters kept of the joined texts; together with the longest name they must fit into an index entry."""
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


def split_words(search_text: str) -> list[str]:
    """Return the folded words of a search text."""
    return words_of(search_text)
