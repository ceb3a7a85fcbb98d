"""Parsing of bodies and queries. Invalid input becomes a 4xx that names the problem.

JSON is parsed strictly by RFC 8259; the extensions that Python accepts are refused by name.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NoReturn

import marshmallow
from flask import Request, request
from marshmallow import fields
from webargs.core import is_json
from webargs.multidictproxy import MultiDictProxy
from werkzeug.datastructures import CombinedMultiDict

from app.core.errors import MalformedJson, TooLarge, UnsupportedMedia, ValidationFailed
from app.web.schema import Schema, has_amounts, to_validation_failed
from app.web.types import JsonObject, View


def parse_request(req: Request, schema: marshmallow.Schema, location: str) -> JsonObject:
    """Return the values of a body or a query. Raises ValidationFailed and the errors of an unreadable body."""
    try:
        values: JsonObject = schema.load(LOADERS[location](req, schema))
        return values
    except marshmallow.ValidationError as error:
        raise to_validation_failed(error.messages, schema) from error


def _load_json(req: Request, schema: marshmallow.Schema) -> Any:
    raw = read_body(req)
    if not raw.strip():
        return {}
    if not is_json(req.mimetype):
        raise UnsupportedMedia("Send the body as application/json.")
    return parse_json(raw, unique_keys=has_amounts(schema))


def _load_query(req: Request, schema: marshmallow.Schema) -> Mapping[str, Any]:
    """Return the query as a plain dict if no parameter may repeat: lookups in it are faster than in a multidict."""
    if any(isinstance(field, fields.List) for field in schema.load_fields.values()):
        return MultiDictProxy(req.args, schema)
    return req.args.to_dict()


def _load_multipart(req: Request, schema: marshmallow.Schema) -> Mapping[str, Any]:
    """Return the fields and the files of a multipart body."""
    if req.mimetype != "multipart/form-data" and (req.content_length or read_body(req)):
        raise UnsupportedMedia("Send the body as multipart/form-data.")
    return MultiDictProxy(CombinedMultiDict([req.form, req.files]), schema)


LOADERS: Mapping[str, Callable[[Request, marshmallow.Schema], Any]] = {
    "json": _load_json,
    "query": _load_query,
    "multipart": _load_multipart,
}


def read_body(req: Request) -> bytes:
    """Return the body. Werkzeug cuts a chunked body at the limit, so one that fills the limit is refused."""
    if not req.environ.get("CONTENT_LENGTH") and "HTTP_TRANSFER_ENCODING" not in req.environ:
        return b""
    raw = req.get_data(cache=True)
    if req.content_length is None and req.max_content_length is not None and len(raw) >= req.max_content_length:
        raise TooLarge()
    return raw


def with_parsed_request(
    view: View, request_schemas: Sequence[tuple[type[Schema], str]], *, max_bytes: int | None
) -> View:
    """Return a view that passes the parsed request to `view` as keyword arguments.

    A body that cannot be read is refused first. After that, one response reports all problems of body and query.
    """
    schemas = [(schema(), location) for schema, location in request_schemas]
    apidoc_arguments = {
        "parameters": [{"in": location, "required": True, "schema": schema} for schema, location in schemas]
    }
    view._apidoc = {**getattr(view, "_apidoc", {}), "arguments": apidoc_arguments}  # type: ignore[attr-defined]
    if not schemas and max_bytes is None:
        return view

    @wraps(view)
    def wrapper(**arguments: object) -> object:
        if max_bytes is not None:
            _limit_body_size(max_bytes)
        problems: list[dict[str, str]] = []
        req: Request = request._get_current_object()  # type: ignore[attr-defined]
        for schema, location in schemas:
            try:
                arguments |= parse_request(req, schema, location)
            except ValidationFailed as error:
                problems += error.data["errors"]
        if problems:
            raise ValidationFailed(problems)
        return view(**arguments)

    return wrapper


def _limit_body_size(max_bytes: int) -> None:
    request.max_content_length = max_bytes
    if (request.content_length or 0) > max_bytes:
        raise TooLarge(f"The body may have {max_bytes} bytes at most.")


MAX_DEPTH = 20
MAX_DIGITS = 400
MAX_PROBLEMS = 100
INFINITIES = (float("inf"), float("-inf"))
MESSAGE_BY_CODE = {
    "too_large": "This number is too large.",
    "invalid_characters": "Lone surrogates are not Unicode text.",
}
_SUSPECT = re.compile(rb"\\u|[0-9][eE][+]?0*[0-9]{3}|[0-9]{200}")
"""Without escapes in UTF-8 no surrogate is alone; without such numbers none is infinite. Then nobody looks for them."""
JsonPath = tuple["JsonPath", str | int] | tuple[()]
"""The path of a value: (the path of its container, its name or index). The path of the body is ()."""


def parse_json(raw: bytes, *, unique_keys: bool) -> object:
    """Return the value of `raw`. Raises MalformedJson, or ValidationFailed for numbers and texts that cannot be stored."""
    try:
        value = (UNIQUE_KEYS_DECODER if unique_keys else DECODER).decode(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise MalformedJson(_format_message(error)) from error
    if raw.count(b"{") + raw.count(b"[") <= MAX_DEPTH and not _SUSPECT.search(raw):
        return value
    problems: list[dict[str, str]] = []
    _collect_problems(value, (), 1, problems)
    if problems:
        raise ValidationFailed(problems[:MAX_PROBLEMS])
    return value


class _JsonRefused(ValueError):
    """JSON that Python accepts and this service refuses."""


def _format_message(error: Exception) -> str | None:
    if isinstance(error, json.JSONDecodeError):
        return f"The body is not valid JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}."
    if isinstance(error, RecursionError):
        return f"The body is nested more than {MAX_DEPTH} deep."
    return str(error) if isinstance(error, _JsonRefused) else "The body is not valid JSON in UTF-8."


def _refuse_constant(name: str) -> NoReturn:
    raise _JsonRefused(f"The body is not valid JSON: {name} is no JSON number.")


def _parse_integer(digits: str) -> int | float:
    """Return an integer of 64 bits, or a double beyond that: database and response can hold no more."""
    if len(digits) > MAX_DIGITS:
        return INFINITIES[0]
    number = int(digits)
    return number if -(2**63) <= number < 2**63 else float(digits)


def _require_unique_keys(pairs: list[tuple[str, object]]) -> JsonObject:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _JsonRefused("The body is not valid JSON: a name occurs twice in one object.")
    return dict(pairs)


DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_parse_integer)
UNIQUE_KEYS_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_parse_integer, object_pairs_hook=_require_unique_keys
)


def _collect_problems(value: object, path: JsonPath, depth: int, problems: list[dict[str, str]]) -> None:
    if isinstance(value, dict | list):
        if depth > MAX_DEPTH:
            raise MalformedJson(f"The body is nested more than {MAX_DEPTH} deep.")
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, str) and not _is_encodable(key):
                _append_problem("invalid_characters", (path, key), problems)
            _collect_problems(member, (path, key), depth + 1, problems)
    elif isinstance(value, str):
        if not _is_encodable(value):
            _append_problem("invalid_characters", path, problems)
    elif isinstance(value, float) and value in INFINITIES:
        _append_problem("too_large", path, problems)


def _is_encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _append_problem(code: str, path: JsonPath, problems: list[dict[str, str]]) -> None:
    problems.append({"path": _format_path(path), "code": code, "message": MESSAGE_BY_CODE[code]})


def _format_path(path: JsonPath) -> str:
    if not path:
        return ""
    parent, key = _format_path(path[0]), path[1]
    if isinstance(key, int):
        return f"{parent}[{key}]"
    name = key[:MAX_PROBLEMS].encode("utf-8", "replace").decode()
    return f"{parent}.{name}" if parent else name
