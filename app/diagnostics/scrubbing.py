"""Client reports made safe to keep: control characters escaped, secrets masked, size bounded."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from app.core.logs import scrubbed

TEXT, ENTRIES, DEPTH = 2000, 50, 5


def safe(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event as it may stand in the database and in a log line."""
    bounded: dict[str, Any] = _bounded(event, DEPTH)
    return dict(scrubbed(None, "", bounded))


def _bounded(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return escaped(value)[:TEXT]
    if isinstance(value, Mapping):
        if depth == 0:
            return "[deeper]"
        return {escaped(str(name))[:80]: _bounded(value[name], depth - 1) for name in list(value)[:ENTRIES]}
    if isinstance(value, list):
        return [_bounded(item, depth - 1) for item in value[:ENTRIES]] if depth else "[deeper]"
    return value


def escaped(text: str) -> str:
    """Control and direction characters as `\\u….`; everything else as it is."""
    return "".join(
        item if unicodedata.category(item) not in ("Cc", "Cf", "Cs") else f"\\u{ord(item):04x}" for item in text
    )
