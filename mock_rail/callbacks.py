"""Callbacks of the mock rail: signed, sent when an outcome is known, with the faults that are switched on."""

import random
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

import httpcore

from app.clients.payrail import message_parsing, signing
from mock_rail.faults import Faults
from mock_rail.rules import StoredCharge, StoredTransfer
from mock_rail.store import Clock, Store

CHARGE, TRANSFER = "charge", "transfer"
OPPOSITES = {
    CHARGE: {"paid": "declined", "declined": "paid", "refunded": "paid"},
    TRANSFER: {"paid": "failed", "failed": "paid", "returned": "paid", "accepted": "failed"},
}
MAX_TRIES, TIMEOUTS = 5, {"connect": 3.0, "read": 5.0, "write": 5.0, "pool": 5.0}


@dataclass
class QueuedCallback:
    """An event that is sent at `due`, so many times, signed with `secret`."""

    due: float
    event: dict[str, Any]
    secret: str
    copies: int = 1
    tries: int = 0


class CallbackSender:
    """Sends callbacks to one URL from a thread of its own; none without a URL."""

    def __init__(self, url: str | None, secret: str, store: Store, clock: Clock, faults: Faults) -> None:
        self._url, self._secret = url, secret
        self._store, self._clock, self._faults = store, clock, faults
        self._queue: list[QueuedCallback] = []
        self._changed, self._is_held, self._is_closed = Condition(), False, False
        self._pool = httpcore.ConnectionPool(max_connections=4)
        if url is not None:
            Thread(target=self._run, name="payrail-callbacks", daemon=True).start()

    def schedule_transfer(self, transfer: StoredTransfer) -> None:
        """Queue an event for each outcome that a transfer sent now will have."""
        known_after, settled_after = transfer.known_after, max(transfer.known_after, transfer.settled_after)
        steps = [(known_after, "accepted")] if settled_after > known_after else []
        steps.append((settled_after, transfer.state))
        if transfer.returned_after is not None and transfer.state == "paid":
            steps.append((max(settled_after, transfer.returned_after), "returned"))
        for after, outcome in steps:
            self._schedule(transfer.sent_at + after, TRANSFER, transfer, outcome)

    def schedule_charge(self, charge: StoredCharge) -> None:
        """Queue the event of a charge that has ended, for when its end is known."""
        self._schedule(charge.known_at, CHARGE, charge, charge.state)

    def flush(self, seed: int | None = None) -> None:
        """Send all queued callbacks now, in an order that the seed decides."""
        with self._changed:
            now = self._clock.now()
            random.Random(seed).shuffle(self._queue)
            for callback in self._queue:
                callback.due = min(callback.due, now)
            self._is_held = False
            self._changed.notify_all()

    def clear(self) -> None:
        """Drop all queued callbacks."""
        with self._changed:
            self._queue.clear()
            self._is_held = False

    @property
    def waiting(self) -> int:
        """How many callbacks are queued."""
        with self._changed:
            return len(self._queue)

    def wake(self) -> None:
        """Look at the queue again, because the clock was moved."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        self._is_closed = True
        self.wake()

    def _schedule(self, due: float, kind: str, payment: StoredCharge | StoredTransfer, outcome: str) -> None:
        reference = payment.reference
        if self._url is None or self._faults.take(("lose",), reference=reference):
            return
        delay = self._faults.take(("delay",), reference=reference)
        due = max(due, self._clock.now())
        event = {
            "id": _create_id(),
            "kind": kind,
            "reference": reference,
            "outcome": outcome,
            "amountMinor": payment.amount_minor,
            "currency": payment.currency,
            "at": self._clock.format(due),
        }
        with self._changed:
            self._is_held = self._is_held or self._faults.take(("hold",), reference=reference) is not None
            self._queue += self._build_callbacks(due + (delay.pause if delay else 0.0), event)
            self._changed.notify_all()

    def _build_callbacks(self, due: float, event: dict[str, Any]) -> Iterator[QueuedCallback]:
        reference = event["reference"]
        duplicate = self._faults.take(("duplicate",), reference=reference)
        yield QueuedCallback(due, event, self._secret, copies=duplicate.times_each if duplicate else 1)
        for kind, secret in (("contradict", self._secret), ("forge", "not-" + self._secret)):
            if self._faults.take((kind,), reference=reference):
                opposite = OPPOSITES[event["kind"]][event["outcome"]]
                yield QueuedCallback(due, {**event, "id": _create_id(), "outcome": opposite}, secret)

    def _run(self) -> None:
        while not self._is_closed:
            callback = self._take_due()
            if callback is None:
                continue
            accepted = [self._send(callback) for _ in range(callback.copies)]
            if not all(accepted):
                self._queue_again(callback)

    def _take_due(self) -> QueuedCallback | None:
        with self._changed:
            now = self._clock.now()
            for index, callback in enumerate([] if self._is_held else self._queue):
                if callback.due <= now:
                    return self._queue.pop(index)
            self._changed.wait(0.05 if self._queue else 1.0)
        return None

    def _queue_again(self, callback: QueuedCallback) -> None:
        callback.tries += 1
        if callback.tries < MAX_TRIES and callback.secret == self._secret:
            callback.due, callback.copies = self._clock.now() + callback.tries, 1
            with self._changed:
                self._queue.append(callback)

    def _send(self, callback: QueuedCallback) -> bool:
        body, timestamp = message_parsing.encode_message(callback.event), str(int(time.time()))
        headers = [
            ("Content-Type", "application/json"),
            (signing.TIMESTAMP, timestamp),
            (signing.SIGNATURE, signing.callback_signature(callback.secret, timestamp=timestamp, body=body)),
        ]
        try:
            response = self._pool.request(
                "POST", self._url or "", headers=headers, content=body, extensions={"timeout": TIMEOUTS}
            )
            status = response.status
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
            status = 0
        fields = {name: callback.event[name] for name in ("id", "kind", "reference", "outcome")}
        self._store.log("callback", **fields, forged=callback.secret != self._secret, status=status)
        return 200 <= status < 300


def _create_id() -> str:
    return "evt_" + secrets.token_hex(12)
