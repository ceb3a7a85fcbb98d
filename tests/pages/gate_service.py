"""A stand-in for the operations of the gate, before the application: its places stand in memory."""

import hashlib
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from app.core.clock import rfc3339

SALT = "a-salt-of-this-device"
TYPE = {"id": "d" * 24, "name": "Day ticket", "validFrom": None, "validUntil": None}


@dataclass
class Guest:
    id: str
    code: str
    name: str
    state: str = "c"
    party: str | None = None
    admitted_at: int | None = None
    gate: str | None = None

    def build_row(self) -> list[object]:
        digest = hashlib.sha256((SALT + self.code).encode()).digest()[:12]
        times = (self.admitted_at, self.gate, None, None, None)
        return [self.id, "a", urlsafe_b64encode(digest).decode(), self.name, 0, self.state, self.party, *times]


@dataclass
class GateService:
    """Answers requests for admissions; everything else goes to the application."""

    application: Any
    address: str = ""
    guests: list[Guest] = field(default_factory=list)
    answers: dict[str, dict[str, object]] = field(default_factory=dict)
    trained: int = 0
    details: dict[str, list[str]] = field(default_factory=dict)
    batches: list[list[dict[str, Any]]] = field(default_factory=list)
    is_real: bool = False
    """Whether the application answers for admissions too."""
    is_down: bool = False
    streams: bool = False
    """Whether the stream of changes lives, with a heartbeat every 0.2 s."""
    failures: int = 0
    """So many scans get a 503."""
    loses_answers: bool = False
    has_ended_device: bool = False
    reentry: str = "none"
    starts_at: str = "2026-01-01T08:00:00.000Z"

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if self.is_down:
            start_response("503 Down", [])
            return [b""]
        if self.is_real or not path.startswith("/api/events/") or "/admissions" not in path:
            return self.application(environ, start_response)  # type: ignore[no-any-return]
        body = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)) or b"{}")
        event_id, _, rest = path.removeprefix("/api/events/").partition("/admissions")
        if self.streams and rest == "/stream":
            start_response("200 OK", [("Content-Type", "text/event-stream")])
            return self.beat()
        if self.failures and method == "POST" and not rest:
            self.failures -= 1
            start_response("503 Busy", [])
            return [b""]
        status, code, data = self.answer(event_id, method, rest, body)
        if self.loses_answers and method == "POST" and not rest:
            time.sleep(2)
        envelope = {"shortMessage": code, "message": "", "data": data}
        start_response(f"{status} .", [("Content-Type", "application/json")])
        return [json.dumps(envelope).encode()]

    def beat(self) -> Iterator[bytes]:
        """Heartbeats until the stream is turned off."""
        while self.streams:
            yield b"id: 1\n\n"
            time.sleep(0.2)

    def answer(self, event_id: str, method: str, rest: str, body: dict[str, Any]) -> tuple[int, str, Any]:
        if self.has_ended_device:
            return 401, "SESSION_ENDED", {}
        if rest == "/snapshot":
            event = {"id": event_id, "name": "", "timezone": "Africa/Windhoek", "reentry": self.reentry}
            event["startsAt"] = self.starts_at
            places = [guest.build_row() for guest in self.guests]
            data = {"position": "1", "salt": SALT, "event": event, "ticketTypes": [TYPE], "full": True}
            return 200, "SUCCESS", {**data, "places": places, "removed": []}
        if rest == "/places":
            return 200, "SUCCESS", {"places": [{"id": id, "details": it} for id, it in self.details.items()]}
        if rest == "/batch":
            self.batches.append(body["admissions"])
            return 200, "SUCCESS", {"results": [self.record(item) for item in body["admissions"]]}
        if rest.endswith("/undo"):
            for guest in self.guests:
                if guest.id == rest.split("/")[1]:
                    guest.state, guest.admitted_at = "c", None
            return 200, "SUCCESS", {}
        if rest or method != "POST":
            return 404, "NOT_FOUND", {}
        if not body.get("training"):
            return self.admit(body)
        guests, self.trained = deepcopy(self.guests), self.trained + 1
        answer = self.admit(body)
        self.guests = guests
        return answer

    def admit(self, body: dict[str, Any]) -> tuple[int, str, Any]:
        if body["nonce"] in self.answers:
            return 200, "SUCCESS", self.answers[body["nonce"]]
        guest = self.find(body)
        if guest is None:
            return 404, "TICKET_NOT_FOUND", {}
        outside = [other for other in self.guests if other.party and other.party == guest.party and other.state == "c"]
        if guest.state == "a" and "count" not in body:
            at = rfc3339(datetime.fromtimestamp(guest.admitted_at or 0, UTC))
            data = {
                "admittedAt": at,
                "gate": guest.gate,
                "by": "Phone 2",
                "name": guest.name,
                "remaining": len(outside),
            }
            return 409, "ALREADY_ADMITTED", data
        admitted = outside[: body["count"]] if "count" in body else [guest]
        for other in admitted:
            other.state, other.admitted_at, other.gate = "a", int(time.time()), body.get("gate")
        answer = {
            "admissionId": guest.id,
            "name": guest.name,
            "ticketType": TYPE["name"],
            "direction": "in",
            "reentry": False,
            "admitted": len(admitted),
            "remaining": len([other for other in outside if other.state == "c"]),
        }
        self.answers[body["nonce"]] = answer
        return 200, "SUCCESS", answer

    def record(self, item: dict[str, Any]) -> dict[str, object]:
        status = "repeated" if item["nonce"] in self.answers else "admitted"
        code, error, data = self.admit(item)
        if code != 200:
            return {"nonce": item["nonce"], "status": "conflict", "code": error, "admissionId": "f" * 24}
        return {"nonce": item["nonce"], "status": status, "admissionId": data["admissionId"]}

    def find(self, body: dict[str, Any]) -> Guest | None:
        return next(
            (guest for guest in self.guests if guest.id == body.get("placeId") or guest.code == body.get("code")), None
        )
