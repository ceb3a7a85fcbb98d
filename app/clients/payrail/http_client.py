"""HTTP client of the rail: signed requests, limited in time and size, repeated only where that is safe.

`http_rail.py` decides what requests and responses mean.
"""

import random
import secrets
import time
from dataclasses import dataclass, field

import structlog

from app.clients.deadline import deadline, remaining_seconds
from app.clients.http_connection import NOT_SENT, TRANSPORT_ERRORS, Connection
from app.clients.payrail import message_parsing, signing
from app.clients.payrail.breaker import Breaker, Permit
from app.clients.payrail.message_parsing import JsonObject
from app.core.metrics import Counter, Histogram
from app.core.telemetry.spans import span
from app.core.transaction import assert_no_transaction

MAX_TRIES, MIN_PAUSE, MAX_PAUSE = 3, 0.2, 2.0
CALLS = Counter(
    "commerce_rail_calls_total",
    "Exchanges with the payment rail, repeats included, by method and outcome: answered, no_answer, busy, not_signed, "
    "breaker_open (not made).",
    ("method", "outcome"),
)
SECONDS = Histogram("commerce_rail_call_seconds", "Seconds that an exchange with the payment rail took.", ("method",))
log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Our account at a rail: its URL, our key and secret, and the timeouts in seconds to connect and in all."""

    url: str
    key: str = field(repr=False)
    secret: str = field(repr=False)
    connect: float = 3.0
    total: float = 15.0


@dataclass(frozen=True)
class RailResponse:
    """A response of the rail with a status below 500, and the object in its body."""

    status: int
    message: JsonObject


class NoUsableResponse(Exception):
    """The rail gave no usable response. `reached` is whether it may have acted on the request.

    `retry_after` is the pause in seconds after which even a request that is not repeatable may be sent again; None
    forbids it.
    """

    def __init__(self, problem: str, *, reached: bool, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.problem, self.reached, self.retry_after = problem, reached, retry_after


class RailClient:
    """Sends requests to one rail, from all threads of a process."""

    def __init__(self, credentials: Credentials, breaker: Breaker) -> None:
        self._credentials, self._breaker = credentials, breaker
        self._connection = Connection(
            credentials.url, connect=credentials.connect, max_body_bytes=message_parsing.MAX_BYTES
        )

    def send(
        self, method: str, path: str, message: JsonObject | None = None, *, reference: str, repeatable: bool = False
    ) -> RailResponse:
        """Send a request; return the response within the total timeout. Raises NoUsableResponse.

        A repeatable request (it changes nothing) is sent again after any failure; any other only when the rail
        certainly did not act on it: no connection, or a refusal (429, or 503 with Retry-After).
        """
        assert_no_transaction()
        body = b"" if message is None else message_parsing.encode_message(message)
        tries, reached = 0, False
        with deadline(self._credentials.total):
            while True:
                tries += 1
                try:
                    return self._send_guarded(method, self._connection.prefix + path, body, reference)
                except NoUsableResponse as failure:
                    pause, reached = _choose_pause(failure, tries, repeatable), reached or failure.reached
                    log.warning("payrail.no_answer", problem=failure.problem, reference=reference, tries=tries)
                    if pause is None or pause >= remaining_seconds():
                        # An earlier try may have reached the rail even if the last did not.
                        raise NoUsableResponse(failure.problem, reached=reached) from failure
                time.sleep(pause)

    def reachable(self, seconds: float) -> bool:
        """Whether the health URL responds. It uses neither the breaker nor a signature."""
        try:
            with deadline(seconds):
                return self._connection.send("GET", f"{self._connection.prefix}/v1/health", b"", []).status < 500
        except TRANSPORT_ERRORS:
            return False

    def breaker_state(self) -> str | None:
        """`closed`, `half_open` or `open`; None when unknown."""
        return self._breaker.state()

    def _send_guarded(self, method: str, path: str, body: bytes, reference: str) -> RailResponse:
        permit = self._breaker.permit()
        if permit is Permit.NONE:
            CALLS.add(method, "breaker_open")
            raise NoUsableResponse("breaker_open", reached=False)
        is_healthy, outcome, started_at = False, "no_answer", time.monotonic()
        try:
            with span(f"rail {method}", method=method):
                response = self._send_once(method, path, body, reference)
                is_healthy, outcome = True, "answered"
        except NoUsableResponse as failure:
            if failure.problem in ("not_signed", "busy"):
                is_healthy, outcome = True, failure.problem
            raise
        finally:
            CALLS.add(method, outcome)
            SECONDS.observe(time.monotonic() - started_at, method)
            (self._breaker.succeeded if is_healthy else self._breaker.failed)(permit)
        return response

    def _send_once(self, method: str, path: str, body: bytes, reference: str) -> RailResponse:
        try:
            response = self._connection.send(method, path, body, self._sign(method, path, body, reference))
        except TRANSPORT_ERRORS as error:
            reached = not isinstance(error, NOT_SENT)
            raise NoUsableResponse(
                type(error).__name__, reached=reached, retry_after=None if reached else MIN_PAUSE
            ) from error
        _check_status(response.status, response.headers)
        try:
            return RailResponse(response.status, message_parsing.parse_message(response.body))
        except message_parsing.Unreadable as error:
            raise NoUsableResponse(f"unreadable: {error}", reached=True) from None

    def _sign(self, method: str, path: str, body: bytes, reference: str) -> list[tuple[str, str]]:
        key, timestamp, nonce = self._credentials.key, str(int(time.time())), secrets.token_hex(16)
        signature = signing.request_signature(
            self._credentials.secret, key=key, timestamp=timestamp, nonce=nonce, method=method, path=path, body=body
        )
        return [
            (signing.KEY, key),
            (signing.TIMESTAMP, timestamp),
            (signing.NONCE, nonce),
            (signing.SIGNATURE, signature),
            ("Idempotency-Key", reference),
        ]


def _check_status(status: int, headers: dict[str, str]) -> None:
    """Raise NoUsableResponse for a status without information about the payment."""
    wait = headers.get("retry-after", "")
    seconds = float(wait) if wait.isascii() and wait.isdigit() and len(wait) < 6 else None
    if status == 429 or (status == 503 and seconds is not None):
        # A 503 may come from a proxy that had passed the request on: it may be repeated, but counts as reached.
        problem = "busy" if status == 429 else "closed"
        raise NoUsableResponse(
            problem, reached=status == 503, retry_after=MIN_PAUSE if seconds is None else max(seconds, MIN_PAUSE)
        )
    if status in (401, 403):
        log.error("payrail.not_signed", status=status)
        raise NoUsableResponse("not_signed", reached=False)
    if status >= 500 or 300 <= status < 400 or status < 200:
        raise NoUsableResponse(f"status {status}", reached=True)


def _choose_pause(failure: NoUsableResponse, tries: int, repeatable: bool) -> float | None:
    """The seconds to wait before the next try; None for no further try."""
    if tries >= MAX_TRIES or failure.problem in ("breaker_open", "not_signed"):
        return None
    if failure.retry_after is None and not repeatable:
        return None
    pause = max(failure.retry_after or 0.0, MIN_PAUSE * 2 ** (tries - 1)) * random.uniform(1.0, 1.25)
    return pause if pause <= MAX_PAUSE else None
