"""What may come over the wire: JSON objects of a bounded size, in which nothing is said twice."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

LARGEST = 64 * 1024
MOST = 2**53 - 1


class Unreadable(ValueError):
    """These bytes are no message of the rail."""


def message(raw: bytes) -> dict[str, Any]:
    """The object in `raw`. Raises Unreadable for anything else, for repeated names and for what is no JSON number."""
    if len(raw) > LARGEST:
        raise Unreadable("too large")
    try:
        data = json.loads(raw.decode("utf-8"), parse_constant=_refused, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise Unreadable(type(error).__name__) from None
    if not isinstance(data, dict):
        raise Unreadable("not an object")
    return data


def word(values: dict[str, Any], name: str, longest: int) -> str:
    """A text of 1 to `longest` characters. Raises Unreadable."""
    value = values.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= longest or not value.isprintable():
        raise Unreadable(name)
    return value


def amount(values: dict[str, Any], name: str = "amountMinor") -> int:
    """A whole number of cents, 1 or more. Raises Unreadable."""
    value = values.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= MOST:
        raise Unreadable(name)
    return value


def moment(values: dict[str, Any], name: str = "at") -> datetime:
    """A time with its offset. Raises Unreadable."""
    try:
        value = datetime.fromisoformat(word(values, name, 40))
    except ValueError:
        raise Unreadable(name) from None
    if value.tzinfo is None:
        raise Unreadable(name)
    return value


def dumped(said: dict[str, Any]) -> bytes:
    """The bytes of a message."""
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()


def _refused(name: str) -> Any:
    raise ValueError(name)


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("repeated name")
    return values
