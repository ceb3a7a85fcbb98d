"""The OpenAPI document. Each route is described from the arguments of its declaration."""

import inspect
from collections.abc import Sequence
from functools import cache
from threading import RLock
from typing import TypedDict

import flask_smorest
import marshmallow
from apispec import APISpec
from flask import Flask, Response
from flask_smorest.spec.plugins import FlaskPlugin
from marshmallow import fields
from werkzeug.routing import Rule

from app.accounts.errors import ConfirmationRequired, CurrentPasswordWrong, EmailNotVerified
from app.core import errors as kinds
from app.core.errors import AppError
from app.version import __version__
from app.web import confirmation, errors
from app.web.access import TEAM_HEADER, Access
from app.web.envelope import dump_json
from app.web.fields import Nested
from app.web.openapi_descriptions import (
    PATH_PARAMETERS,
    RESPONSE_HEADERS,
    describe_access,
    describe_field,
    list_header_references,
)
from app.web.openapi_examples import build_error_example, build_example, build_success_example
from app.web.operation_definition import Operation
from app.web.schema import Empty, Schema, to_camel_case
from app.web.types import AnyField, JsonObject, View

DocSchema = marshmallow.Schema | JsonObject | dict[str, str] | str | None
"""A schema in the document: marshmallow's, a plain one, or the name of a component."""


class ErrorMediaType(TypedDict):
    """The JSON of an error response: a reference to the envelope, and references to examples by error code."""

    schema: dict[str, str]
    examples: dict[str, dict[str, str]]


class ErrorResponse(TypedDict):
    """The documentation of the errors of one status."""

    description: str
    headers: dict[str, dict[str, str]]
    content: dict[str, ErrorMediaType]


WEBHOOK_PATHS = {"/api/payrail/callbacks"}
"""Paths that another service calls, not clients of the API: they are under `webhooks` of the document."""
API_KEY = "api"
"""The key of the Api in `app.extensions`."""
BEARER_SECURITY: list[dict[str, list[str]]] = [{"bearerAuth": []}]
IDEMPOTENCY_HEADER: JsonObject = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {"type": "string", "minLength": 8, "maxLength": 80},
    "description": "A repeated request with the same key and body gets the first response again, with `Idempotent-Replayed: true`.",
}
TEAM_ID_HEADER: JsonObject = {
    "in": "header",
    "name": TEAM_HEADER,
    "schema": {"type": "string"},
    "description": "The organisation or merchant to act for, if the caller is in several; 403 if they are not in it.",
}
CONFIRMATION_HEADER: JsonObject = {
    "in": "header",
    "name": confirmation.HEADER,
    "schema": {"type": "string", "format": "password", "maxLength": confirmation.MAX_PASSWORD_LENGTH},
    "description": "The password of the caller, if the operation requires it; an alternative to `password` in the body.",
}
IF_MATCH_HEADER: JsonObject = {
    "in": "header",
    "name": "If-Match",
    "schema": {"type": "string"},
    "description": "The last ETag that the client has; 412 if the object has changed since.",
}
IF_NONE_MATCH_HEADER: JsonObject = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "The last ETag that the client has; 304 if nothing has changed.",
}
FIELDS_PARAMETER: JsonObject = {
    "in": "query",
    "name": "fields",
    "schema": {"type": "string"},
    "description": "Comma-separated names of fields: the response has these and `id`.",
}
UPLOAD_REQUEST_BODY: JsonObject = {
    "description": "The file in the field `file` of a form, or as the whole body.",
    "required": False,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
                "additionalProperties": False,
            }
        },
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
    },
}
TOKEN_ERRORS = (errors.TokenExpired, errors.TokenInvalid, errors.SessionEnded)
BODY_ERRORS = (kinds.BadRequest, kinds.MalformedJson, kinds.TooLarge, kinds.UnsupportedMedia)
IDEMPOTENCY_ERRORS = (
    errors.IdempotencyGrantChanged,
    errors.IdempotencyInProgress,
    errors.IdempotencyKeyReused,
    errors.IdempotencyKeysDiffer,
)

CONFIRMATION_ERRORS = (ConfirmationRequired, CurrentPasswordWrong, kinds.Throttled)


class ErrorEnvelope(Schema):
    """The response of every error."""

    status = fields.Constant("error", required=True)
    success = fields.Constant(False, required=True)
    status_code = fields.String(required=True, metadata={"pattern": "^[0-9]{5}$"})
    message = fields.String(required=True)
    short_message = fields.String(required=True)
    timestamp = fields.String(required=True, metadata={"format": "date-time"})
    request_id = fields.String(required=True)
    data = fields.Dict(required=True)


class DescribedPaths(FlaskPlugin):  # type: ignore[misc]
    """Adds the descriptions of path parameters."""

    def rule_to_params(self, rule: Rule) -> list[JsonObject]:
        """Return the path parameters of a rule."""
        return [
            {**parameter, "description": PATH_PARAMETERS[parameter["name"]]}
            if parameter["name"] in PATH_PARAMETERS
            else parameter
            for parameter in super().rule_to_params(rule)
        ]


