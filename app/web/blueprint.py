"""Routes, declared in one place each:

    @blp.post("/login", access=PUBLIC, body=LoginBody, returns=SignedIn, errors=[InvalidCredentials])
    def login(**body):
        '''Sign in with a password.'''
        return serialize_sign_in(actions.log_in(**body))

The decorator fixes the order of the checks of every operation: token and role, rate limit, body and query,
idempotency, ids in the path, view, dump, envelope.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Required, TypedDict, TypeVar, Unpack

import flask_smorest
from flask import request

from app.core.errors import AppError, NotFound
from app.core.ids import is_id
from app.web import (
    confirmation,
    etags,
    idempotency,
    openapi,
    paging,
    rate_limits,
    request_parser,
    response_cache,
)
from app.web.access import Access, authorise
from app.web.envelope import build_envelope
from app.web.middleware import EXTRA_HEADERS_KEY, ROUTE_KEY
from app.web.openapi_examples import build_success_example
from app.web.operation_definition import Deprecation, Operation
from app.web.paging import Listing
from app.web.rate_limits import Limit
from app.web.response_cache import CachePolicy
from app.web.schema import Schema, to_snake_case
from app.web.types import JsonObject, View

ViewType = TypeVar("ViewType", bound=View)


class RouteOptions(TypedDict, total=False):
    """The options of a route; `Blueprint.route` describes them."""

    access: Required[Access]
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
    endpoint: str | None


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """A flask-smorest blueprint whose routes must declare their access."""

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
        etag: bool = False,
        sparse: bool = False,
        cache: CachePolicy | None = None,
        limit: Limit | None = None,
        errors: Sequence[type[AppError]] = (),
        content_type: str | None = None,
        max_bytes: int | None = None,
        uploads: bool = False,
        other_status: int | None = None,
        other_content_type: str | None = None,
        deprecation: Deprecation | None = None,
        methods: Sequence[str] = ("GET",),
        endpoint: str | None = None,
    ) -> Callable[[ViewType], ViewType]:
        """Register a view. It gets the values of `body`, `query` and `files` as keyword arguments.

        `returns` dumps its result into the envelope; a view that responds with `other_status` returns a tuple.
        `other_content_type` is what the same status has besides JSON.
        `idempotent` accepts idempotency keys ("forever": they never expire). `etag` sends an ETag on GET and passes
        `If-Match` to a write as `expected_version`. `sparse` accepts `fields=`. A view with `cache` returns bytes. A
        view with `uploads` reads the file itself. `errors` lists the errors that do not follow from the declaration.
        """
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
            etag=etag,
            sparse=sparse,
            cache=cache,
            limit=limit,
            errors=errors,
            content_type=content_type,
            max_bytes=max_bytes,
            uploads=uploads,
            other_status=other_status,
            other_content_type=other_content_type,
            deprecation=deprecation,
        )

        def decorate(view: ViewType) -> ViewType:
            handler = self._wrap_view(view, operation)
            self.add_url_rule(rule, endpoint, handler, methods=list(methods))
            return view

        return decorate

    def get(self, rule: str, **options: Unpack[RouteOptions]) -> Callable[[ViewType], ViewType]:
        return self.route(rule, methods=("GET",), **options)

    def post(self, rule: str, **options: Unpack[RouteOptions]) -> Callable[[ViewType], ViewType]:
        return self.route(rule, methods=("POST",), **options)

    def put(self, rule: str, **options: Unpack[RouteOptions]) -> Callable[[ViewType], ViewType]:
        return self.route(rule, methods=("PUT",), **options)

    def patch(self, rule: str, **options: Unpack[RouteOptions]) -> Callable[[ViewType], ViewType]:
        return self.route(rule, methods=("PATCH",), **options)

    def delete(self, rule: str, **options: Unpack[RouteOptions]) -> Callable[[ViewType], ViewType]:
        return self.route(rule, methods=("DELETE",), **options)

    def _wrap_view(self, view: View, operation: Operation) -> View:
        """Wrap the view in the layers of its declaration. The last layer is the outermost and runs first."""
        cached_view = response_cache.with_response_cache(view, operation.cache) if operation.cache else view
        handler = _with_path_check(cached_view, operation.rule)
        if operation.listing:
            handler = paging.with_paging(handler, operation.listing)
        if operation.etag:
            handler = etags.with_etag(handler, operation.method)
        if operation.sparse:
            handler = etags.with_sparse_fields(handler, operation.response_schema)
        response_schema = (
            operation.response_schema
            if operation.content_type is None
            else openapi.build_raw_schema(operation.content_type)
        )
        handler = self.response(operation.status, response_schema, content_type=operation.content_type)(handler)
        if operation.other_status is not None:
            handler = self.alt_response(
                operation.other_status,
                schema=operation.response_schema,
                example=build_success_example(operation.response_schema),
            )(handler)
        if operation.needs_confirmation:
            handler = confirmation.with_password_confirmation(handler)
        if operation.idempotent:
            operation_name, forever = f"{operation.method} {operation.route}", operation.idempotent == "forever"
            ignored_fields = (confirmation.FIELD,) if operation.needs_confirmation else ()
            handler = idempotency.with_idempotency(
                handler, operation_name, forever=forever, ignored_fields=ignored_fields
            )
        handler = request_parser.with_parsed_request(handler, operation.request_schemas, max_bytes=operation.max_bytes)
        handler = _with_access_check(handler, operation)
        openapi.describe_operation(handler, operation)
        return handler

    @staticmethod
    def _prepare_response_content(data: object) -> JsonObject:
        return build_envelope(data)

    @staticmethod
    def _make_doc_response_schema(schema: openapi.DocSchema) -> openapi.DocSchema | type[Schema]:
        return openapi.build_envelope_schema(schema)


def _with_access_check(view: View, operation: Operation) -> View:
    route, access, limit = operation.route, operation.access, operation.limit
    extra_headers = operation.deprecation.headers if operation.deprecation else []

    @wraps(view)
    def wrapper(**arguments: object) -> object:
        request.environ[ROUTE_KEY] = route
        authorise(access)
        if limit is not None:
            rate_limits.count_request(limit, route, per_account=not access.public)
        if extra_headers:
            request.environ[EXTRA_HEADERS_KEY] = [*request.environ.get(EXTRA_HEADERS_KEY, ()), *extra_headers]
        return view(**arguments)

    wrapper.operation = operation  # type: ignore[attr-defined]
    return wrapper


def _with_path_check(view: View, rule: str) -> View:
    """Return a view that gets its path parameters in snake_case. Raises NotFound for a malformed id.

    A name with a control character is also NotFound, because PostgreSQL cannot look it up.
    """
    if "<" not in rule:
        return view

    @wraps(view)
    def wrapper(**arguments: object) -> object:
        for name, value in (request.view_args or {}).items():
            is_malformed_id = name.lower().endswith("id") and not is_id(value)
            if is_malformed_id or (isinstance(value, str) and not value.isprintable()):
                raise NotFound()
            arguments[to_snake_case(name)] = arguments.pop(name)
        return view(**arguments)

    return wrapper
