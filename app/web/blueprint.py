"""Routes, declared in one place each:

    @blp.post("/login", access=PUBLIC, body=LoginBody, returns=SignedIn, errors=[InvalidCredentials])
    def login(**body):
        '''Sign in with a password.'''
        return token_data(actions.login(client=client_address(), **body))

Behind the one decorator stands the order of answers of every operation: token and role, rate, body and query,
form of the ids in the path, idempotency, view, dump, envelope.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import flask_smorest
from flask import request
from flask.sansio.scaffold import T_route

from app.core.errors import AppError, NotFound, TooLarge
from app.core.ids import is_id
from app.web import idempotency, limits, openapi, paging, versions
from app.web import kept as keeping
from app.web.access import Access
from app.web.auth import authorise
from app.web.edge import ROUTE
from app.web.envelope import enveloped
from app.web.kept import Keep
from app.web.limits import Limit
from app.web.paging import Listing
from app.web.parser import Parser
from app.web.schema import Schema, snake

View = Callable[..., Any]


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """flask-smorest's blueprint, whose routes cannot be declared without access."""

    ARGUMENTS_PARSER = Parser()
    DEFAULT_LOCATION_CONTENT_TYPE_MAPPING = {
        **flask_smorest.Blueprint.DEFAULT_LOCATION_CONTENT_TYPE_MAPPING,
        "multipart": "multipart/form-data",
    }

    def route(  # type: ignore[override]
        self,
        rule: str,
        *,
        access: Access,
        body: type[Schema] | None = None,
        files: type[Schema] | None = None,
        query: type[Schema] | None = None,
        returns: type[Schema] | Listing | None = None,
        status: int = 200,
        idempotent: bool | str = False,
        versioned: bool = False,
        sparse: bool = False,
        kept: Keep | None = None,
        limit: Limit | None = None,
        errors: Sequence[type[AppError]] = (),
        content_type: str | None = None,
        max_bytes: int | None = None,
        **options: Any,
    ) -> Callable[[T_route], T_route]:
        """Registers a view. `body`, `query` and `files` become its keyword arguments; what it returns is dumped
        by `returns` and enveloped; `idempotent` accepts keys ("forever" keeps them so); `versioned` answers an
        ETag on GET and passes `If-Match` on as `expected_version`; a view whose
        answers are `kept` gives bytes; `errors` lists what else it may answer."""

        def decorate(view: T_route) -> T_route:
            method = options.get("methods", ["GET"])[0]
            asked = paging.query_of(returns, query) if isinstance(returns, Listing) else query
            made, shortcut = keeping.kept(view, kept) if kept is not None else (view, None)
            handler: View = _ids_checked(made, rule)
            if isinstance(returns, Listing):
                handler = paging.paged(handler, returns)
            if versioned:
                handler = versions.versioned(handler, method)
            schema = paging.envelope_of(returns.name, returns.row) if isinstance(returns, Listing) else returns
            if sparse and schema is not None:
                handler = versions.sparse(handler, schema)
            handler = self.response(status, schema, content_type=content_type)(handler)
            if idempotent:
                handler = idempotency.idempotent(
                    handler, f"{method} {self.url_prefix or ''}{rule}", forever=idempotent == "forever"
                )
            for given, location in ((body, "json"), (files, "multipart"), (asked, "query")):
                if given is not None:
                    handler = self.arguments(given, location=location, as_kwargs=True)(handler)
            if max_bytes is not None:
                handler = _bounded(handler, max_bytes)
            if shortcut is not None:
                handler = shortcut(handler)
            handler = _guarded(handler, access, limit, f"{self.url_prefix or ''}{rule}")
            openapi.describe(
                handler,
                rule=rule,
                method=method,
                access=access,
                body=body or files,
                query=asked,
                returns=returns,
                status=status,
                idempotent=bool(idempotent),
                versioned=versioned or kept is not None,
                sparse=sparse,
                limit=limit,
                errors=errors,
            )
            self.add_url_rule(rule, options.pop("endpoint", None), handler, **options)
            return view

        return decorate

    @staticmethod
    def _prepare_response_content(data: Any) -> Any:
        return enveloped(data)

    @staticmethod
    def _make_doc_response_schema(schema: Any) -> Any:
        return openapi.envelope_schema(schema)


def _guarded(view: View, access: Access, limit: Limit | None, route: str) -> View:
    @wraps(view)
    def guarded(**arguments: Any) -> Any:
        request.environ[ROUTE] = route
        authorise(access)
        if limit is None:
            return view(**arguments)
        remaining = limits.spend(limit, route)
        return limits.told(view(**arguments), limit, remaining)

    guarded.access = access  # type: ignore[attr-defined]
    return guarded


def _bounded(view: View, max_bytes: int) -> View:
    @wraps(view)
    def bounded(**arguments: Any) -> Any:
        request.max_content_length = max_bytes
        if (request.content_length or 0) > max_bytes:
            raise TooLarge(f"The body may have {max_bytes} bytes at most.")
        return view(**arguments)

    return bounded


def _ids_checked(view: View, rule: str) -> View:
    """Path parameters in snake_case; a malformed object id is a thing that does not exist."""
    if "<" not in rule:
        return view

    @wraps(view)
    def checked(**arguments: Any) -> Any:
        path = request.view_args or {}
        for name in path:
            if name.lower().endswith("id") and not is_id(arguments[name]):
                raise NotFound()
            arguments[snake(name)] = arguments.pop(name)
        return view(**arguments)

    return checked
