"""The filters of lists of items, as conditions. The stream asks the same."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, cast

from sqlalchemy import Boolean, ColumnElement, Date, Integer, String, Table, false, func, literal_column
from sqlalchemy import cast as as_type
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from app.inventory import item_search
from app.inventory.item_fields import fold_sku
from app.inventory.models import FACET_COLUMNS, NO_EXPIRY_DATE, StockItem

ITEM_COLUMNS = cast(Table, StockItem.__table__).c
WORD_PREFIX = "word_"
_WORD_START_SQL: ColumnElement[str] = literal_column("'% '", String)
_ANY_SUFFIX_SQL: ColumnElement[str] = literal_column("'%'", String)
_EVENT_TAG_LENGTH_SQL: ColumnElement[int] = literal_column(str(item_search.EVENT_TAG_LENGTH), Integer)
_QUOTE_SQL: ColumnElement[str] = literal_column("''''", String)
_PREFIX_QUERY_SQL: ColumnElement[str] = literal_column("''':*'", String)
_LAST_DATE_SQL: ColumnElement[date] = literal_column(f"'{NO_EXPIRY_DATE}'::date", Date)
INDEXED_FILTERS = frozenset((*FACET_COLUMNS, "sku", "name", "expiry_date", "expiring_before", "low_stock"))


def normalize_filters(filters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The filters that were given, each by the name of its condition, with the value that is compared; every word of
    `q` is one. None when nothing can match, because there is no word in `q`."""
    values = {name: value for name, value in filters.items() if value is not None}
    search_text = values.pop("q", None)
    words = [] if search_text is None else item_search.split_words(search_text)
    if search_text is not None and not words:
        return None
    if "sku" in values:
        values["sku"] = fold_sku(values["sku"])
    if values.get("on_hand") == 0:
        # Nothing on hand is never above a reorder level, and what is low has an index.
        values.setdefault("low_stock", True)
    return values | {f"{WORD_PREFIX}{index}": word for index, word in enumerate(words)}


def build_conditions(filters: Mapping[str, object]) -> list[ColumnElement[bool]]:
    """What must hold of an item when these filters are given."""
    values = normalize_filters(filters)
    return [false()] if values is None else [build_condition(name, value) for name, value in values.items()]


def build_condition(name: str, value: Any, columns: Any = ITEM_COLUMNS) -> ColumnElement[bool]:
    """One of them, for a value or a parameter that stands for it; `of` are the columns of the rows to look at."""
    if is_word_filter(name):
        return cast("ColumnElement[bool]", columns.words.like(_WORD_START_SQL.concat(value).concat(_ANY_SUFFIX_SQL)))
    if name == "low_stock":
        return cast("ColumnElement[bool]", columns.is_low == value)
    if name == "expiring_before":
        return cast("ColumnElement[bool]", expiry_sql(columns) < value)
    if name == "sku":
        return cast("ColumnElement[bool]", columns.sku_key == value)
    if name == "name":
        return cast("ColumnElement[bool]", columns.name_key == func.lower(value))
    column = expiry_sql(columns) if name == "expiry_date" else columns[name]
    matches: Any = func.lower(column) == func.lower(value) if isinstance(column.type, String) else column == value
    return cast("ColumnElement[bool]", matches)


def list_filter_columns(names: Iterable[str]) -> set[str]:
    """The columns that these conditions look at."""
    column_names = {"low_stock": "is_low", "expiring_before": "expiry_date", "name": "name_key", "sku": "sku_key"}
    return {"words" if is_word_filter(name) else column_names.get(name, name) for name in names}


def build_word_entry_condition(word: object, event_id: object) -> ColumnElement[bool]:
    """The condition of a word as the index of words answers it, for the whole table."""
    query = _QUOTE_SQL.concat(func.right(event_id, _EVENT_TAG_LENGTH_SQL)).concat(word).concat(_PREFIX_QUERY_SQL)
    entries: ColumnElement[Any] = literal_column(item_search.WORD_ENTRIES_SQL, TSVECTOR)
    return entries.op("@@", return_type=Boolean())(as_type(query, TSQUERY))


def expiry_sql(columns: Any = ITEM_COLUMNS) -> ColumnElement[date]:
    """When an item expires; what has no date stands last."""
    return func.coalesce(columns.expiry_date, _LAST_DATE_SQL)


def is_word_filter(name: str) -> bool:
    return name.startswith(WORD_PREFIX)


def is_indexed(name: str) -> bool:
    """Whether an index finds the items that match, wherever they stand."""
    return name in INDEXED_FILTERS or is_word_filter(name)
