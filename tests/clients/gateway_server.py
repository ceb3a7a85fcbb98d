"""A gateway on loopback that accepts, refuses, delays or disconnects as the test chooses."""

import json
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

TAKEN = b'{"reference": "provider-1"}'


@dataclass
class Plan:
    """What happens to one message. `drop`: taken and not answered; `seconds`: answered that late."""

    status: int = 200
    body: bytes = TAKEN
    drop: bool = False
    seconds: float = 0.0
    drip: bool = False


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    said: dict[str, Any]


@dataclass
class Gateway:
    port: int = 0
    plans: deque[Plan] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0

    def url(self, who: str = "token", path: str = "/v1/messages") -> str:
        return f"http://{who}@127.0.0.1:{self.port}{path}"

    def next(self, **plan: Any) -> None:
        """Plans the next message that has none yet; unplanned ones are taken."""
        self.plans.append(Plan(**plan))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    gateway: Gateway

    def setup(self) -> None:
        super().setup()
        self.gateway.connections += 1

    def do_POST(self) -> None:  # noqa: N802
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.gateway.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, said))
        plan = self.gateway.plans.popleft() if self.gateway.plans else Plan()
        time.sleep(plan.seconds)
        if plan.drop:
            self.close_connection = True
            return
        self.send_response(plan.status)
        self.send_header("Content-Length", str(len(plan.body)))
        self.end_headers()
        for at in range(len(plan.body)):
            self.wfile.write(plan.body[at : at + 1])
            time.sleep(0.2 if plan.drip else 0)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """That somebody hangs up early is what some tests are about."""


@contextmanager
def gateway() -> Iterator[Gateway]:
    """A gateway on a free port of this machine, in threads of its own."""
    known = Gateway()
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"gateway": known}))
    known.port = server.server_address[1]
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()
