"""A gateway over HTTP for short messages, by the protocol of docs/subscriptions.md: one POST, one answer.

    https://token@host/path        Authorization: Bearer token
    https://user:secret@host/path  Authorization: Basic …

An adapter for a provider stands outside, as a small service that speaks this protocol to us.
"""

import json
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from app.clients.deadline import deadline
from app.clients.errors import PermanentAddressError
from app.clients.http_connection import BROKEN, NEVER_LEFT, Connection, HttpResponse
from app.core.jobs import Ambiguous, Permanent, Transient

TOTAL, LONGEST = 15.0, 200
LATER = frozenset({401, 403, 404, 405, 407, 408, 425, 429})
"""No word about the message: it came too early, or our account or the address of the gateway is not in order."""
NOBODY = 410
"""Not 404: a wrong path in the setting answers that, and would end every number of an audience for good."""
UNCLEAR = frozenset({502, 504})
"""Said by something in between, which does not know what became of the message."""


def post(url: str, said: dict[str, Any], *, key: str, fence: Callable[[], None]) -> str:
    """What the gateway calls the message, after `fence` and within 15 s; our own key when it names none.

    The same key is the same message, however often it comes: a gateway that keeps to it sends it once.
    Raises AddressRefused, Permanent, Transient, Ambiguous.
    """
    line, body = _line(url), json.dumps({"id": key, **said}, ensure_ascii=False, separators=(",", ":")).encode()
    headers = [("Idempotency-Key", key), ("User-Agent", "event-commerce"), *_who_we_are(url)]
    fence()
    try:
        with deadline(TOTAL):
            answer = line.send("POST", line.prefix or "/", body, headers)
    except NEVER_LEFT as error:
        raise Transient(f"the gateway cannot be reached: {type(error).__name__}") from error
    except BROKEN as error:
        raise Ambiguous(f"the message was handed over and no answer came: {type(error).__name__}") from error
    _check(answer)
    return _reference(answer.body) or key


def _check(answer: HttpResponse) -> None:
    status, result = answer.status, f"the gateway answered {answer.status}{_reason(answer.body)}"
    if 200 <= status < 300:
        return
    if status == NOBODY:
        raise PermanentAddressError(result)
    if status in UNCLEAR:
        raise Ambiguous(result)
    if 400 <= status < 500 and status not in LATER:
        raise Permanent(result)
    raise Transient(result)


def _reference(body: bytes) -> str | None:
    return _word(body, "reference")


def _reason(body: bytes) -> str:
    reason = _word(body, "error")
    return f": {reason}" if reason else ""


def _word(body: bytes, name: str) -> str | None:
    """A short text of the answer's object. An answer that is none says only what its status says."""
    try:
        data = json.loads(body)
        value = data.get(name) if isinstance(data, dict) else None
    except (ValueError, RecursionError):
        return None
    return value[:LONGEST] if isinstance(value, str) and value and value.isprintable() else None


def _who_we_are(url: str) -> list[tuple[str, str]]:
    parts = urlsplit(url)
    if not parts.username:
        return []
    user, secret = unquote(parts.username), unquote(parts.password or "")
    if not secret:
        return [("Authorization", f"Bearer {user}")]
    return [("Authorization", f"Basic {b64encode(f'{user}:{secret}'.encode()).decode()}")]


@cache
def _line(url: str) -> Connection:
    return Connection(url)
