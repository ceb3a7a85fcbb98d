"""Writers that know what was promised to them: each answer is kept, and an unknown one is asked for by its key."""

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.factories.events import build_event_body

PATIENCE = 10


@dataclass
class Attempt:
    """One event that somebody wants: its key, what was answered (None: nobody knows), and when."""

    key: str
    id: str | None
    began: float
    ended: float


@dataclass
class Writers:
    """Clients that make events one after the other, whatever happens to the service."""

    base: str
    token: str
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def acknowledged(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.id]

    @property
    def unknown(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if not attempt.id]

    @contextmanager
    def writing(self, threads: int = 6) -> Iterator[None]:
        ended = threading.Event()

        def go(number: int) -> None:
            for turn in count():
                if ended.is_set():
                    return
                attempt = self.write(f"writer-{number}-{turn}")
                self.attempts.append(attempt)
                if attempt.id is None:
                    ended.wait(0.05)

        running = [threading.Thread(target=go, args=(number,), daemon=True) for number in range(threads)]
        for thread in running:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            for thread in running:
                thread.join(2 * PATIENCE)

    def write(self, key: str) -> Attempt:
        """An event whose name is its key. Without a 201 nobody knows whether it is there."""
        began = time.monotonic()
        status, answer = asked(self.base, "/api/events", self.token, key, build_event_body(name=key))
        made = answer["data"]["id"] if status == 201 else None
        return Attempt(key, made, began, time.monotonic())

    def outage(self, since: float) -> float:
        """Seconds from then until somebody got what they asked for after it."""
        return min(item.ended for item in self.acknowledged if item.began > since) - since


def asked(base: str, path: str, token: str, key: str, sent: Any) -> tuple[int, dict[str, Any]]:
    """Status and JSON of a POST with a key; status 0 without an answer."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "Idempotency-Key": key}
    request = urllib.request.Request(base + path, json.dumps(sent).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except (OSError, ValueError):
        return 0, {}