class Api(flask_smorest.Api):  # type: ignore[misc]
    """The API. app/web/error_handlers.py handles its errors, and each route documents its own statuses."""

    DEFAULT_ERROR_RESPONSE_NAME = None
    ERROR_SCHEMA = ErrorEnvelope

    def __init__(self, app: Flask) -> None:
        self._pending_blueprints: list[flask_smorest.Blueprint] = []
        self._lock = RLock()
        self._document: bytes | None = None
        super().__init__(app, spec_kwargs={"flask_plugin": DescribedPaths()})

    def register_blueprint(self, blueprint: flask_smorest.Blueprint) -> None:
        """Register the routes; `spec` describes them on first access.

        Most processes never serve the document, and the description takes a fifth of their start time.
        """
        self._app.register_blueprint(blueprint)
        self._pending_blueprints.append(blueprint)

    @property
    def spec(self) -> APISpec:
        """The document of all registered blueprints."""
        with self._lock:
            while self._pending_blueprints:
                blueprint = self._pending_blueprints.pop(0)
                blueprint.register_views_in_doc(self, self._app, self._spec, name=blueprint.name, parameters=None)
                self._spec.tag({"name": blueprint.name, "description": blueprint.description})
            for path in WEBHOOK_PATHS & self._spec._paths.keys():  # apispec has no method for webhooks
                self._spec.options["webhooks"][path] = self._spec._paths.pop(path)
        return self._spec

    @spec.setter
    def spec(self, spec: APISpec) -> None:
        self._spec = spec
        if spec:  # flask-smorest sets None before it creates one
            self.ma_plugin.converter.add_attribute_function(describe_field)

    def _register_pagination_header(self) -> None:
        """No header: the pagination is in the body."""

    def _register_error_handlers(self) -> None:
        """No handlers: app/web/error_handlers.py registers one for all exceptions."""

    def load_document(self) -> JsonObject:
        """Return the document as JSON values."""
        with self._lock:
            return dict(self.spec.to_dict())

    def _openapi_json(self) -> Response:
        """Return the document. It is built once per process, because it changes only with the code."""
        with self._lock:
            if self._document is None:
                self._document = dump_json(self.load_document())
        return Response(self._document, mimetype="application/json")


