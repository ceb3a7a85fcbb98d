"""Keyset pagination: a page starts after the last row of the previous one, so inserts neither skip nor repeat rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, func, literal, select, tuple_

from app.core.db import db

PageRow = Mapping[Any, Any]
SortKey = tuple[Any, str]
"""The sort column and the id of a row."""


@dataclass(frozen=True)
class Order:
    """A sort order: a column that is never null, and the direction."""

    column: ColumnElement[Any]
    descending: bool


@dataclass(frozen=True)
class Page:
    """The rows of a page, and the sort key and id of its last row (None on the last page)."""

    rows: Sequence[PageRow]
    limit: int
    after: SortKey | None
    total: int | None


def page_of(
    statement: Select[object],
    *,
    id_column: ColumnElement[str],
    order: Order,
    limit: int,
    after: SortKey | None,
    with_total: bool,
) -> Page:
    """Return one page of `statement`, in one query (two with the total)."""
    keyed = statement.add_columns(order.column.label("sort_key"))
    if after is not None:
        row_key = tuple_(order.column, id_column)
        last_key = tuple_(literal(after[0], order.column.type), literal(after[1], id_column.type))
        keyed = keyed.where(row_key < last_key if order.descending else row_key > last_key)
    sorting = (order.column.desc(), id_column.desc()) if order.descending else (order.column, id_column)
    rows = db.session.execute(keyed.order_by(*sorting).limit(limit + 1)).mappings().all()
    page_rows = rows[:limit]
    next_after = _sort_key(page_rows[-1]) if len(rows) > limit else None
    return Page(page_rows, limit, next_after, _count_rows(statement) if with_total else None)


def _count_rows(statement: Select[object]) -> int:
    return db.session.scalar(select(func.count()).select_from(statement.order_by(None).subquery())) or 0


def _sort_key(row: RowMapping) -> SortKey:
    return row["sort_key"], row["id"]
