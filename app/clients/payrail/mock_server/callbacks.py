"""Callbacks of the mock server: sent when an outcome becomes known, signed, and with the faults that are switched on."""

import random
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

import httpcore

from app.clients.payrail import message_parsing, signing
from app.clients.payrail.mock_rules import ChargeEntry, TransferEntry
from app.clients.payrail.mock_server.faults import Faults
from app.clients.payrail.mock_server.state import Memory

OPPOSITE = {
    "paid": "failed",
    "failed": "paid",
    "returned": "paid",
    "accepted": "failed",
    "declined": "paid",
    "refunded": "paid",
}
TRIES, WAIT = 5, {"connect": 3.0, "read": 5.0, "write": 5.0, "pool": 5.0}


@dataclass
class Letter:
    """One callback on its way."""

    due: float
    said: dict[str, Any]
    secret: str
    copies: int = 1
    tries: int = 0


class Caller:
    """Sends callbacks to one address in a thread of its own; none at all without an address."""

    def __init__(self, url: str | None, secret: str, book: Memory, faults: Faults) -> None:
        self._url, self._secret, self._book, self._faults = url, secret, book, faults
        self._waiting: list[Letter] = []
        self._changed, self._held, self._ended = Condition(), False, False
        self._pool = httpcore.ConnectionPool(max_connections=4)
        if url is not None:
            Thread(target=self._work, name="payrail-callbacks", daemon=True).start()

    def transfer(self, entry: TransferEntry) -> None:
        """What there will be to tell of a transfer that was sent now, each when it is so."""
        known = entry.known_after.total_seconds()
        settled = max(known, entry.settled_after.total_seconds())
        steps = [(known, "accepted")] if settled > known else []
        steps.append((settled, entry.state))
        if entry.returned_after is not None and entry.state == "paid":
            steps.append((max(settled, entry.returned_after.total_seconds()), "returned"))
        for after, outcome in steps:
            self._tell(after, "transfer", entry.reference, outcome, entry.amount_minor, entry.currency)

    def charge(self, reference: str, entry: ChargeEntry, after: float) -> None:
        """How a charge ended, when that is known."""
        self._tell(after, "charge", reference, entry.state, entry.amount_minor, entry.currency)

    def flush(self, seed: int | None = None) -> None:
        """Sends all that waits, due or not, in an order that the seed decides."""
        with self._changed:
            now = self._book.clock()
            random.Random(seed).shuffle(self._waiting)
            for letter in self._waiting:
                letter.due = min(letter.due, now)
            self._held = False
            self._changed.notify_all()

    @property
    def waiting(self) -> int:
        with self._changed:
            return len(self._waiting)

    def wake(self) -> None:
        """The clock was moved, or the server ends."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        self._ended = True
        self.wake()

    def _tell(self, after: float, kind: str, reference: str, outcome: str, amount_minor: int, currency: str) -> None:
        if self._url is None or self._faults.take(("lose",), reference=reference):
            return
        delay = self._faults.take(("delay",), reference=reference)
        due = self._book.clock() + max(0.0, after)
        said = {
            "id": "evt_" + secrets.token_hex(12),
            "kind": kind,
            "reference": reference,
            "outcome": outcome,
            "amountMinor": amount_minor,
            "currency": currency,
            "at": self._book.clock.text(due),
        }
        with self._changed:
            self._held = self._held or self._faults.take(("hold",), reference=reference) is not None
            self._waiting += self._letters(due + (delay.pause if delay else 0.0), said)
            self._changed.notify_all()

    def _letters(self, due: float, said: dict[str, Any]) -> Iterator[Letter]:
        reference = said["reference"]
        twice = self._faults.take(("duplicate",), reference=reference)
        yield Letter(due, said, self._secret, copies=twice.times_each if twice else 1)
        for kind, secret in (("contradict", self._secret), ("forge", "not-" + self._secret)):
            if self._faults.take((kind,), reference=reference):
                opposite = OPPOSITE[said["outcome"]]
                if said["kind"] == "charge" and opposite == "failed":
                    opposite = "declined"
                yield Letter(due, {**said, "id": "evt_" + secrets.token_hex(12), "outcome": opposite}, secret)

    def _work(self) -> None:
        while not self._ended:
            letter = self._next()
            if letter is None:
                continue
            heard = [self._delivered(letter) for _ in range(letter.copies)]
            if not all(heard):
                self._again(letter)

    def _next(self) -> Letter | None:
        with self._changed:
            now = self._book.clock()
            for place, letter in enumerate([] if self._held else self._waiting):
                if letter.due <= now:
                    return self._waiting.pop(place)
            self._changed.wait(0.05 if self._waiting else 1.0)
        return None

    def _again(self, letter: Letter) -> None:
        letter.tries += 1
        if letter.tries < TRIES and letter.secret == self._secret:
            letter.due, letter.copies = self._book.clock() + letter.tries, 1
            with self._changed:
                self._waiting.append(letter)

    def _delivered(self, letter: Letter) -> bool:
        body, timestamp = message_parsing.encode_message(letter.said), str(int(time.time()))
        headers = [
            ("Content-Type", "application/json"),
            (signing.TIMESTAMP, timestamp),
            (signing.SIGNATURE, signing.callback_signature(letter.secret, timestamp=timestamp, body=body)),
        ]
        try:
            answer = self._pool.request(
                "POST", self._url or "", headers=headers, content=body, extensions={"timeout": WAIT}
            )
            status = answer.status
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
            status = 0
        about = {name: letter.said[name] for name in ("id", "kind", "reference", "outcome")}
        self._book.note("callback", **about, forged=letter.secret != self._secret, status=status)
        return 200 <= status < 300