def create_api(app: Flask) -> Api:
    """Return the API of the application, with examples of all errors."""
    base_url = app.extensions["settings"].PUBLIC_BASE_URL
    app.config.update(
        API_TITLE="Event commerce",
        API_VERSION=__version__,
        OPENAPI_VERSION="3.1.0",
        OPENAPI_URL_PREFIX="/",
        OPENAPI_JSON_PATH="openapi.json",
        API_SPEC_OPTIONS={
            "webhooks": {},
            "info": {
                "description": "Back office and public API of festivals. Every JSON response is an envelope; "
                "every error has a stable code.",
                "license": {"name": "MIT", "identifier": "MIT"},
                "contact": {"name": "The operator of this service", "url": base_url},
            },
            "servers": [{"url": base_url}],
            "externalDocs": {"description": "Quick start, conventions and errors", "url": f"{base_url}/docs"},
            "components": {
                "securitySchemes": {"bearerAuth": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
                "headers": {
                    name: {"schema": {"type": type}, "description": description}
                    for name, (type, description) in RESPONSE_HEADERS.items()
                },
            },
        },
    )
    api = app.extensions[API_KEY] = Api(app)
    for error in AppError.catalogue.values():
        api.spec.components.example(error.code, {"value": build_error_example(error)})
    return api


@cache
def _build_envelope_class(schema: type[marshmallow.Schema], many: bool) -> type[Schema]:
    members: dict[str, AnyField] = {
        "status": fields.Constant("success", required=True),
        "success": fields.Constant(True, required=True),
        "status_code": fields.Constant("00000", required=True),
        "message": fields.Constant("OK", required=True),
        "short_message": fields.Constant("SUCCESS", required=True),
        "timestamp": fields.String(required=True, metadata={"format": "date-time"}),
        "request_id": fields.String(required=True),
        "data": Nested(schema, many=many, required=True),
    }
    return Schema.from_dict(members, name=f"{schema.__name__}Envelope")


def build_envelope_schema(schema: DocSchema) -> DocSchema | type[Schema]:
    """Return the schema of the envelope around `schema`; plain schemas and names are returned unchanged."""
    if isinstance(schema, dict | str):
        return schema
    if schema is None:
        return _build_envelope_class(Empty, False)
    return _build_envelope_class(type(schema), schema.many)


def build_raw_schema(content_type: str) -> dict[str, str]:
    """Return the schema of a response without an envelope; it is empty for an event stream."""
    if content_type == "text/event-stream":
        return {}
    return {"type": "string"} if content_type.startswith("text/") else {"type": "string", "format": "binary"}


def describe_operation(handler: View, operation: Operation) -> None:
    """Attach the documentation of `operation` to `handler`, where flask-smorest reads it."""
    responses: dict[int, ErrorResponse | JsonObject] = {
        **_build_error_responses([*_list_implied_errors(operation), *operation.errors])
    }
    doc: JsonObject = {
        "security": _build_security(operation.access),
        "x-access": operation.access.name,
        "operationId": to_camel_case(handler.__name__),
        "responses": responses,
        **({"deprecated": True} if operation.deprecation else {}),
    }
    success: JsonObject = {"headers": list_header_references(_list_success_headers(operation))}
    if operation.content_type is None:
        content: JsonObject = {"application/json": {"example": build_success_example(operation.response_schema)}}
        if operation.other_content_type is not None:
            content[operation.other_content_type] = {"schema": build_raw_schema(operation.other_content_type)}
        success["content"] = content
    responses[operation.status] = success
    if operation.other_status is not None:
        responses[operation.other_status] = {"headers": success["headers"]}
    if operation.uploads:
        doc["requestBody"] = UPLOAD_REQUEST_BODY
    if operation.has_etag and operation.method == "GET":
        responses[304] = {"description": "Not modified: the client has the current version."}
    info = handler.__dict__["_apidoc"]
    info["manual_doc"] = doc
    doc["description"] = "\n\n".join(filter(None, (_read_details(handler), describe_access(operation.access))))
    info["arguments"]["parameters"] = [*info["arguments"]["parameters"], *_list_parameters(operation)]
    for schema, location in operation.request_schemas:
        if location == "json":
            doc["requestBody"] = {
                "required": _is_body_required(schema),
                "content": {"application/json": {"example": build_example(schema)}},
            }
        elif location == "multipart":
            doc["requestBody"] = {"required": _is_body_required(schema)}


def _is_body_required(schema: type[Schema]) -> bool:
    return any(field.required for field in schema().load_fields.values())


def _list_parameters(operation: Operation) -> list[JsonObject]:
    version_header = IF_NONE_MATCH_HEADER if operation.method == "GET" else IF_MATCH_HEADER
    return [
        *([TEAM_ID_HEADER] if operation.access.permission else []),
        *([IDEMPOTENCY_HEADER] if operation.idempotent else []),
        *([CONFIRMATION_HEADER] if operation.needs_confirmation else []),
        *([version_header] if operation.has_etag else []),
        *([FIELDS_PARAMETER] if operation.sparse else []),
    ]


def _build_security(access: Access) -> list[dict[str, list[str]]]:
    if access.public:
        return [{}, *BEARER_SECURITY] if access.optional else []
    return BEARER_SECURITY


def _list_implied_errors(operation: Operation) -> list[type[AppError]]:
    """Return the errors that follow from the declaration."""
    access, writes = operation.access, operation.method != "GET"
    return [
        *(kinds.Busy, kinds.DatabaseAway, kinds.InternalError, errors.HostNotTrusted),
        *(TOKEN_ERRORS if access.optional or not access.public else ()),
        *([errors.TokenMissing] if not access.public else ()),
        *([errors.RoleNotAllowed] if access.roles or access.tier or access.permission else ()),
        *([EmailNotVerified] if access.needs_verified_email else ()),
        *(BODY_ERRORS if operation.body or operation.files or operation.uploads else ()),
        *([kinds.ValidationFailed] if operation.request_schemas or operation.idempotent or operation.sparse else ()),
        *([kinds.NotFound] if "<" in operation.route else ()),
        *(IDEMPOTENCY_ERRORS if operation.idempotent else ()),
        *(CONFIRMATION_ERRORS if operation.needs_confirmation else ()),
        *([kinds.StaleVersion] if operation.etag and writes else ()),
        *([kinds.Throttled] if operation.limit else ()),
    ]


def _build_error_responses(error_classes: Sequence[type[AppError]]) -> dict[int, ErrorResponse]:
    responses: dict[int, ErrorResponse] = {}
    for error in sorted(set(error_classes), key=lambda error_class: error_class.number):
        response = responses.setdefault(
            error.status,
            {
                "description": "",
                "headers": list_header_references(_list_error_headers(error.status)),
                "content": {
                    "application/json": {
                        "schema": {"$ref": "#/components/schemas/ErrorEnvelope"},
                        "examples": {},
                    }
                },
            },
        )
        response["description"] += (" " if response["description"] else "") + f"`{error.code}`: {error.message}"
        example = {"$ref": f"#/components/examples/{error.code}"}
        response["content"]["application/json"]["examples"][error.code] = example
    return responses


def _list_error_headers(status: int) -> list[str]:
    return ["X-Request-Id", *(["Retry-After"] if status in (429, 503) else [])]


def _list_success_headers(operation: Operation) -> list[str]:
    return [
        "X-Request-Id",
        *(["ETag"] if operation.has_etag else []),
        *(["Idempotent-Replayed"] if operation.idempotent else []),
        *(["Deprecation", "Sunset"] if operation.deprecation else []),
        *(["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] if operation.limit else []),
    ]


def _read_details(handler: View) -> str:
    """Return the docstring without its first paragraph, which is the summary."""
    return inspect.cleandoc(handler.__doc__ or "").partition("\n\n")[2]
