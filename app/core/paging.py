"""Keyset pages: a page starts after the last row of the one before, so inserts neither skip nor repeat rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, func, select, tuple_

from app.core.db import db


@dataclass(frozen=True)
class Order:
    """A sort: the column, which must never be null, and whether it runs downwards."""

    column: ColumnElement[Any]
    descending: bool


@dataclass(frozen=True)
class Page:
    """Rows, and where the next page starts (None: this was the last)."""

    rows: Sequence[RowMapping]
    after: tuple[Any, str] | None
    total: int | None


def page_of(
    statement: Select[Any],
    *,
    id_column: ColumnElement[str],
    order: Order,
    limit: int,
    after: tuple[Any, str] | None,
    with_total: bool,
) -> Page:
    """One page of `statement`, in one query (two with the total)."""
    keyed = statement.add_columns(order.column.label("sort_key"))
    if after is not None:
        left, right = tuple_(order.column, id_column), tuple_(*after)
        keyed = keyed.where(left < right if order.descending else left > right)
    sorting = (order.column.desc(), id_column.desc()) if order.descending else (order.column, id_column)
    rows = db.session.execute(keyed.order_by(*sorting).limit(limit + 1)).mappings().all()
    shown = rows[:limit]
    total = db.session.scalar(select(func.count()).select_from(statement.subquery())) if with_total else None
    return Page(shown, _after(shown[-1]) if len(rows) > limit else None, total)


def _after(row: Mapping[str, Any]) -> tuple[Any, str]:
    key = row["sort_key"]
    return (key.isoformat() if isinstance(key, datetime) else key), row["id"]
