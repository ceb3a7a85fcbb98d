"""JSON as RFC 8259 has it. What Python would take beyond that is refused, with a sentence that says what it was."""

import json
from typing import Any

from app.core.errors import MalformedJson, ValidationFailed

DEPTH = 20
DIGITS = 400
TOLD = 100
INFINITE = (float("inf"), float("-inf"))
SENTENCES = {
    "too_large": "This number is too large.",
    "invalid_characters": "Lone surrogates are not Unicode text.",
}
Place = tuple[Any, ...]
"""Where a value stands: (the place of what holds it, its name or index); the body itself is ()."""


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
        raise MalformedJson(_sentence(error)) from error
    problems: list[dict[str, str]] = []
    _inspect(value, (), 1, problems)
    if problems:
        raise ValidationFailed(problems[:TOLD])
    return value


class _Refused(ValueError):
    """JSON that Python would take and this service does not."""


def _sentence(error: Exception) -> str | None:
    if isinstance(error, json.JSONDecodeError):
        return f"The body is not valid JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}."
    if isinstance(error, RecursionError):
        return f"The body is nested more than {DEPTH} deep."
    return str(error) if isinstance(error, _Refused) else "The body is not valid JSON in UTF-8."


def _refused_constant(name: str) -> Any:
    raise _Refused(f"The body is not valid JSON: {name} is no JSON number.")


def _integer(digits: str) -> int | float:
    """What a database and an answer can carry: 64 bits, and a double beyond that."""
    if len(digits) > DIGITS:
        return INFINITE[0]
    number = int(digits)
    return number if -(2**63) <= number < 2**63 else float(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _Refused("The body is not valid JSON: a name occurs twice in one object.")
    return dict(pairs)


def _inspect(value: Any, place: Place, depth: int, problems: list[dict[str, str]]) -> None:
    if isinstance(value, dict | list):
        if depth > DEPTH:
            raise MalformedJson(f"The body is nested more than {DEPTH} deep.")
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(step, str) and not _is_text(step):
                _tell("invalid_characters", (place, step), problems)
            _inspect(inner, (place, step), depth + 1, problems)
    elif isinstance(value, str):
        if not _is_text(value):
            _tell("invalid_characters", place, problems)
    elif isinstance(value, float) and value in INFINITE:
        _tell("too_large", place, problems)


def _is_text(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tell(code: str, place: Place, problems: list[dict[str, str]]) -> None:
    problems.append({"path": _path(place), "code": code, "message": SENTENCES[code]})


def _path(place: Place) -> str:
    if not place:
        return ""
    outer, step = _path(place[0]), place[1]
    if isinstance(step, int):
        return f"{outer}[{step}]"
    name = step[:TOLD].encode("utf-8", "replace").decode()
    return f"{outer}.{name}" if outer else name
