"""Charges and transfers of the mock rail, in memory and in a journal that is written before each response.

The journal is JSON lines and only grows. A line with the event `transfer` is one transfer that was carried out, so
counting them by reference shows whether money would have moved twice. A server that starts with a journal knows its
charges and transfers. It holds no number of a wallet or account, only the last four digits.
"""

import json
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, TextIO

from mock_rail.rules import StoredCharge, StoredTransfer

CHARGE, CHARGE_ENDED, TRANSFER = "charge", "charge_ended", "transfer"


class Clock:
    """The time at the rail, in seconds since 1970. `ahead` is how far it was moved."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return time.time() + self.ahead

    def format(self, seconds: float | None = None) -> str:
        """A time in RFC 3339, by default the current one."""
        moment = datetime.fromtimestamp(self.now() if seconds is None else seconds, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Store:
    """The charges and transfers of one server. Hold `lock` to read and then write."""

    def __init__(self, clock: Clock, journal: Path | None = None) -> None:
        self.lock = RLock()
        self._clock = clock
        self._charges: dict[str, StoredCharge] = {}
        self._transfers: dict[str, StoredTransfer] = {}
        self._journal: TextIO | None = None
        if journal is not None:
            self._load(journal)
            self._journal = journal.open("a", encoding="utf-8")

    def find_charge(self, reference: str) -> StoredCharge | None:
        with self.lock:
            return self._charges.get(reference)

    def save_charge(self, charge: StoredCharge) -> None:
        """Write a charge to the journal and keep it."""
        with self.lock:
            self.log(CHARGE if charge.state == "open" else CHARGE_ENDED, **asdict(charge))
            self._charges[charge.reference] = charge

    def has_transfer(self, reference: str) -> bool:
        return self.find_transfer(reference) is not None

    def find_transfer(self, reference: str) -> StoredTransfer | None:
        with self.lock:
            return self._transfers.get(reference)

    def save_transfer(self, transfer: StoredTransfer) -> None:
        """Write a transfer to the journal and keep it."""
        with self.lock:
            self.log(TRANSFER, **asdict(transfer))
            self._transfers[transfer.reference] = transfer

    def list_charges(self) -> list[StoredCharge]:
        with self.lock:
            return list(self._charges.values())

    def list_transfers(self) -> list[StoredTransfer]:
        with self.lock:
            return list(self._transfers.values())

    def clear(self) -> None:
        """Forget all charges and transfers. The journal keeps them."""
        with self.lock:
            self._charges.clear()
            self._transfers.clear()

    def log(self, event: str, **fields: object) -> None:
        """Add a line to the journal."""
        with self.lock:
            if self._journal is not None:
                self._journal.write(json.dumps({"event": event, "at": self._clock.format(), **fields}) + "\n")
                self._journal.flush()

    def close(self) -> None:
        with self.lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def _load(self, journal: Path) -> None:
        journal.parent.mkdir(parents=True, exist_ok=True)
        if not journal.exists():
            return
        complete, _, unfinished = journal.read_bytes().rpartition(b"\n")
        if unfinished:
            # The server was killed while it wrote, before it responded.
            with journal.open("r+b") as file:
                file.truncate(len(complete) + bool(complete))
        for line in complete.splitlines():
            fields: dict[str, Any] = json.loads(line)
            event, _ = fields.pop("event"), fields.pop("at")
            if event in (CHARGE, CHARGE_ENDED):
                self._charges[fields["reference"]] = StoredCharge(**fields)
            elif event == TRANSFER:
                self._transfers[fields["reference"]] = StoredTransfer(**fields)
