"""Lists: `limit`, `cursor`, `sort` and `withTotal` for every view that returns a select().

    @blp.get("", access=SIGNED_IN, returns=Listing("events", EventRow, queries.EVENT_SORTS, "startsAt"))
    def list_events(**filters):
        '''List events.'''
        return queries.events(current_caller(), **filters)

The select must name its id column `id`; the columns to sort by must never be null.
"""

import base64
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, wraps
from typing import Any

import orjson
from marshmallow import fields
from sqlalchemy import ColumnElement

from app.core.errors import ValidationFailed
from app.core.paging import Order, Page, page_of
from app.core.tokens import derive
from app.web.envelope import spliced_response
from app.web.fields import Choice, Flag, Items, Object, Secret, Whole
from app.web.schema import Query, Schema, camel

View = Callable[..., Any]
SIGNED, LONGEST = 12, 2000


@dataclass(frozen=True)
class Listing:
    """A list's name in the answer, the schema of its rows, what it can be sorted by, and how it is unasked.

    Where it is made `by_hand` the view gives the page itself, whose rows go out as they are: it gets `sort`, `limit`,
    `after` and `with_total` beside the filters.
    """

    name: str
    row: type[Schema]
    sorts: Mapping[str, ColumnElement[Any]]
    default: str
    by_hand: bool = False

    @property
    def choices(self) -> list[str]:
        return [sign + name for name in self.sorts for sign in ("", "-")]


class Pagination(Schema):
    limit = Whole(required=True)
    next_cursor = fields.String(required=True, allow_none=True, data_key="nextCursor")
    total = Whole()


@cache
def envelope_of(listing_name: str, row: type[Schema]) -> type[Schema]:
    members: dict[str, Any] = {
        listing_name: Items(Object(row), required=True),
        "pagination": Object(Pagination, required=True),
    }
    name = row.__name__.removesuffix("Row") + "Page"
    return Schema.from_dict(members, name=name)  # type: ignore[return-value]


def query_of(listing: Listing, query: type[Schema] | None) -> type[Schema]:
    """The listing's own parameters beside the filters of `query`."""
    parameters = {
        "limit": Whole(min=1, max=100, load_default=20, metadata={"description": "rows on a page"}),
        "cursor": Secret(max=LONGEST, metadata={"description": "`nextCursor` of the page before"}),
        "sort": Choice(*listing.choices, load_default=listing.default),
        "with_total": Flag(load_default=False, metadata={"description": "count all rows as well"}),
    }
    base: Any = query or Query
    return type(f"{base.__name__}{camel(listing.name).capitalize()}Paged", (base,), parameters)


def paged(view: View, listing: Listing) -> View:
    """The view, answering one page of the select() it returns."""

    @wraps(view)
    def answer(*, limit: int, sort: str, with_total: bool, cursor: str | None = None, **filters: Any) -> Any:
        column, place = listing.sorts[sort.removeprefix("-")], f"{listing.name} {sort}"
        after = decoded(cursor, place, column) if cursor is not None else None
        if listing.by_hand:
            page = view(sort=sort, limit=limit, after=after, with_total=with_total, **filters)
            shown = {camel(name): value for name, value in told(page, place).items()}
            return spliced_response(orjson.dumps({listing.name: page.rows, "pagination": shown}))
        statement = view(**filters)
        page = page_of(
            statement,
            id_column=_id_of(statement),
            limit=limit,
            with_total=with_total,
            order=Order(column, sort.startswith("-")),
            after=after,
        )
        return {listing.name: page.rows, "pagination": told(page, place)}

    return answer


def _id_of(statement: Any) -> ColumnElement[str]:
    found: ColumnElement[str] = next(
        inner_column for inner_column in statement.inner_columns if inner_column.key == "id"
    )
    return found


def told(page: Page, place: str) -> dict[str, Any]:
    """The `pagination` of an answer. `place` names the list; a cursor counts at its own place alone."""
    after = page.after
    said: dict[str, Any] = {"limit": page.limit, "next_cursor": None if after is None else encoded(after, place)}
    return said if page.total is None else {**said, "total": page.total}


def encoded(after: tuple[Any, str], place: str) -> str:
    """Where the next page starts, signed: no cursor that was not given out ever reaches the database."""
    key, last = after
    plain = orjson.dumps([key.isoformat() if isinstance(key, date) else key, last], default=str)
    return base64.urlsafe_b64encode(derive("cursor", place, plain.hex())[:SIGNED] + plain).rstrip(b"=").decode()


def decoded(cursor: str, place: str, column: ColumnElement[Any]) -> tuple[Any, str]:
    try:
        sent = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise _bad_cursor() from error
    signature, plain = sent[:SIGNED], sent[SIGNED:]
    if not hmac.compare_digest(signature, derive("cursor", place, plain.hex())[:SIGNED]):
        raise _bad_cursor()
    key, last = orjson.loads(plain)
    return _typed(key, column.type.python_type), last


def _bad_cursor() -> ValidationFailed:
    return ValidationFailed.of("cursor", "invalid_cursor", "Take nextCursor of the page before, with the same sort.")


def _typed(key: Any, wanted: type[Any]) -> Any:
    if issubclass(wanted, date):
        return wanted.fromisoformat(key)
    return key if isinstance(key, wanted) else wanted(key)
