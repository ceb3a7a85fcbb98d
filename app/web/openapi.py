"""The OpenAPI document says of every route what the route does: made from the same arguments."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import flask_smorest
from flask import Flask
from marshmallow import fields

from app.accounts.errors import EmailNotVerified
from app.core import errors as kinds
from app.core.errors import AppError
from app.web import refusals
from app.web.access import Access
from app.web.examples import error_example, example_of, success_example
from app.web.fields import Object
from app.web.paging import Listing, envelope_of
from app.web.schema import Empty, Schema

BEARER: list[dict[str, list[str]]] = [{"bearerAuth": []}]
IDEMPOTENCY_HEADER = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {"type": "string", "minLength": 8, "maxLength": 80},
    "description": "The same key and body again get the first answer again, with `Idempotent-Replayed: true`.",
}
IF_MATCH_HEADER = {
    "in": "header",
    "name": "If-Match",
    "schema": {"type": "string"},
    "description": "The ETag last seen; 412 when it has changed since.",
}
IF_NONE_MATCH_HEADER = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "The ETag last seen; 304 when nothing has changed.",
}
FIELDS_PARAMETER = {
    "in": "query",
    "name": "fields",
    "schema": {"type": "string"},
    "description": "Comma-separated names: the answer holds `id` and these.",
}


class ErrorEnvelope(Schema):
    """What every error looks like."""

    status = fields.Constant("error", required=True)
    success = fields.Constant(False, required=True)
    status_code = fields.String(required=True, metadata={"pattern": "^[0-9]{5}$"})
    message = fields.String(required=True)
    short_message = fields.String(required=True)
    timestamp = fields.String(required=True, metadata={"format": "date-time"})
    request_id = fields.String(required=True)
    data = fields.Dict(required=True)


class Api(flask_smorest.Api):  # type: ignore[misc]
    """The API: errors are ours (see app/web/errors.py), and every status is documented by its route."""

    DEFAULT_ERROR_RESPONSE_NAME = None
    ERROR_SCHEMA = ErrorEnvelope

    def _register_pagination_header(self) -> None:
        """Paging stands in the answer, not in a header."""

    def _register_error_handlers(self) -> None:
        """Nothing to register: one handler for everything stands in app/web/errors.py."""


def create(app: Flask) -> Api:
    app.config.update(
        API_TITLE="Event commerce",
        API_VERSION="1",
        OPENAPI_VERSION="3.1.0",
        OPENAPI_URL_PREFIX="/",
        OPENAPI_JSON_PATH="openapi.json",
        API_SPEC_OPTIONS={
            "info": {
                "description": "Back office and public API of festivals. Every JSON answer is one envelope; "
                "every error has a stable code.",
                "license": {"name": "MIT", "identifier": "MIT"},
            },
            "servers": [{"url": app.extensions["settings"].PUBLIC_BASE_URL}],
            "components": {
                "securitySchemes": {"bearerAuth": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
            },
        },
    )
    return Api(app)


@cache
def _wrapped(schema: type[Schema], many: bool) -> type[Schema]:
    members: dict[str, Any] = {
        "status": fields.Constant("success", required=True),
        "success": fields.Constant(True, required=True),
        "status_code": fields.Constant("00000", required=True),
        "message": fields.Constant("OK", required=True),
        "short_message": fields.Constant("SUCCESS", required=True),
        "timestamp": fields.String(required=True, metadata={"format": "date-time"}),
        "request_id": fields.String(required=True),
        "data": Object(schema, many=many, required=True),
    }
    return Schema.from_dict(members, name=f"{schema.__name__}Envelope")  # type: ignore[return-value]


def envelope_schema(schema: Any) -> Any:
    """The envelope's schema around `schema`, one class for each."""
    if isinstance(schema, dict | str):
        return schema
    return _wrapped(type(schema) if schema is not None else Empty, bool(schema and schema.many))


