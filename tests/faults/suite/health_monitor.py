"""Monitoring during a run: readiness, health and the age of the oldest transaction."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.faults.suite.request_log import Mouth, Request
from tests.faults.suite.stack import Stack

EVERY = 0.25
OPEN = """
    SELECT pid, xact_start, state <> 'active' FROM pg_stat_activity
     WHERE datname = 'app' AND backend_type = 'client backend' AND xact_start IS NOT NULL
       AND pid <> pg_backend_pid() AND application_name <> 'pg_dump'"""


@dataclass
class Look:
    """One look: when, what /ready and /health answered (0 for nothing), and after how many seconds."""

    at: float
    ready: int
    health: int
    seconds: float


class Watch:
    """Looks four times a second, in a thread of its own."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.looks: list[Look] = []
        self.longest_transaction = 0.0
        self._over = threading.Event()

    @contextmanager
    def going(self) -> Iterator["Watch"]:
        threads = [threading.Thread(target=item, daemon=True) for item in (self._look, self._look_inside)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._over.set()
            for thread in threads:
                thread.join(45)

    def since(self, moment: float) -> list[Look]:
        return [look for look in list(self.looks) if look.at >= moment]

    def _look(self) -> None:
        mouth = Mouth(self.stack.site.secure, source="127.0.0.9", seconds=10)
        while not self._over.wait(EVERY):
            at = time.monotonic()
            health = mouth.send(Request("GET", "/health")).status
            seconds = time.monotonic() - at
            self.looks.append(Look(at, mouth.send(Request("GET", "/ready")).status, health, seconds))
        mouth.close()

    def _look_inside(self) -> None:
        """By our own clock: that of PostgreSQL may be what is broken."""
        seen: dict[tuple[int, Any], float] = {}
        while not self._over.wait(1.0):
            try:
                with psycopg.connect(self.stack.database.plain_url, connect_timeout=2, autocommit=True) as connection:
                    rows = connection.execute(OPEN).fetchall()
            except psycopg.OperationalError:
                continue
            now = time.monotonic()
            seen = {(pid, began): seen.get((pid, began), now) for pid, began, _ in rows}
            waiting = [now - seen[pid, began] for pid, began, idle in rows if idle]
            self.longest_transaction = max([self.longest_transaction, *waiting])
