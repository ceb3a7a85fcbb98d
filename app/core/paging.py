"""Keyset pages: a page starts after the last row of the one before, so inserts neither skip nor repeat rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal, select, tuple_

from app.core.db import db


@dataclass(frozen=True)
class Order:
    """A sort: the column, which must never be null, and whether it runs downwards."""

    column: ColumnElement[Any]
    descending: bool


@dataclass(frozen=True)
class Page:
    """Rows, and where the next page starts (None: this was the last)."""

    rows: Sequence[Mapping[Any, Any]]
    limit: int
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
        left = tuple_(order.column, id_column)
        right = tuple_(literal(after[0], order.column.type), literal(after[1], id_column.type))
        keyed = keyed.where(left < right if order.descending else left > right)
    sorting = (order.column.desc(), id_column.desc()) if order.descending else (order.column, id_column)
    rows = db.session.execute(keyed.order_by(*sorting).limit(limit + 1)).mappings().all()
    value = rows[:limit]
    return Page(
        value, limit, _after(value[-1]) if len(rows) > limit else None, _total(statement) if with_total else None
    )


def _total(statement: Select[Any]) -> int:
    return db.session.scalar(select(func.count()).select_from(statement.order_by(None).subquery())) or 0


def _after(row: Mapping[Any, Any]) -> tuple[Any, str]:
    return row["sort_key"], row["id"]
