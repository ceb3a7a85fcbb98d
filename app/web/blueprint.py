"""Routes, declared in one place each:

    @blp.post("/login", access=PUBLIC, body=LoginBody, returns=SignedIn, errors=[InvalidCredentials])
    def login(**body):
        '''Sign in with a password.'''
        return token_data(actions.login(client=client_address(), **body))

Behind the one decorator stands the order of answers of every operation: token and role, rate, body and query,
idempotency, form of the ids in the path, view, dump, envelope.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import flask_smorest
from flask import request

from app.core.errors import AppError, NotFound
from app.core.ids import is_id
from app.web import confirmation, idempotency, limits, openapi, paging, parser, versions
from app.web import kept as keeping
from app.web.access import Access
from app.web.auth import authorise
from app.web.edge import ROUTE
from app.web.envelope import enveloped
from app.web.examples import success_example
from app.web.kept import Keep
from app.web.limits import Limit
from app.web.operation import Operation
from app.web.paging import Listing
from app.web.schema import Schema, snake

View = Callable[..., Any]
V = TypeVar("V", bound=View)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """flask-smorest's blueprint, whose routes cannot be declared without access."""

    DEFAULT_LOCATION_CONTENT_TYPE_MAPPING = {
        **flask_smorest.Blueprint.DEFAULT_LOCATION_CONTENT_TYPE_MAPPING,
        "multipart": "multipart/form-data",
    }

    def route(
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
        uploads: bool = False,
        later: bool = False,
        methods: Sequence[str] = ("GET",),
        **options: Any,
    ) -> Callable[[V], V]:
        """Registers a view. `body`, `query` and `files` become its keyword arguments; what it returns is dumped
        by `returns` and enveloped; `idempotent` accepts keys ("forever" keeps them so); `versioned` answers an
        ETag on GET and passes `If-Match` on as `expected_version`; a view whose answers are `kept` gives bytes;
        a view of `uploads` reads a file itself; it and a `later` one may answer 202; `errors` lists what else may."""
        (method,) = methods
        operation = Operation(
            rule=rule,
            prefix=self.url_prefix or "",
            method=method,
            access=access,
            body=body,
            files=files,
            query=query,
            returns=returns,
            status=status,
            idempotent=idempotent,
            versioned=versioned,
            sparse=sparse,
            kept=kept,
            limit=limit,
            errors=errors,
            content_type=content_type,
            max_bytes=max_bytes,
            uploads=uploads,
            later=later,
        )

        def decorate(view: V) -> V:
            handler = self._handler(view, operation)
            self.add_url_rule(rule, options.pop("endpoint", None), handler, methods=list(methods), **options)
            return view

        return decorate

    def get(self, rule: str, **options: Any) -> Callable[[V], V]:
        return self.route(rule, methods=("GET",), **options)

    def post(self, rule: str, **options: Any) -> Callable[[V], V]:
        return self.route(rule, methods=("POST",), **options)

    def put(self, rule: str, **options: Any) -> Callable[[V], V]:
        return self.route(rule, methods=("PUT",), **options)

    def patch(self, rule: str, **options: Any) -> Callable[[V], V]:
        return self.route(rule, methods=("PATCH",), **options)

    def delete(self, rule: str, **options: Any) -> Callable[[V], V]:
        return self.route(rule, methods=("DELETE",), **options)

    def _handler(self, view: View, operation: Operation) -> View:
        """The view inside everything that its declaration asks for; the last layer added is the first to answer."""
        made, shortcut = keeping.kept(view, operation.kept) if operation.kept else (view, None)
        handler = _path_checked(made, operation.rule)
        if operation.listing:
            handler = paging.paged(handler, operation.listing)
        if operation.versioned:
            handler = versions.versioned(handler, operation.method)
        if operation.sparse:
            handler = versions.sparse(handler, operation.given)
        shown = operation.given if operation.content_type is None else openapi.raw_schema(operation.content_type)
        handler = self.response(operation.status, shown, content_type=operation.content_type)(handler)
        if operation.uploads or operation.later:
            handler = self.alt_response(202, schema=operation.given, example=success_example(operation.given))(handler)
        if operation.confirmed:
            handler = confirmation.confirmed(handler)
        if operation.idempotent:
            name, forever = f"{operation.method} {operation.route}", operation.idempotent == "forever"
            unasked = (confirmation.FIELD,) if operation.confirmed else ()
            handler = idempotency.idempotent(handler, name, forever=forever, unasked=unasked)
        handler = parser.reading(handler, operation.taken, max_bytes=operation.max_bytes)
        if shortcut is not None:
            handler = shortcut(handler)
        handler = _guarded(handler, operation)
        openapi.describe(handler, operation)
        return handler

    @staticmethod
    def _prepare_response_content(data: Any) -> Any:
        return enveloped(data)

    @staticmethod
    def _make_doc_response_schema(schema: Any) -> Any:
        return openapi.envelope_schema(schema)


def _guarded(view: View, operation: Operation) -> View:
    route, access, limit = operation.route, operation.access, operation.limit

    @wraps(view)
    def guarded(**arguments: Any) -> Any:
        request.environ[ROUTE] = route
        authorise(access)
        if limit is not None:
            limits.spend(limit, route, per_account=not access.public)
        return view(**arguments)

    guarded.operation = operation  # type: ignore[attr-defined]
    return guarded


def _path_checked(view: View, rule: str) -> View:
    """Path parameters in snake_case; a malformed object id is a thing that does not exist, and so is any name
    with a control character, which PostgreSQL would refuse to look for."""
    if "<" not in rule:
        return view

    @wraps(view)
    def checked(**arguments: Any) -> Any:
        for name, value in (request.view_args or {}).items():
            malformed = name.lower().endswith("id") and not is_id(value)
            if malformed or (isinstance(value, str) and not value.isprintable()):
                raise NotFound()
            arguments[snake(name)] = arguments.pop(name)
        return view(**arguments)

    return checked
