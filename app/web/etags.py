"""ETag, If-Match and If-None-Match, and sparse responses (`fields=`)."""

from collections.abc import Mapping
from functools import wraps
from typing import Any

from flask import Response, request

from app.core.errors import ValidationFailed
from app.web.schema import PartialResponse, Schema
from app.web.types import View

WRITE_METHODS = ("PATCH", "PUT", "DELETE", "POST")
UNKNOWN_VERSION = -1
"""A version that no row has. It is used for an unknown If-Match, which is therefore stale if the row exists."""


def with_etag(view: View, method: str) -> View:
    """Return a view with the version as ETag, and 304 if the client has it; a write gets `expected_version` instead."""
    if method in WRITE_METHODS:

        @wraps(view)
        def write_wrapper(**arguments: object) -> object:
            return view(**arguments, expected_version=parse_if_match())

        return write_wrapper

    @wraps(view)
    def read_wrapper(**arguments: object) -> object:
        resource: Any = view(**arguments)
        version = resource["version"] if isinstance(resource, Mapping) else resource.version
        if request.if_none_match.contains_weak(str(version)):
            return not_modified_response(str(version))
        return resource, {"ETag": f'"{version}"'}

    return read_wrapper


def not_modified_response(tag: str) -> Response:
    """Return a 304 with the ETag."""
    return Response(status=304, headers={"ETag": f'"{tag}"'})


def parse_if_match() -> int | None:
    """Return the version of If-Match; None without the header or for `*`, UNKNOWN_VERSION for any other tag.

    Weak tags count, because a proxy that compresses weakens them. Several tags are UNKNOWN_VERSION: a client that
    expects one of two states has read neither.
    """
    if "If-Match" not in request.headers or request.if_match.star_tag:
        return None
    tags = [tag for tag in request.if_match.as_set(include_weak=True) if _is_version(tag)]
    return int(tags[0]) if len(tags) == 1 else UNKNOWN_VERSION


def _is_version(tag: str) -> bool:
    return bool(tag) and tag.isascii() and tag.isdigit() and len(tag) < 10


def with_sparse_fields(view: View, schema: type[Schema]) -> View:
    """Return a view whose response has only `id` and the fields of the parameter `fields`, if it is present."""
    dump_schema = schema()
    known_names = frozenset(str(field.data_key) for field in dump_schema.dump_fields.values())

    @wraps(view)
    def wrapper(**arguments: object) -> object:
        names = _parse_field_names(request.args.get("fields"), known_names)
        result = view(**arguments)
        if names is None or isinstance(result, Response):
            return result
        body, *rest = result if isinstance(result, tuple) else (result,)
        partial_body = PartialResponse({name: value for name, value in dump_schema.dump(body).items() if name in names})
        return (partial_body, *rest) if rest else partial_body

    return wrapper


def _parse_field_names(fields_parameter: str | None, known_names: frozenset[str]) -> frozenset[str] | None:
    if fields_parameter is None or not fields_parameter.strip():
        return None
    names = {name.strip() for name in fields_parameter.split(",") if name.strip()}
    unknown = sorted(names - known_names)
    if unknown:
        raise ValidationFailed(
            [
                {"path": "fields", "code": "unknown_field", "message": f"{name[:80]} is not a field here."}
                for name in unknown[:20]
            ]
        )
    return frozenset(names | {"id"})
