"""HTTP handler of the mock rail: requests, responses and the faults that are switched on."""

import contextlib
import socket
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

from app.clients.payrail import message_parsing
from mock_rail.faults import ANSWERS, REQUESTS, Fault, Faults, InvalidFault
from mock_rail.operations import Message, Operations, Request, parse_request
from mock_rail.signature_check import SignatureCheck
from mock_rail.store import Store

IDLE_SECONDS = 30.0
CONTROL = "/_control/"


class ServedRail(Protocol):
    """The parts of the server that the handler uses."""

    signature_check: SignatureCheck
    store: Store
    faults: Faults
    operations: Operations
    refusing: bool

    @property
    def hang(self) -> float: ...

    def control(self, operation: str, message: Message) -> Message: ...


class Listener(ThreadingHTTPServer):
    """The socket of the server, with a thread for each connection."""

    daemon_threads, block_on_close, request_queue_size = True, False, 256

    def __init__(self, address: tuple[str, int], rail: ServedRail) -> None:
        super().__init__(address, Handler)
        self.rail = rail

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that close the connection first."""


class Handler(BaseHTTPRequestHandler):
    """A connection."""

    protocol_version, timeout, disable_nagle_algorithm = "HTTP/1.1", IDLE_SECONDS, True
    server: Listener

    def do_GET(self) -> None:  # noqa: N802
        self._handle(b"")

    def do_POST(self) -> None:  # noqa: N802
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > message_parsing.MAX_BYTES:
            self.close_connection = True
            self._send_message(413, {"error": "too_large"})
            return
        self._handle(self.rfile.read(int(length)))

    def log_message(self, *_: object) -> None:
        """Log nothing: the journal has the requests, without numbers of wallets."""

    def _handle(self, body: bytes) -> None:
        rail = self.server.rail
        try:
            if rail.refusing:
                self._hang_up()
            elif self.path.startswith(CONTROL):
                message = dict(message_parsing.parse_message(body))
                self._send_message(200, rail.control(self.path.removeprefix(CONTROL), message))
            elif self.path == "/v1/health":
                self._send_message(200, {"status": "ok"})
            else:
                self._handle_signed(body)
        except (InvalidFault, KeyError, TypeError, ValueError) as error:
            self._send_message(400, {"error": "unreadable", "about": str(error)})

    def _handle_signed(self, body: bytes) -> None:
        rail = self.server.rail
        problem = rail.signature_check.find_problem(dict(self.headers), self.command, self.path, body)
        if problem is not None:
            self._send_message(401, {"error": problem})
            return
        request = parse_request(self.command, self.path, body)
        if request is None:
            self._send_message(404, {"error": "no_such_path"})
            return
        if self.headers.get("Idempotency-Key") != request.reference:
            raise message_parsing.Unreadable("Idempotency-Key")
        rail.store.log("request", operation=request.operation, reference=request.reference)
        fault = rail.faults.take((*REQUESTS, *ANSWERS), on=request.operation, reference=request.reference)
        if fault is None or not self._refuse(fault):
            self._respond(request, fault, *rail.operations.handle(request))

    def _refuse(self, fault: Fault) -> bool:
        """Respond to a fault that prevents the operation; return whether it is one."""
        if fault.do == "drop":
            self._hang_up()
        elif fault.do == "error":
            self._send_message(fault.status or 500, {"error": "internal"})
        elif fault.do == "busy":
            self._send_message(fault.status or 503, {"error": "busy"}, {"Retry-After": str(int(fault.pause))})
        else:
            return False
        return True

    def _respond(self, request: Request, fault: Fault | None, status: int, message: Message) -> None:
        """Send the response of an operation, changed by a fault. An order with an unknown outcome gets none."""
        unanswered = ("unknown", "code_sent") if request.operation == "confirm" else ("unknown",)
        if fault is None and request.operation in ("send", "confirm") and message.get("outcome") in unanswered:
            fault = Fault(do="hang", seconds=self.server.rail.hang)
        kind = fault.do if fault else ""
        if fault and kind in ("hang", "late"):
            time.sleep(fault.pause)
        if kind == "hang":
            self._hang_up()
        elif fault and kind == "fail":
            self._send_message(fault.status or 500, {"error": "internal"})
        elif fault and kind == "drip":
            self._send_slowly(message, fault.pause)
        elif kind == "garbage":
            self._send(200, b"<html>not a rail</html>")
        elif kind == "huge":
            self._send_message(200, {**message, "padding": "x" * (4 * message_parsing.MAX_BYTES)})
        elif kind == "not_found":
            self._send_message(404, {"error": "no such page"})
        elif kind == "other_amount":
            self._send_message(status, {**message, "amountMinor": message["amountMinor"] + 1})
        elif kind == "other_reference":
            self._send_message(status, {**message, "reference": "another-reference"})
        else:
            self._send_message(status, message)

    def _send_message(self, status: int, message: Message, headers: dict[str, str] | None = None) -> None:
        self._send(status, message_parsing.encode_message(message), headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        sent_headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
        for name, value in sent_headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _send_slowly(self, message: Message, pause: float) -> None:
        body = message_parsing.encode_message(message)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for byte in head + body:
            self.wfile.write(bytes((byte,)))
            time.sleep(pause)

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