def describe(
    handler: Callable[..., Any],
    *,
    rule: str,
    method: str,
    access: Access,
    body: type[Schema] | None,
    query: type[Schema] | None,
    returns: type[Schema] | Listing | None,
    status: int,
    idempotent: bool,
    versioned: bool,
    sparse: bool,
    limit: object,
    errors: Sequence[type[AppError]],
) -> None:
    """Attaches to `handler` what flask-smorest puts into the document."""
    doc: dict[str, Any] = {"security": _security(access), "x-access": access.name}
    parameters = [
        *([IDEMPOTENCY_HEADER] if idempotent else []),
        *([IF_MATCH_HEADER if method != "GET" else IF_NONE_MATCH_HEADER] if versioned else []),
        *([FIELDS_PARAMETER] if sparse else []),
    ]
    if parameters:
        doc["parameters"] = parameters
    doc["responses"] = _error_responses(
        [
            *_usual(
                rule=rule,
                method=method,
                access=access,
                body=body,
                query=query,
                idempotent=idempotent,
                versioned=versioned,
                limit=limit,
            ),
            *errors,
        ]
    )
    if versioned and method == "GET":
        doc["responses"][304] = {"description": "Not modified: you have it."}
    schema = envelope_of(returns.name, returns.row) if isinstance(returns, Listing) else returns
    if schema is not None or returns is None:
        doc["responses"][status] = {"content": {"application/json": {"example": success_example(schema or Empty)}}}
    if body is not None and _is_json(handler):
        doc["requestBody"] = {"content": {"application/json": {"example": example_of(body)}}}
    info = handler.__dict__.setdefault("_apidoc", {})
    arguments = info.get("arguments")
    if parameters and arguments:
        arguments["parameters"] = [*arguments.get("parameters", []), *parameters]
        del doc["parameters"]
    info["manual_doc"] = doc


def _is_json(handler: Any) -> bool:
    return any(each.get("in") == "json" for each in handler._apidoc["arguments"]["parameters"])


def _security(access: Access) -> list[dict[str, list[str]]]:
    if access.public:
        return [{}, *BEARER] if access.optional else []
    return BEARER


def _usual(
    *,
    rule: str,
    method: str,
    access: Access,
    body: object,
    query: object,
    idempotent: bool,
    versioned: bool,
    limit: object,
) -> list[type[AppError]]:
    found: list[type[AppError]] = [kinds.Busy, kinds.DatabaseAway, kinds.InternalError]
    if access.optional or not access.public:
        found += [refusals.TokenMissing, refusals.TokenExpired, refusals.TokenInvalid, refusals.SessionEnded]
    if access.roles or access.tier:
        found.append(refusals.RoleNotAllowed)
    if access.verified:
        found.append(EmailNotVerified)
    if body is not None:
        found += [kinds.BadRequest, kinds.MalformedJson, kinds.TooLarge, kinds.UnsupportedMedia]
    if body is not None or query is not None or idempotent:
        found.append(kinds.ValidationFailed)
    if "<" in rule:
        found.append(kinds.NotFound)
    if idempotent:
        found += [
            refusals.IdempotencyInProgress,
            refusals.IdempotencyKeyReused,
            refusals.IdempotencyKeysDiffer,
        ]
    if versioned and method != "GET":
        found.append(kinds.StaleVersion)
    if limit is not None:
        found.append(kinds.Throttled)
    return found


def _error_responses(found: Sequence[type[AppError]]) -> dict[int, Any]:
    responses: dict[int, Any] = {}
    for error in sorted(set(found), key=lambda each: each.number):
        response = responses.setdefault(
            error.status,
            {
                "description": "",
                "content": {
                    "application/json": {
                        "schema": {"$ref": "#/components/schemas/ErrorEnvelope"},
                        "examples": {},
                    }
                },
            },
        )
        response["description"] += ("; " if response["description"] else "") + f"`{error.code}`: {error.message}"
        response["content"]["application/json"]["examples"][error.code] = {"value": error_example(error)}
    return responses
