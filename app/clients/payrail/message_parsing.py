"""Parsing of the rail's messages: JSON objects of at most 64 KiB without repeated names."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

JsonObject = Mapping[str, object]
MAX_BYTES = 64 * 1024
MAX_AMOUNT = 2**53 - 1
MOCK_CODE = "123456"
"""The code of every charge of a mock rail."""


class Unreadable(ValueError):
    """The bytes are not a message of the rail; the text names the wrong field or the problem."""


def parse_message(raw: bytes) -> JsonObject:
    """Parse a JSON object. Raises Unreadable for anything else, for repeated names, and for NaN and infinities."""
    if len(raw) > MAX_BYTES:
        raise Unreadable("too large")
    try:
        data = json.loads(raw.decode("utf-8"), parse_constant=_reject_constant, object_pairs_hook=_build_object)
    except (ValueError, RecursionError) as error:
        raise Unreadable(type(error).__name__) from None
    if not isinstance(data, dict):
        raise Unreadable("not an object")
    return data


def parse_text(message: JsonObject, name: str, max_length: int) -> str:
    """A printable text of 1 to `max_length` characters. Raises Unreadable."""
    text = message.get(name)
    if not isinstance(text, str) or not 0 < len(text) <= max_length or not text.isprintable():
        raise Unreadable(name)
    return text


def parse_amount(message: JsonObject, name: str = "amountMinor") -> int:
    """A whole number of cents, 1 or more. Raises Unreadable."""
    amount = message.get(name)
    if not isinstance(amount, int) or isinstance(amount, bool) or not 0 < amount <= MAX_AMOUNT:
        raise Unreadable(name)
    return amount


def parse_time(message: JsonObject, name: str = "at") -> datetime:
    """A time with a UTC offset. Raises Unreadable."""
    try:
        moment = datetime.fromisoformat(parse_text(message, name, 40))
    except ValueError:
        raise Unreadable(name) from None
    if moment.tzinfo is None:
        raise Unreadable(name)
    return moment


def encode_message(message: JsonObject) -> bytes:
    """The JSON of a message."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def _reject_constant(name: str) -> object:
    raise ValueError(name)


def _build_object(pairs: Sequence[tuple[str, object]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("repeated name")
    return members
