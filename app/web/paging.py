"""Pagination: `limit`, `cursor`, `sort` and `withTotal` for views that return a select().

    @blp.get("", access=SIGNED_IN, returns=Listing("events", EventRow, queries.EVENT_SORTS, "startsAt"))
    def list_events(**filters):
        '''List events.'''
        return queries.list_events_query(get_current_caller(), **filters)

The select must have a column `id`, and the sort columns must not be null.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, wraps
from typing import Any, NotRequired, TypedDict, cast

import orjson
from flask import Response
from marshmallow import fields
from sqlalchemy import ColumnElement, Select

from app.core.errors import ValidationFailed
from app.core.paging import Order, Page, SortKey, page_of
from app.core.tokens import decrypt_token, encrypt_token
from app.web.envelope import envelope_response
from app.web.fields import Boolean, Choice, List, Nested, Secret, WholeNumber
from app.web.schema import Query, Schema, to_camel_case
from app.web.types import AnyField, JsonObject, View

SortColumn = ColumnElement[Any]
MAX_CURSOR_LENGTH = 2000


@dataclass(frozen=True)
class Listing:
    """A list: its name in the response, the schema of its rows, its sort columns and its default sort.

    With `returns_page` the view returns a `Page` instead of a select(). It gets `sort`, `limit`, `after` and
    `with_total` in addition to the filters, and its rows are sent without a schema. With `totals`, the schema of sums
    over all pages, the view returns the select() and the sums.
    """

    name: str
    row: type[Schema]
    sorts: Mapping[str, SortColumn]
    default_sort: str
    returns_page: bool = False
    totals: type[Schema] | None = None

    @property
    def sort_choices(self) -> list[str]:
        """Each sort in both directions."""
        return [sign + name for name in self.sorts for sign in ("", "-")]


class Pagination(Schema):
    """The position of a page in its list."""

    limit = WholeNumber(required=True)
    next_cursor = fields.String(required=True, allow_none=True, data_key="nextCursor")
    total = WholeNumber()


class PaginationData(TypedDict):
    """The data of `Pagination`."""

    limit: int
    next_cursor: str | None
    total: NotRequired[int]


@cache
def build_page_schema(listing_name: str, row: type[Schema], totals: type[Schema] | None = None) -> type[Schema]:
    """Return the schema of a page of rows."""
    members: dict[str, AnyField] = {
        listing_name: List(Nested(row), required=True),
        **({"totals": Nested(totals, required=True)} if totals else {}),
        "pagination": Nested(Pagination, required=True),
    }
    name = row.__name__.removesuffix("Row") + "Page"
    return Schema.from_dict(members, name=name)


def build_query_schema(listing: Listing, query: type[Schema] | None) -> type[Schema]:
    """Return the schema of the filters of `query` and the parameters of the listing."""
    parameters: dict[str, AnyField] = {
        "limit": WholeNumber(min=1, max=100, load_default=20, metadata={"description": "number of rows on a page"}),
        "cursor": Secret(max=MAX_CURSOR_LENGTH, metadata={"description": "`nextCursor` of the previous page"}),
        "sort": Choice(*listing.sort_choices, load_default=listing.default_sort),
        "with_total": Boolean(load_default=False, metadata={"description": "also count all rows"}),
    }
    base_schema = query or Query
    return type(f"{base_schema.__name__}{to_camel_case(listing.name).capitalize()}Paged", (base_schema,), parameters)


def with_paging(view: View, listing: Listing) -> View:
    """Return a view that responds one page of the select() of `view`."""

    @wraps(view)
    def wrapper(
        *, limit: int, sort: str, with_total: bool, cursor: str | None = None, **filters: object
    ) -> Response | JsonObject:
        page, totals = load_page(
            view, listing, limit=limit, sort=sort, with_total=with_total, cursor=cursor, filters=filters
        )
        pagination = serialize_pagination(page, _build_cursor_scope(listing, sort))
        if listing.returns_page:
            members = {to_camel_case(name): value for name, value in pagination.items()}
            return envelope_response(orjson.dumps({listing.name: page.rows, "pagination": members}))
        response: JsonObject = {listing.name: page.rows, "pagination": pagination}
        return response if listing.totals is None else {**response, "totals": totals}

    return wrapper


def load_page(
    view: View,
    listing: Listing,
    *,
    limit: int,
    sort: str,
    filters: Mapping[str, object],
    with_total: bool = False,
    cursor: str | None = None,
) -> tuple[Page, object]:
    """Return one page of the rows of `view`, and the sums of a listing with `totals`.

    Raises ValidationFailed for a cursor of another list or sort.
    """
    column = listing.sorts[sort.removeprefix("-")]
    after = None if cursor is None else decode_cursor(cursor, _build_cursor_scope(listing, sort), column)
    if listing.returns_page:
        return cast(Page, view(sort=sort, limit=limit, after=after, with_total=with_total, **filters)), None
    result = view(**filters)
    statement, totals = result if isinstance(result, tuple) else (result, None)
    statement = cast(Select[Any], statement)
    page = page_of(
        statement,
        id_column=_find_id_column(statement),
        limit=limit,
        with_total=with_total,
        order=Order(column, sort.startswith("-")),
        after=after,
    )
    return page, totals


def find_next_cursor(page: Page, listing: Listing, sort: str) -> str | None:
    """Return the cursor of the next page; None on the last one."""
    return serialize_pagination(page, _build_cursor_scope(listing, sort))["next_cursor"]


def _build_cursor_scope(listing: Listing, sort: str) -> str:
    return f"{listing.name} {sort}"


def _find_id_column(statement: Select[object]) -> ColumnElement[str]:
    return cast(ColumnElement[str], next(column for column in statement.inner_columns if column.key == "id"))


def serialize_pagination(page: Page, cursor_scope: str) -> PaginationData:
    """Return the `pagination` of a page. `cursor_scope` names list and sort: a cursor is valid in its scope only."""
    after = page.after
    pagination: PaginationData = {
        "limit": page.limit,
        "next_cursor": None if after is None else encode_cursor(after, cursor_scope),
    }
    return pagination if page.total is None else {**pagination, "total": page.total}


def encode_cursor(after: SortKey, cursor_scope: str) -> str:
    """Return the position after which the next page starts, encrypted: the last row may have what its page hides."""
    sort_key, last_id = after
    payload = orjson.dumps([sort_key.isoformat() if isinstance(sort_key, date) else sort_key, last_id], default=str)
    return encrypt_token(f"cursor {cursor_scope}", payload)


def decode_cursor(cursor: str, cursor_scope: str, column: SortColumn) -> SortKey:
    """Return the position of a cursor. Raises ValidationFailed for one that we did not issue in this scope."""
    payload = decrypt_token(f"cursor {cursor_scope}", cursor)
    if payload is None:
        raise _invalid_cursor_error()
    sort_key, last_id = orjson.loads(payload)
    return _convert_sort_key(sort_key, column.type.python_type), last_id


def _invalid_cursor_error() -> ValidationFailed:
    return ValidationFailed.of("cursor", "invalid_cursor", "Take nextCursor of the page before, with the same sort.")


def _convert_sort_key(sort_key: Any, key_type: type[Any]) -> Any:
    if issubclass(key_type, date):
        return key_type.fromisoformat(sort_key)
    return sort_key if isinstance(sort_key, key_type) else key_type(sort_key)
