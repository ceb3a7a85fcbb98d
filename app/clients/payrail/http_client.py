"""One question to a rail over HTTP, and its answer: signed, bounded in time and size, repeated only where that is safe.

What a question means and what an answer says is the adapter's affair (`live.py`).
"""

import random
import secrets
import time
from dataclasses import dataclass
from typing import Any

import structlog

from app.clients.deadline import deadline, remaining_seconds
from app.clients.http_connection import BROKEN, NEVER_LEFT, Connection
from app.clients.payrail import message_parsing, signing
from app.clients.payrail.breaker import Breaker, Permit
from app.clients.payrail.credentials import Account
from app.core.metrics import Counter, Histogram
from app.core.telemetry.spans import span
from app.core.transaction import assert_no_transaction

TRIES, PAUSE, LONGEST_PAUSE = 3, 0.2, 2.0
CALLS = Counter(
    "commerce_rail_calls_total",
    "Exchanges with the payment rail, repeats included, by method and outcome: answered, no_answer, busy, not_signed, "
    "breaker_open (not made).",
    ("method", "outcome"),
)
SECONDS = Histogram("commerce_rail_call_seconds", "Seconds that an exchange with the payment rail took.", ("method",))
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Answer:
    """What the rail said: an HTTP status below 500 and the object in its body."""

    status: int
    said: dict[str, Any]


class NoAnswer(Exception):
    """The rail has said nothing that counts. `reached` is whether the question may have been acted upon.

    `again_after` is the pause after which it may be asked again although it is not repeatable, None for not at all.
    """

    def __init__(self, problem: str, *, reached: bool, again_after: float | None = None) -> None:
        super().__init__(problem)
        self.problem, self.reached, self.again_after = problem, reached, again_after


class Exchange:
    """Questions to one rail, from all threads of a process."""

    def __init__(self, account: Account, breaker: Breaker) -> None:
        self._account, self._breaker, self._line = (
            account,
            breaker,
            Connection(account.url, connect=account.connect, largest=message_parsing.LARGEST),
        )

    def ask(
        self, method: str, path: str, said: dict[str, Any] | None = None, *, reference: str, repeatable: bool = False
    ) -> Answer:
        """The answer, within the total time whatever the other side does. Raises NoAnswer.

        A question that may be repeated (it changes nothing) is asked again after any failure; any other one only when
        it surely was not acted upon: no connection, or a refusal (429, or 503 with Retry-After) that says so.
        """
        assert_no_transaction()
        body = b"" if said is None else message_parsing.dumped(said)
        tried, reached = 0, False
        with deadline(self._account.total):
            while True:
                tried += 1
                try:
                    return self._guarded(method, self._line.prefix + path, body, reference)
                except NoAnswer as missed:
                    pause, reached = _pause(missed, tried, repeatable), reached or missed.reached
                    log.warning("payrail.no_answer", problem=missed.problem, reference=reference, tried=tried)
                    if pause is None or pause >= remaining_seconds():
                        # What an earlier try may have done, a later one that came to nothing does not undo.
                        raise NoAnswer(missed.problem, reached=reached) from missed
                time.sleep(pause)

    def reachable(self, seconds: float) -> bool:
        """Whether anything like a rail answers. Neither the breaker nor a signature takes part."""
        try:
            with deadline(seconds):
                return self._line.send("GET", f"{self._line.prefix}/v1/health", b"", []).status < 500
        except BROKEN:
            return False

    def breaker_state(self) -> str | None:
        """`closed`, `half_open` or `open`; None when nobody knows."""
        return self._breaker.state()

    def _guarded(self, method: str, path: str, body: bytes, reference: str) -> Answer:
        permit = self._breaker.permit()
        if permit is Permit.NONE:
            CALLS.add(method, "breaker_open")
            raise NoAnswer("breaker_open", reached=False)
        sound, outcome, started = False, "no_answer", time.monotonic()
        try:
            with span(f"rail {method}", method=method):
                answer, sound, outcome = self._exchange(method, path, body, reference), True, "answered"
        except NoAnswer as missed:
            if missed.problem in ("not_signed", "busy"):
                sound, outcome = True, missed.problem
            raise
        finally:
            CALLS.add(method, outcome)
            SECONDS.observe(time.monotonic() - started, method)
            (self._breaker.succeeded if sound else self._breaker.failed)(permit)
        return answer

    def _exchange(self, method: str, path: str, body: bytes, reference: str) -> Answer:
        try:
            came = self._line.send(method, path, body, self._signed(method, path, body, reference))
        except BROKEN as error:
            reached = not isinstance(error, NEVER_LEFT)
            raise NoAnswer(type(error).__name__, reached=reached, again_after=None if reached else PAUSE) from error
        _check(came.status, came.headers)
        try:
            return Answer(came.status, message_parsing.message(came.body))
        except message_parsing.Unreadable as error:
            raise NoAnswer(f"unreadable: {error}", reached=True) from None

    def _signed(self, method: str, path: str, body: bytes, reference: str) -> list[tuple[str, str]]:
        key, timestamp, nonce = self._account.key, str(int(time.time())), secrets.token_hex(16)
        signature = signing.request_signature(
            self._account.secret, key=key, timestamp=timestamp, nonce=nonce, method=method, path=path, body=body
        )
        return [
            (signing.KEY, key),
            (signing.TIMESTAMP, timestamp),
            (signing.NONCE, nonce),
            (signing.SIGNATURE, signature),
            ("Idempotency-Key", reference),
        ]


def _check(status: int, headers: dict[str, str]) -> None:
    """Raises NoAnswer for a status that says nothing of the matter."""
    wait = headers.get("retry-after", "")
    seconds = float(wait) if wait.isascii() and wait.isdigit() and len(wait) < 6 else None
    if status == 429 or (status == 503 and seconds is not None):
        # A 503 may be that of a proxy which had passed the question on: the same may be asked again, not forgotten.
        problem = "busy" if status == 429 else "closed"
        raise NoAnswer(problem, reached=status == 503, again_after=PAUSE if seconds is None else max(seconds, PAUSE))
    if status in (401, 403):
        log.error("payrail.not_signed", status=status)
        raise NoAnswer("not_signed", reached=False)
    if status >= 500 or 300 <= status < 400 or status < 200:
        raise NoAnswer(f"status {status}", reached=True)


def _pause(missed: NoAnswer, tried: int, repeatable: bool) -> float | None:
    """How long to wait before asking again, None for never."""
    if tried >= TRIES or missed.problem in ("breaker_open", "not_signed"):
        return None
    if missed.again_after is None and not repeatable:
        return None
    pause = max(missed.again_after or 0.0, PAUSE * 2 ** (tried - 1)) * random.uniform(1.0, 1.25)
    return pause if pause <= LONGEST_PAUSE else None
