"""Parsing of bodies and queries. Invalid input becomes a 4xx that names the problem.

JSON is parsed strictly by RFC 8259; the extensions that Python accepts are refused by name.
"""

import json
from collections.abc import Sequence
from functools import wraps
from typing import NoReturn

import marshmallow
from flask import Request, request
from marshmallow import fields, missing
from webargs.core import is_json
from webargs.flaskparser import FlaskParser
from webargs.multidictproxy import MultiDictProxy
from werkzeug.datastructures import CombinedMultiDict

from app.core.errors import MalformedJson, TooLarge, UnsupportedMedia, ValidationFailed
from app.web.schema import Schema, has_amounts, to_validation_failed
from app.web.types import JsonObject, View


class Parser(FlaskParser):
    """The webargs parser with the errors of this API and strict JSON. `multipart` is one location for fields and files."""

    __location_map__ = {**FlaskParser.__location_map__, "multipart": "load_multipart"}
    DEFAULT_UNKNOWN_BY_LOCATION = {
        **FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION,
        "json": None,
        "query": None,
        "multipart": None,
    }

    def load_json(self, req: Request, schema: marshmallow.Schema) -> object:
        raw = read_body(req)
        if not raw.strip():
            return missing
        if not is_json(req.mimetype):
            raise UnsupportedMedia("Send the body as application/json.")
        return parse_json(raw, unique_keys=has_amounts(schema))

    def load_querystring(self, req: Request, schema: marshmallow.Schema) -> object:
        """Return the query as a plain dict if no parameter may repeat: lookups in it are faster than in a multidict."""
        if any(isinstance(field, fields.List) for field in schema.load_fields.values()):
            return super().load_querystring(req, schema)
        return req.args.to_dict()

    def load_multipart(self, req: Request, schema: marshmallow.Schema) -> MultiDictProxy:
        if req.mimetype != "multipart/form-data" and (req.content_length or read_body(req)):
            raise UnsupportedMedia("Send the body as multipart/form-data.")
        return MultiDictProxy(CombinedMultiDict([req.form, req.files]), schema)

    def handle_error(
        self, error: marshmallow.ValidationError, req: Request, schema: marshmallow.Schema, **_: object
    ) -> NoReturn:
        (messages,) = error.messages_dict.values()
        raise to_validation_failed(messages, schema) from error


PARSER = Parser()


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
        for schema, location in schemas:
            try:
                arguments |= PARSER.parse(schema, request, location=location)
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
JsonPath = tuple["JsonPath", str | int] | tuple[()]
"""The path of a value: (the path of its container, its name or index). The path of the body is ()."""


def parse_json(raw: bytes, *, unique_keys: bool) -> object:
    """Return the value of `raw`. Raises MalformedJson, or ValidationFailed for numbers and texts that cannot be stored."""
    try:
        value = json.loads(
            raw.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            parse_int=_parse_integer,
            object_pairs_hook=_require_unique_keys if unique_keys else None,
        )
    except (ValueError, RecursionError) as error:
        raise MalformedJson(_format_message(error)) from error
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
