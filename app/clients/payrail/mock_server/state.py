"""The mock's charges and transfers in memory, with a clock that can be moved and a journal that is written before each
response.

The journal is JSON lines, only ever added to. One `transfer` line is one transfer that was carried out, so counting
them by reference shows whether money would have moved twice. A server that starts with the same journal knows again
what it knew.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Any

from app.clients.payrail.interface import Charge
from app.clients.payrail.mock_rules import ChargeEntry, TransferEntry
from app.clients.payrail.mock_server.faults import TRANSFERS, Faults

SPANS = ("settled_after", "known_after", "returned_after")


class Clock:
    """The time at the rail, in seconds since 1970."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead

    def text(self, at: float | None = None) -> str:
        moment = datetime.fromtimestamp(self() if at is None else at, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Memory:
    """Charges and transfers of one server."""

    def __init__(self, clock: Clock, faults: Faults, journal: Path | None = None) -> None:
        self.clock, self._faults, self._lock = clock, faults, RLock()
        self._charges: dict[str, tuple[ChargeEntry, float]] = {}
        self._started: dict[str, float] = {}
        self._transfers: dict[str, tuple[TransferEntry, float]] = {}
        self.sent: Callable[[TransferEntry], None] = lambda _: None
        self.ended: Callable[[str, ChargeEntry, float], None] = lambda *_: None
        self._journal = None
        if journal is not None:
            self._remember(journal)
            self._journal = journal.open("a", encoding="utf-8")

    def open_charge(self, charge: Charge) -> None:
        with self._lock:
            if charge.reference not in self._charges:
                entry = ChargeEntry(msisdn=charge.msisdn, amount_minor=charge.amount_minor, currency=charge.currency)
                self._charges[charge.reference], self._started[charge.reference] = (entry, 0.0), self.clock()
                self._write_charge("charge", charge.reference)

    def end_charge(self, reference: str, state: str, known_after: timedelta) -> None:
        with self._lock:
            entry, _ = self._charges[reference]
            if entry.state == "open":
                known_at = self.clock() + known_after.total_seconds()
                late = self._faults.take(("capture_late",), on="confirm", reference=reference)
                if late is not None:
                    entry, known_at = replace(entry, meanwhile="code_sent"), self.clock() + late.pause
                self._charges[reference] = (replace(entry, state=state), known_at)
                self._write_charge("charge_ended", reference)
                self.ended(reference, self._charges[reference][0], known_at - self.clock())

    def refund_charge(self, reference: str) -> None:
        with self._lock:
            entry, known_at = self._charges[reference]
            if entry.state == "paid":
                self._charges[reference] = (replace(entry, state="refunded"), known_at)
                self._write_charge("charge_ended", reference)
                self.ended(reference, self._charges[reference][0], 0.0)

    def charge(self, reference: str) -> ChargeEntry | None:
        with self._lock:
            entry, known_at = self._charges.get(reference, (None, 0.0))
            age = timedelta(seconds=self.clock() - self._started.get(reference, 0.0))
            return entry and replace(entry, told=self.clock() >= known_at, age=age)

    def write_transfer(self, entry: TransferEntry) -> None:
        with self._lock:
            if self._knows(entry.reference):
                return
            entry, at = self._altered(entry), self.clock()
            spans = {name: _seconds(getattr(entry, name)) for name in SPANS}
            self.note("transfer", **{**asdict(entry), **spans}, since=at)
            self._transfers[entry.reference] = (entry, at)
            self.sent(entry)

    def transfer(self, reference: str) -> tuple[TransferEntry | None, timedelta]:
        with self._lock:
            entry, at = self._transfers.get(reference, (None, 0.0))
            return entry, timedelta(seconds=self.clock() - at)

    def note(self, event: str, **about: object) -> None:
        """Adds a line to the journal."""
        with self._lock:
            if self._journal is not None:
                self._journal.write(json.dumps({"event": event, "at": self.clock.text(), **about}) + "\n")
                self._journal.flush()

    def close(self) -> None:
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def _knows(self, reference: str) -> bool:
        return reference in self._transfers

    def _altered(self, entry: TransferEntry) -> TransferEntry:
        fault = self._faults.take(TRANSFERS, on="send", reference=entry.reference)
        if fault is None:
            return entry
        if fault.do == "decline":
            return replace(entry, state="failed")
        span = timedelta(seconds=fault.pause)
        return replace(entry, settled_after=span) if fault.do == "accept" else replace(entry, returned_after=span)

    def _write_charge(self, event: str, reference: str) -> None:
        entry, known_at = self._charges[reference]
        said = {"ending": entry.msisdn[-4:], "amount_minor": entry.amount_minor, "currency": entry.currency}
        times = {"known_at": known_at, "started_at": self._started[reference]}
        self.note(event, reference=reference, **said, state=entry.state, meanwhile=entry.meanwhile, **times)

    def _remember(self, journal: Path) -> None:
        if not journal.exists():
            return
        for line in journal.read_text(encoding="utf-8").splitlines():
            said = json.loads(line)
            reference = said.get("reference", "")
            if said["event"] in ("charge", "charge_ended"):
                entry = ChargeEntry(
                    msisdn=said["ending"],
                    amount_minor=said["amount_minor"],
                    currency=said["currency"],
                    state=said["state"],
                    meanwhile=said["meanwhile"],
                )
                self._charges[reference], self._started[reference] = (entry, said["known_at"]), said["started_at"]
            elif said["event"] == "transfer":
                plain = {name: said[name] for name in ("ending", "amount_minor", "currency", "state")}
                spans: dict[str, Any] = {name: _span(said[name]) for name in SPANS}
                self._transfers[reference] = (TransferEntry(reference=reference, **plain, **spans), said["since"])


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()


def _span(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
