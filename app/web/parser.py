"""Reading bodies and queries: hostile input ends here, as a 4xx that says what it was."""

import json
from typing import Any

import marshmallow
from flask import Request
from marshmallow.utils import missing
from webargs.core import is_json
from webargs.flaskparser import FlaskParser
from webargs.multidictproxy import MultiDictProxy
from werkzeug.datastructures import CombinedMultiDict

from app.core.errors import MalformedJson, UnsupportedMedia, ValidationFailed
from app.web.schema import failure

DEPTH = 20
DIGITS = 40


class Parser(FlaskParser):
    """webargs with our errors, strict JSON, and files beside form fields as one location."""

    __location_map__ = {**FlaskParser.__location_map__, "multipart": "load_multipart"}
    DEFAULT_UNKNOWN_BY_LOCATION = {
        **FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION,
        "query": None,
        "multipart": None,
    }

    def load_json(self, req: Request, schema: marshmallow.Schema) -> Any:
        raw = req.get_data(cache=True)
        if not raw.strip():
            return missing
        if not is_json(req.mimetype):
            raise UnsupportedMedia("Send the body as application/json.")
        return strict_json(raw, unique_keys=_carries_money(schema))

    def load_multipart(self, req: Request, schema: marshmallow.Schema) -> Any:
        if req.mimetype != "multipart/form-data" and req.content_length:
            raise UnsupportedMedia("Send the body as multipart/form-data.")
        return MultiDictProxy(CombinedMultiDict([req.form, req.files]), schema)

    def handle_error(
        self, error: marshmallow.ValidationError, req: Request, schema: marshmallow.Schema, **_: Any
    ) -> Any:
        messages = error.messages
        if isinstance(messages, dict) and len(messages) == 1:
            messages = next(iter(messages.values()))
        raise failure(messages if isinstance(messages, dict) else {"_schema": messages}, schema) from error


def _carries_money(schema: marshmallow.Schema) -> bool:
    return any((field.data_key or "").endswith("Minor") for field in schema.load_fields.values())


def strict_json(raw: bytes, *, unique_keys: bool) -> Any:
    """The value in `raw`. Raises MalformedJson, or ValidationFailed for numbers and text nothing can hold."""
    try:
        value = json.loads(
            raw.decode("utf-8-sig"),
            parse_constant=_refused_constant,
            parse_int=_integer,
            object_pairs_hook=_unique if unique_keys else None,
        )
    except (ValueError, RecursionError) as error:
        raise MalformedJson(_where(error)) from error
    problems: list[dict[str, str]] = []
    _inspect(value, "", DEPTH, problems)
    if problems:
        raise ValidationFailed(problems)
    return value


def _where(error: Exception) -> str | None:
    if isinstance(error, json.JSONDecodeError):
        return f"The body is not valid JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}."
    return str(error) if isinstance(error, _Refused) else None


class _Refused(ValueError):
    """JSON that Python would take and this service does not."""


def _refused_constant(name: str) -> Any:
    raise _Refused(f"The body is not valid JSON: {name} is no JSON number.")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= DIGITS else float("inf")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _Refused("The body is not valid JSON: a name occurs twice in one object.")
    return dict(pairs)


def _inspect(value: Any, path: str, depth: int, problems: list[dict[str, str]]) -> None:
    if depth < 0:
        raise MalformedJson(f"The body is nested more than {DEPTH} deep.")
    if isinstance(value, dict):
        for name, inner in value.items():
            step = _sayable(name)
            if step != name:
                problems.append(_entry(f"{path}.{step}".lstrip("."), "invalid_characters"))
            _inspect(inner, f"{path}.{step}".lstrip("."), depth - 1, problems)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _inspect(inner, f"{path}[{index}]", depth - 1, problems)
    elif isinstance(value, str) and _sayable(value) != value:
        problems.append(_entry(path, "invalid_characters"))
    elif isinstance(value, float) and value in (float("inf"), float("-inf")):
        problems.append(_entry(path, "too_large"))


def _entry(path: str, code: str) -> dict[str, str]:
    sentence = {
        "too_large": "This number is too large.",
        "invalid_characters": "Lone surrogates are not Unicode text.",
    }[code]
    return {"path": path, "code": code, "message": sentence}


def _sayable(text: str) -> str:
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
