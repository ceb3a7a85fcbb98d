"""Client of a gateway for SMS and push messages, by the protocol of docs/subscriptions.md: one POST per message.

    https://token@host/path        Authorization: Bearer token
    https://user:secret@host/path  Authorization: Basic …

An adapter for a provider is a separate small service that speaks this protocol.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from urllib.parse import unquote, urlsplit

from app.clients.deadline import deadline
from app.clients.http_connection import NOT_SENT, TRANSPORT_ERRORS, Connection, HttpResponse
from app.clients.message import PermanentAddressError
from app.core.jobs import Ambiguous, Permanent, Transient

TOTAL_SECONDS, MAX_TEXT_LENGTH = 15.0, 200
TRANSIENT_STATUSES = frozenset({401, 403, 404, 405, 407, 408, 425, 429})
"""These do not refuse the message: it came too early, or our credentials or the URL of the gateway are wrong."""
ADDRESS_GONE = 410
"""Not 404: a wrong path in the setting gives that, and would suppress every number of an audience."""
AMBIGUOUS_STATUSES = frozenset({502, 504})
"""From a proxy, which does not know whether the gateway got the message."""


def post(url: str, fields: Mapping[str, str | None], *, key: str, fence: Callable[[], None]) -> str:
    """Send a message after `fence`, within 15 s; return the gateway's reference, or our key without one.

    A gateway sends messages with the same key once. Raises PermanentAddressError, Permanent, Transient, Ambiguous.
    """
    connection = _get_connection(url)
    body = json.dumps({"id": key, **fields}, ensure_ascii=False, separators=(",", ":")).encode()
    headers = [("Idempotency-Key", key), ("User-Agent", "event-commerce"), *_build_authorization(url)]
    fence()
    try:
        with deadline(TOTAL_SECONDS):
            response = connection.send("POST", connection.prefix or "/", body, headers)
    except NOT_SENT as error:
        raise Transient(f"the gateway cannot be reached: {type(error).__name__}") from error
    except TRANSPORT_ERRORS as error:
        raise Ambiguous(f"the message was handed over and no answer came: {type(error).__name__}") from error
    _check_status(response)
    return _parse_text(response.body, "reference") or key


def _check_status(response: HttpResponse) -> None:
    status, reason = response.status, _parse_text(response.body, "error")
    problem = f"the gateway answered {status}" + (f": {reason}" if reason else "")
    if 200 <= status < 300:
        return
    if status == ADDRESS_GONE:
        raise PermanentAddressError(problem)
    if status in AMBIGUOUS_STATUSES:
        raise Ambiguous(problem)
    if 400 <= status < 500 and status not in TRANSIENT_STATUSES:
        raise Permanent(problem)
    raise Transient(problem)


def _parse_text(body: bytes, name: str) -> str | None:
    """A short text of the JSON object in a response; None if the body has none."""
    try:
        data = json.loads(body)
        value = data.get(name) if isinstance(data, dict) else None
    except (ValueError, RecursionError):
        return None
    return value[:MAX_TEXT_LENGTH] if isinstance(value, str) and value and value.isprintable() else None


def _build_authorization(url: str) -> list[tuple[str, str]]:
    parts = urlsplit(url)
    if not parts.username:
        return []
    user, secret = unquote(parts.username), unquote(parts.password or "")
    if not secret:
        return [("Authorization", f"Bearer {user}")]
    return [("Authorization", f"Basic {b64encode(f'{user}:{secret}'.encode()).decode()}")]


@cache
def _get_connection(url: str) -> Connection:
    return Connection(url)
