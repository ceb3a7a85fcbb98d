"""What was asked of the service and how it answered: ok, fail or unknown.

Unknown is whatever leaves open whether it happened: no answer, a cut connection, any 5xx. It may or may not have
happened, until the same is asked again with the same key.
"""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from tests.deploy.proxy import Answer, Secure, read
from tests.leaks.ledger import RUN

OK, FAIL, UNKNOWN = "ok", "fail", "unknown"
SECONDS = 40.0
RUNNING = "IDEMPOTENCY_IN_PROGRESS"


@dataclass
class Request:
    """One request, which can be sent again as it was."""

    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    content_type: str = "application/json"

    def payload(self) -> bytes | None:
        return self.raw if self.raw is not None or self.body is None else json.dumps(self.body).encode()


@dataclass
class RequestRecord:
    """One operation: what it was about, when it was asked and how each try was answered, the first one first."""

    kind: str
    request: Request
    about: dict[str, Any] = field(default_factory=dict)
    at: float = 0.0
    seconds: float = 0.0
    status: int = 0
    """Of the first answer; 0 for none."""
    outcome: str = UNKNOWN
    data: dict[str, Any] = field(default_factory=dict)
    told: list[dict[str, Any]] = field(default_factory=list)
    """The data of every answer that said yes."""

    @property
    def writes(self) -> bool:
        return self.request.method != "GET"

    @property
    def resolvable(self) -> bool:
        """Whether asking again tells what happened. A client that lost the answer to a sign-in simply signs in."""
        return self.writes and self.kind not in ("sign_in", "refresh", "guess")


class Journal:
    """Everything that was asked in a run, by all threads."""

    def __init__(self) -> None:
        self.asked: list[RequestRecord] = []
        self._lock = threading.Lock()

    def note(self, asked: RequestRecord) -> None:
        with self._lock:
            self.asked.append(asked)

    def of(self, *kinds: str, outcome: str | None = None) -> Iterator[RequestRecord]:
        for item in list(self.asked):
            if item.kind in kinds and outcome in (None, item.outcome):
                yield item

    @property
    def unknown(self) -> list[RequestRecord]:
        return [item for item in list(self.asked) if item.outcome == UNKNOWN and item.resolvable]


class Mouth:
    """Asks over one connection, made anew when it was cut."""

    def __init__(self, port: int, source: str = "127.0.0.1", seconds: float = SECONDS) -> None:
        self._line = Secure(port, source, timeout=seconds)

    def say(self, asked: RequestRecord) -> RequestRecord:
        """The first try of an operation."""
        asked.at = time.monotonic()
        answer = self.send(asked.request)
        asked.seconds = time.monotonic() - asked.at
        asked.status = answer.status
        weigh(asked, answer)
        return asked

    def again(self, asked: RequestRecord) -> str:
        """Sends the very same again, with the same key; what is known now."""
        weigh(asked, self.send(asked.request))
        return asked.outcome

    def send(self, request: Request) -> Answer:
        """The answer; one of status 0 when there was none."""
        headers = {"Content-Type": request.content_type, **request.headers}
        payload = request.payload()
        if payload is not None and request.content_type == "application/json":
            RUN.learn(payload.decode())
        try:
            self._line.request(request.method, request.path, payload, headers)
            answer = read(self._line.getresponse())
        except (OSError, HTTPException):
            self._line.close()
            return Answer(0, {}, b"")
        if answer.body[:1] == b"{":
            RUN.learn(answer.body.decode(errors="replace"))
        return answer

    def close(self) -> None:
        self._line.close()


def weigh(asked: RequestRecord, answer: Answer) -> None:
    """What an answer makes known."""
    said = _json(answer)
    if 200 <= answer.status < 300:
        asked.outcome, asked.data = OK, said.get("data") or {}
        asked.told.append(asked.data)
    elif 400 <= answer.status < 500 and answer.status != 429 and said.get("shortMessage") != RUNNING:
        # A yes stays a yes: what a later no means is for the checkers to say.
        asked.outcome = OK if asked.told else FAIL
        asked.about["refused"] = said.get("shortMessage")


def _json(answer: Answer) -> dict[str, Any]:
    try:
        found = answer.json
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
