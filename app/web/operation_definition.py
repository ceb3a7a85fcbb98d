"""The declaration of a route. Its checks and its entry in the OpenAPI document are built from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from werkzeug.http import http_date

from app.core.errors import AppError
from app.web.access import Access
from app.web.confirmation import ConfirmedBody
from app.web.fields import Secret
from app.web.paging import Listing, build_page_schema, build_query_schema
from app.web.rate_limits import Limit
from app.web.response_cache import CachePolicy
from app.web.schema import Empty, Schema
from app.web.types import AnyField


@dataclass(frozen=True)
class Deprecation:
    """An operation that will be removed: since when it is deprecated, and the day from which it may be gone (UTC)."""

    since: datetime
    sunset: datetime

    @property
    def headers(self) -> list[tuple[str, str]]:
        """`Deprecation` (RFC 9745) and `Sunset` (RFC 8594)."""
        return [("Deprecation", f"@{int(self.since.timestamp())}"), ("Sunset", http_date(self.sunset))]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one path."""

    rule: str
    prefix: str
    method: str
    access: Access
    body: type[Schema] | None
    files: type[Schema] | None
    query: type[Schema] | None
    returns: type[Schema] | Listing | None
    status: int
    idempotent: bool | str
    etag: bool
    sparse: bool
    cache: CachePolicy | None
    limit: Limit | None
    errors: Sequence[type[AppError]]
    content_type: str | None
    max_bytes: int | None
    uploads: bool
    other_status: int | None
    other_content_type: str | None
    deprecation: Deprecation | None

    def __post_init__(self) -> None:
        if self.cache and (not self.access.public or self.access.optional or self.limit or self.deprecation):
            raise TypeError(
                f"{self.route}: cached responses are sent before tokens, limits and deprecation are looked at"
            )

    @property
    def route(self) -> str:
        """The path with the names of its parameters. Logs, rate limits and idempotency identify the operation by it."""
        return self.prefix + self.rule

    @property
    def has_etag(self) -> bool:
        """Whether its responses have an ETag."""
        return self.etag or self.cache is not None

    @property
    def needs_confirmation(self) -> bool:
        """Whether it may need a confirmation by password."""
        return self.body is not None and issubclass(self.body, ConfirmedBody)

    @property
    def listing(self) -> Listing | None:
        return self.returns if isinstance(self.returns, Listing) else None

    @property
    def request_schemas(self) -> list[tuple[type[Schema], str]]:
        """The schemas of the request with their locations, the body first."""
        body = build_schema_with_key(self.body) if self.body is not None and self.idempotent else self.body
        query = build_query_schema(self.listing, self.query) if self.listing else self.query
        schemas = ((body, "json"), (self.files, "multipart"), (query, "query"))
        return [(schema, location) for schema, location in schemas if schema is not None]

    @property
    def response_schema(self) -> type[Schema]:
        """The schema of `data` in the response. Without a declared schema, `data` is empty."""
        if isinstance(self.returns, Listing):
            return build_page_schema(self.returns.name, self.returns.row, self.returns.totals)
        if self.returns is None:
            return Empty
        return build_partial_schema(self.returns) if self.sparse else self.returns


@cache
def build_schema_with_key(body: type[Schema]) -> type[Schema]:
    """Return the schema of the body with `idempotencyKey`, an alternative to the header."""
    if "idempotency_key" in body._declared_fields:
        return body
    key = Secret(min=8, max=80, metadata={"rare": True, "description": "an alternative to the header Idempotency-Key"})
    return type(f"{body.__name__}WithKey", (body,), {"idempotency_key": key, "__doc__": body.__doc__})


@cache
def build_partial_schema(schema: type[Schema]) -> type[Schema]:
    """Return the schema of a response with `fields=`: only `id` is required."""
    members: dict[str, AnyField] = {}
    for name, field in schema().dump_fields.items():
        members[name] = field
        field.required = name == "id"
    return type(f"{schema.__name__}Chosen", (schema,), {**members, "__doc__": schema.__doc__})
