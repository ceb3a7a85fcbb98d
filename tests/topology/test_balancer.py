"""HAProxy asks who is the primary, and cuts anyone who still talks to one that is it no longer."""

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest

from tests.topology.balancer import Patroni, balancer
from tests.topology.conftest import needs
from tests.waiting import wait_until

log = logging.getLogger(__name__)
pytestmark = [pytest.mark.slow, needs("haproxy")]
CUT = " on-marked-down shutdown-sessions"


class Named(BaseRequestHandler):
    """A server that says which one it is, as often as it is asked."""

    def handle(self) -> None:
        with suppress(OSError):
            while self.request.recv(1):
                self.request.sendall(self.server.server_address[1].to_bytes(2, "big"))


@pytest.fixture
def patroni() -> Iterator[Patroni]:
    servers = [ThreadingTCPServer(("127.0.0.1", 0), Named) for _ in range(2)]
    for server in servers:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    made = Patroni([server.server_address[1] for server in servers])
    yield made
    made.stop()
    for server in servers:
        server.shutdown()
        server.server_close()


def asked(connection: socket.socket) -> int | None:
    """Which server answers; None when the connection is cut."""
    with suppress(OSError):
        connection.sendall(b"?")
        return int.from_bytes(connection.recv(2), "big") or None
    return None


def fresh(port: int) -> int | None:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 3) as connection:
        return asked(connection)
    return None


def only(server: int, port: int) -> bool:
    """When it starts it takes each for well, until it has asked all of them once."""
    return {fresh(port) for _ in range(4)} == {server}


def test_connections_to_the_former_primary_are_closed(tmp_path: Path, patroni: Patroni) -> None:
    """It lives on and answers, and knows nothing of the other: the worst of all failovers."""
    before, after = patroni.machines
    with ExitStack() as stack:
        shipped = stack.enter_context(balancer(tmp_path, patroni))
        careless = stack.enter_context(balancer(tmp_path, patroni, without=CUT))
        wait_until(lambda: only(before, shipped) and only(before, careless))
        old, control = (
            stack.enter_context(socket.create_connection(("127.0.0.1", item), 3)) for item in (shipped, careless)
        )
        assert asked(old) == asked(control) == before
        patroni.leader = None
        began = time.monotonic()
        wait_until(lambda: asked(old) is None)
        log.info(f"cut after {time.monotonic() - began:.1f} s")
        wait_until(lambda: fresh(shipped) is None)
        patroni.leader = after
        began = time.monotonic()
        wait_until(lambda: fresh(shipped) == fresh(careless) == after)
        log.info(f"the next one after {time.monotonic() - began:.1f} s")
        assert asked(control) == before, "the control: without the word it goes on talking to the old one"
