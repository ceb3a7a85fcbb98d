"""The filters of the item list and of the stream, as SQL conditions."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal

from sqlalchemy import BindParameter, Boolean, ColumnElement, Date, Integer, String, and_, false, func, literal_column
from sqlalchemy import cast as as_type
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from app.inventory import item_search
from app.inventory.item_fields import fold_sku
from app.inventory.models import FACET_COLUMNS, ITEM_TABLE, NO_EXPIRY_DATE, Columns

FilterValue = Decimal | date | str | bool
Filters = Mapping[str, FilterValue | None]
WORD_PREFIX = "word_"
_WORD_START_SQL: ColumnElement[str] = literal_column("'% '", String)
_ANY_SUFFIX_SQL: ColumnElement[str] = literal_column("'%'", String)
_EVENT_TAG_LENGTH_SQL: ColumnElement[int] = literal_column(str(item_search.EVENT_TAG_LENGTH), Integer)
_QUOTE_SQL: ColumnElement[str] = literal_column("''''", String)
_PREFIX_QUERY_SQL: ColumnElement[str] = literal_column("''':*'", String)
_LAST_DATE_SQL: ColumnElement[date] = literal_column(f"'{NO_EXPIRY_DATE}'::date", Date)
IN_USE = "in_use"
"""The filter of the items that are not archived: nearly all, so that no index helps, and it needs none."""
INDEXED_FILTERS = frozenset(
    (*FACET_COLUMNS, "sku", "name", "expiry_date", "expiring_before", "low_stock", "is_low", "archived")
)


def normalize_filters(filters: Filters) -> dict[str, FilterValue] | None:
    """Return the filters that are set, with one more filter for each word of `q`.

    None when nothing can match, because `q` has no word.
    """
    values = {name: value for name, value in filters.items() if value is not None}
    search_text = values.pop("q", None)
    words = [] if search_text is None else item_search.split_words(str(search_text))
    if search_text is not None and not words:
        return None
    if "sku" in values:
        values["sku"] = fold_sku(str(values["sku"]))
    if values.get("on_hand") == 0:
        # An item with nothing on hand is never above its reorder level, and low items have an index.
        values.setdefault("is_low", True)
    if values.get("archived") is False:
        values[IN_USE] = values.pop("archived")
    return values | {f"{WORD_PREFIX}{index}": word for index, word in enumerate(words)}


def build_conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """Return the conditions of these filters."""
    values = normalize_filters(filters)
    return [false()] if values is None else [build_condition(name, value) for name, value in values.items()]


def build_condition(
    name: str, value: FilterValue | BindParameter[FilterValue], columns: Columns = ITEM_TABLE.c
) -> ColumnElement[bool]:
    """Return the condition of one filter, for a value or a bind parameter."""
    if is_word_filter(name):
        return columns.words.like(_WORD_START_SQL.concat(value).concat(_ANY_SUFFIX_SQL))
    if name == "low_stock":
        return and_(columns.is_low == value, columns.archived_at.is_(None))
    if name in (IN_USE, "archived"):
        return columns.archived_at.is_(None) if name == IN_USE else columns.archived_at.is_not(None)
    if name == "expiring_before":
        return expiry_sql(columns) < value
    if name == "sku":
        return columns.sku_key == value
    if name == "name":
        return columns.name_key == func.lower(value)
    column = expiry_sql(columns) if name == "expiry_date" else columns[name]
    is_text = isinstance(column.type, String)
    return func.lower(column) == func.lower(value) if is_text else column == value


def list_filter_columns(names: Iterable[str]) -> set[str]:
    """Return the names of the columns that these filters read."""
    column_names = {
        "low_stock": ("is_low", "archived_at"),
        "archived": ("archived_at",),
        IN_USE: ("archived_at",),
        "expiring_before": ("expiry_date",),
        "name": ("name_key",),
        "sku": ("sku_key",),
    }
    return {
        column for name in names for column in (("words",) if is_word_filter(name) else column_names.get(name, (name,)))
    }


def build_word_entry_condition(word: BindParameter[FilterValue], event_id: BindParameter[str]) -> ColumnElement[bool]:
    """Return the condition of a word in the form that the index of words supports."""
    query = _QUOTE_SQL.concat(func.right(event_id, _EVENT_TAG_LENGTH_SQL)).concat(word).concat(_PREFIX_QUERY_SQL)
    entries: ColumnElement[str] = literal_column(item_search.WORD_ENTRIES_SQL, TSVECTOR)
    return entries.op("@@", return_type=Boolean())(as_type(query, TSQUERY))


def expiry_sql(columns: Columns = ITEM_TABLE.c) -> ColumnElement[date]:
    """Return the expiry date of an item, or a date after all others."""
    return func.coalesce(columns.expiry_date, _LAST_DATE_SQL)


def is_word_filter(name: str) -> bool:
    return name.startswith(WORD_PREFIX)


def is_indexed(name: str) -> bool:
    """Return whether an index finds all items that match this filter."""
    return name in INDEXED_FILTERS or is_word_filter(name)
