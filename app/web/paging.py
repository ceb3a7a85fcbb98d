"""Lists: `limit`, `cursor`, `sort` and `withTotal` for every view that returns a select().

    @blp.get("", access=SIGNED_IN, returns=Listing("events", EventRow, queries.EVENT_SORTS, "startsAt"))
    def list_events(**filters):
        '''List events.'''
        return queries.events(current_caller(), **filters)

The select must name its id column `id`; the columns to sort by must never be null.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache, wraps
from typing import Any

import orjson
from marshmallow import fields
from sqlalchemy import ColumnElement, DateTime

from app.core.errors import ValidationFailed
from app.core.ids import is_id
from app.core.paging import Order, Page, page_of
from app.web.fields import Choice, Flag, Items, Object, Secret, Whole
from app.web.schema import Query, Schema, camel

View = Callable[..., Any]


@dataclass(frozen=True)
class Listing:
    """A list's name in the answer, the schema of its rows, and what it can be sorted by (`id` always)."""

    name: str
    row: type[Schema]
    sorts: Mapping[str, ColumnElement[Any]]
    default: str

    @property
    def choices(self) -> list[str]:
        return [sign + name for name in self.sorts for sign in ("", "-")]


class Pagination(Schema):
    limit = Whole(required=True)
    next_cursor = fields.String(required=True, allow_none=True, data_key="nextCursor")
    total = Whole()


@cache
def envelope_of(listing_name: str, row: type[Schema]) -> type[Schema]:
    members = {
        listing_name: Items(Object(row), required=True),
        "pagination": Object(Pagination, required=True),
    }
    name = row.__name__.removesuffix("Row") + "Page"
    return Schema.from_dict(members, name=name)  # type: ignore[return-value]


def query_of(listing: Listing, query: type[Schema] | None) -> type[Schema]:
    """The listing's own parameters beside the filters of `query`."""
    parameters = {
        "limit": Whole(min=1, max=100, load_default=20, metadata={"description": "rows on a page"}),
        "cursor": Secret(max=500, metadata={"description": "`nextCursor` of the page before"}),
        "sort": Choice(*listing.choices, load_default=listing.default),
        "with_total": Flag(load_default=False, metadata={"description": "count all rows as well"}),
    }
    base: Any = query or Query
    return type(f"{base.__name__}{camel(listing.name).capitalize()}Paged", (base,), parameters)


def paged(view: View, listing: Listing) -> View:
    """The view, answering one page of the select() it returns."""

    @wraps(view)
    def answer(*, limit: int, sort: str, with_total: bool, cursor: str | None = None, **filters: Any) -> Any:
        column = listing.sorts[sort.removeprefix("-")]
        statement = view(**filters)
        page = page_of(
            statement,
            id_column=_id_of(statement),
            limit=limit,
            with_total=with_total,
            order=Order(column, sort.startswith("-")),
            after=decoded(cursor, sort, column) if cursor else None,
        )
        return {listing.name: page.rows, "pagination": _pagination(page, limit, sort)}

    return answer


def _id_of(statement: Any) -> ColumnElement[str]:
    found: ColumnElement[str] = next(each for each in statement.inner_columns if each.key == "id")
    return found


def _pagination(page: Page, limit: int, sort: str) -> dict[str, Any]:
    said: dict[str, Any] = {"limit": limit, "next_cursor": encoded(page.after, sort)}
    return said if page.total is None else {**said, "total": page.total}


def encoded(after: tuple[Any, str] | None, sort: str) -> str | None:
    """The opaque cursor of a page's last key; None after the last page."""
    if after is None:
        return None
    return base64.urlsafe_b64encode(orjson.dumps([sort, *after], default=str)).rstrip(b"=").decode()


def decoded(cursor: str, sort: str, column: ColumnElement[Any]) -> tuple[Any, str]:
    """The key in a cursor that was made for this sort. Raises ValidationFailed."""
    try:
        made_for, key, last = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if made_for != sort or not is_id(last):
            raise ValueError(cursor)
        return _typed(key, column), last
    except (ValueError, TypeError, ArithmeticError, binascii.Error) as error:
        sentence = "Take nextCursor of the page before, with the same sort."
        raise ValidationFailed.of("cursor", "invalid_cursor", sentence) from error


def _typed(key: Any, column: ColumnElement[Any]) -> Any:
    if isinstance(column.type, DateTime):
        return datetime.fromisoformat(key)
    wanted = column.type.python_type
    if wanted in (float, Decimal):
        return wanted(key)
    if not isinstance(key, wanted):
        raise ValueError(key)
    return key
