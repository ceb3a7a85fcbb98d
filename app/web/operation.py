"""What a route says of itself, once: the checks and the API document are both made from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from app.core.errors import AppError
from app.web.access import Access
from app.web.confirmation import ConfirmedBody
from app.web.fields import Secret
from app.web.kept import Keep
from app.web.limits import Limit
from app.web.paging import Listing, envelope_of, query_of
from app.web.schema import Empty, Schema


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
    versioned: bool
    sparse: bool
    kept: Keep | None
    limit: Limit | None
    errors: Sequence[type[AppError]]
    content_type: str | None
    max_bytes: int | None
    uploads: bool
    later: bool

    @property
    def route(self) -> str:
        """The path with its parameters' names: what logs, limits and idempotency call the operation."""
        return self.prefix + self.rule

    @property
    def tagged(self) -> bool:
        """Whether its answers carry an ETag."""
        return self.versioned or self.kept is not None

    @property
    def confirmed(self) -> bool:
        """Whether the caller may have to confirm it by a password."""
        return self.body is not None and issubclass(self.body, ConfirmedBody)

    @property
    def listing(self) -> Listing | None:
        return self.returns if isinstance(self.returns, Listing) else None

    @property
    def taken(self) -> list[tuple[type[Schema], str]]:
        """The schemas of what comes in, and where it comes from: the body first."""
        body = with_key(self.body) if self.body is not None and self.idempotent else self.body
        query = query_of(self.listing, self.query) if self.listing else self.query
        places = ((body, "json"), (self.files, "multipart"), (query, "query"))
        return [(schema, place) for schema, place in places if schema is not None]

    @property
    def given(self) -> type[Schema]:
        """The schema of `data` in the answer. Where none is declared nothing goes out, whatever the view returns."""
        if isinstance(self.returns, Listing):
            return envelope_of(self.returns.name, self.returns.row)
        if self.returns is None:
            return Empty
        return chosen_of(self.returns) if self.sparse else self.returns


@cache
def with_key(body: type[Schema]) -> type[Schema]:
    """The body with `idempotencyKey`, which means what the header means."""
    if "idempotency_key" in body._declared_fields:
        return body
    key = Secret(min=8, max=80, metadata={"rare": True, "description": "the same as the header Idempotency-Key"})
    return type(f"{body.__name__}WithKey", (body,), {"idempotency_key": key, "__doc__": body.__doc__})


@cache
def chosen_of(schema: type[Schema]) -> type[Schema]:
    """The schema of an answer cut by `fields=`: only `id` is certain."""
    members: dict[str, Any] = {}
    for name, field in schema().dump_fields.items():
        members[name] = field
        field.required = name == "id"
    return type(f"{schema.__name__}Chosen", (schema,), {**members, "__doc__": schema.__doc__})
