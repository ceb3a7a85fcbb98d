"""Clients that ask at a steady pace and remember what they got."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException

from tests.deploy.proxy import Proxy, Secure, read

PUBLIC = "/api/events/public/discover"


@dataclass
class Load:
    """What a number of clients met: answers by status, 0 for none; the seconds of each."""

    answers: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    rate: float = 0.0
    """Good answers a second, of all clients together."""

    def percentile(self, share: float) -> float:
        return sorted(self.seconds)[int((len(self.seconds) - 1) * share)]


class Client(threading.Thread):
    """Asks `pace` times a second, over one connection while it lasts."""

    def __init__(self, site: Proxy, path: str, pace: float, until: threading.Event) -> None:
        super().__init__(daemon=True)
        self.site, self.path, self.pace, self.until = site, path, pace, until
        self.met: list[tuple[int, float]] = []
        self.first = self.last = 0.0

    def run(self) -> None:
        connection, due = Secure(self.site.secure), time.monotonic() + random.random() / self.pace
        while not self.until.is_set():
            time.sleep(max(0.0, due - time.monotonic()))
            due += 1 / self.pace
            began = time.monotonic()
            try:
                connection.request("GET", self.path)
                status = read(connection.getresponse()).status
            except (OSError, HTTPException):
                connection.close()
                status = 0
            self.first, self.last = self.first or began, time.monotonic()
            self.met.append((status, self.last - began))
        connection.close()

    @property
    def rate(self) -> float:
        good = sum(status == 200 for status, _ in self.met)
        return (good - 1) / (self.last - self.first) if good > 1 else 0.0


@contextmanager
def load(site: Proxy, *, clients: int = 8, pace: float = 20, path: str = PUBLIC) -> Iterator[Load]:
    """Clients for as long as the block; what they met is known after it."""
    until, found = threading.Event(), Load()
    threads = [Client(site, path, pace, until) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        until.set()
        for thread in threads:
            thread.join(40)
            found.answers.update(status for status, _ in thread.met)
            found.seconds += [seconds for _, seconds in thread.met]
            found.rate += thread.rate
