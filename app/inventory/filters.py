"""The filters of lists of items, as conditions. The stream asks the same."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, cast

from sqlalchemy import Boolean, ColumnElement, Date, Integer, String, Table, false, func, literal_column
from sqlalchemy import cast as as_type
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from app.inventory import finding
from app.inventory.columns import sku_key
from app.inventory.models import FACETS, NEVER, StockItem

ITEM = cast(Table, StockItem.__table__).c
WORD = "word_"
_BLANK: ColumnElement[str] = literal_column("'% '", String)
_ANY: ColumnElement[str] = literal_column("'%'", String)
_MARK: ColumnElement[int] = literal_column(str(finding.MARK), Integer)
_QUOTE: ColumnElement[str] = literal_column("''''", String)
_BEGINS: ColumnElement[str] = literal_column("''':*'", String)
_LAST: ColumnElement[date] = literal_column(f"'{NEVER}'::date", Date)
INDEXED = frozenset((*FACETS, "sku", "name", "expiry_date", "expiring_before", "low_stock"))


def given(asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """The filters that were given, each by the name of its condition, with the value that is compared; every word of
    `q` is one. None when nothing can match, because there is no word in `q`."""
    found = {name: value for name, value in asked.items() if value is not None}
    q = found.pop("q", None)
    words = [] if q is None else finding.words(q)
    if q is not None and not words:
        return None
    if "sku" in found:
        found["sku"] = sku_key(found["sku"])
    if found.get("on_hand") == 0:
        # Nothing on hand is never above a reorder level, and what is low has an index.
        found.setdefault("low_stock", True)
    return found | {f"{WORD}{at}": word for at, word in enumerate(words)}


def conditions(asked: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    """What must hold of an item when these filters are given."""
    found = given(asked)
    return [false()] if found is None else [condition(name, value) for name, value in found.items()]


def condition(name: str, value: Any, of: Any = ITEM) -> ColumnElement[bool]:
    """One of them, for a value or a parameter that stands for it; `of` are the columns of the rows to look at."""
    if is_word(name):
        return cast("ColumnElement[bool]", of.words.like(_BLANK.concat(value).concat(_ANY)))
    if name == "low_stock":
        return cast("ColumnElement[bool]", of.is_low == value)
    if name == "expiring_before":
        return cast("ColumnElement[bool]", expiry(of) < value)
    if name == "sku":
        return cast("ColumnElement[bool]", of.sku_key == value)
    if name == "name":
        return cast("ColumnElement[bool]", of.name_key == func.lower(value))
    column = expiry(of) if name == "expiry_date" else of[name]
    same: Any = func.lower(column) == func.lower(value) if isinstance(column.type, String) else column == value
    return cast("ColumnElement[bool]", same)


def looked_at(names: Iterable[str]) -> set[str]:
    """The columns that these conditions look at."""
    other = {"low_stock": "is_low", "expiring_before": "expiry_date", "name": "name_key", "sku": "sku_key"}
    return {"words" if is_word(name) else other.get(name, name) for name in names}


def entry(value: Any, event_id: Any) -> ColumnElement[bool]:
    """The condition of a word as the index of words answers it, for the whole table."""
    query = _QUOTE.concat(func.right(event_id, _MARK)).concat(value).concat(_BEGINS)
    entries: ColumnElement[Any] = literal_column(finding.ENTRIES, TSVECTOR)
    return entries.op("@@", return_type=Boolean())(as_type(query, TSQUERY))


def expiry(of: Any = ITEM) -> ColumnElement[date]:
    """When an item expires; what has no date stands last."""
    return func.coalesce(of.expiry_date, _LAST)


def is_word(name: str) -> bool:
    return name.startswith(WORD)


def indexed(name: str) -> bool:
    """Whether an index finds the items that match, wherever they stand."""
    return name in INDEXED or is_word(name)
