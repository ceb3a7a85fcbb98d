"""HTTP handler of the mock server: requests, responses and the faults that are switched on."""

import contextlib
import socket
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

from app.clients.payrail import message_parsing
from app.clients.payrail.mock_server.authentication import Guard
from app.clients.payrail.mock_server.faults import ANSWERS, REQUESTS, BadFault, Fault, Faults
from app.clients.payrail.mock_server.operations import Asked, Operations, Said, parse_request
from app.clients.payrail.mock_server.state import Memory

IDLE = 30.0


class HangOptions(Protocol):
    @property
    def hang(self) -> float: ...


class ServedRail(Protocol):
    """The parts of the mock server that answer requests."""

    guard: Guard
    book: Memory
    faults: Faults
    operations: Operations
    refusing: bool

    @property
    def options(self) -> HangOptions: ...

    def control(self, path: str, said: Said) -> Said: ...


class Listener(ThreadingHTTPServer):
    daemon_threads, block_on_close, request_queue_size = True, False, 256

    def __init__(self, address: tuple[str, int], rail: ServedRail) -> None:
        super().__init__(address, Handler)
        self.rail = rail

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore callers that hung up first."""


class Handler(BaseHTTPRequestHandler):
    protocol_version, timeout, disable_nagle_algorithm = "HTTP/1.1", IDLE, True
    server: Listener

    def do_GET(self) -> None:  # noqa: N802
        self._handle(b"")

    def do_POST(self) -> None:  # noqa: N802
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > message_parsing.MAX_BYTES:
            self.close_connection = True
            self._say(413, {"error": "too_large"})
            return
        self._handle(self.rfile.read(int(length)))

    def _handle(self, body: bytes) -> None:
        rail = self.server.rail
        try:
            if rail.refusing:
                self._hang_up()
            elif self.path.startswith("/_control/"):
                self._say(
                    200, rail.control(self.path.removeprefix("/_control/"), dict(message_parsing.parse_message(body)))
                )
            elif self.path == "/v1/health":
                self._say(200, {"status": "ok"})
            else:
                self._signed(body)
        except (BadFault, KeyError, TypeError, ValueError) as error:
            self._say(400, {"error": "unreadable", "about": str(error)})

    def _signed(self, body: bytes) -> None:
        rail = self.server.rail
        refusal = rail.guard.refusal(dict(self.headers), self.command, self.path, body)
        if refusal is not None:
            self._say(401, {"error": refusal})
            return
        what = parse_request(self.command, self.path, body)
        if what is None:
            self._say(404, {"error": "no_such_path"})
            return
        if self.headers.get("Idempotency-Key") != what.reference:
            raise message_parsing.Unreadable("Idempotency-Key")
        rail.book.note("asked", on=what.on, reference=what.reference)
        fault = rail.faults.take((*REQUESTS, *ANSWERS), on=what.on, reference=what.reference)
        if fault is None or not self._instead(fault):
            self._answer(what, fault, *rail.operations.answer(what))

    def _instead(self, fault: Fault) -> bool:
        """Whether a fault took the place of doing anything."""
        if fault.do == "drop":
            self._hang_up()
        elif fault.do == "error":
            self._say(fault.status or 500, {"error": "internal"})
        elif fault.do == "busy":
            self._say(fault.status or 503, {"error": "busy"}, {"Retry-After": str(int(fault.pause))})
        else:
            return False
        return True

    def _answer(self, what: Asked, fault: Fault | None, status: int, said: Said) -> None:
        """Says what was done, unless a fault is in the way or the rules keep it unknown."""
        options = self.server.rail.options
        silent = ("unknown", "code_sent") if what.on == "confirm" else ("unknown",)
        if fault is None and what.on in ("send", "confirm") and said.get("outcome") in silent:
            fault = Fault(do="hang", seconds=options.hang)
        do = fault.do if fault else ""
        if fault and do in ("hang", "late"):
            time.sleep(fault.pause)
        if do == "hang":
            self._hang_up()
        elif fault and do == "fail":
            self._say(fault.status or 500, {"error": "internal"})
        elif fault and do == "drip":
            self._drip(said, fault.pause)
        elif do == "garbage":
            self._send(200, b"<html>not a rail</html>")
        elif do == "huge":
            self._say(200, {**said, "padding": "x" * (4 * message_parsing.MAX_BYTES)})
        elif do == "not_found":
            self._say(404, {"error": "no such page"})
        else:
            self._say(status, _twisted(said, do))

    def _say(self, status: int, said: Said, headers: dict[str, str] | None = None) -> None:
        self._send(status, message_parsing.encode_message(said), headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self._head(status, len(body), headers or {})
        self.wfile.write(body)

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _drip(self, said: Said, pause: float) -> None:
        body = message_parsing.encode_message(said)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for byte in head + body:
            self.wfile.write(bytes((byte,)))
            time.sleep(pause)

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """The journal says what happened, and without anybody's number."""


def _twisted(said: Said, do: str) -> Said:
    if do == "other_amount":
        return {**said, "amountMinor": said["amountMinor"] + 1}
    return {**said, "reference": "somebody-else"} if do == "other_reference" else said
