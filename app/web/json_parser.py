"""A strict parser of JSON (RFC 8259). It refuses the extensions that Python accepts, with a message that names them."""

import json
from typing import NoReturn

from app.core.errors import MalformedJson, ValidationFailed
from app.web.types import JsonObject

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
