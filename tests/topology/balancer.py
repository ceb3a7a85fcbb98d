"""HAProxy as `deploy/` has it, before servers of the tests; and what Patroni says on each of their machines."""

import os
import re
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from app.embedded import subprocesses
from app.embedded.os_user import Account
from tests.faults.service import ROOT, free_port
from tests.waiting import wait_until

PROGRAM = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
SHIPPED = ROOT / "deploy" / "haproxy" / "haproxy.cfg"
SERVER = re.compile(r"^    server db\d .*\n", re.M)


class Patroni:
    """Says 200 to `GET /primary` on the machine of the one that is the leader, 503 on those of the others."""

    def __init__(self, servers: list[int]) -> None:
        self.leader: int | None = servers[0]
        self.machines = {server: ThreadingHTTPServer(("127.0.0.1", 0), self._asked_for(server)) for server in servers}
        for machine in self.machines.values():
            threading.Thread(target=machine.serve_forever, args=(0.05,), daemon=True).start()

    def port(self, server: int) -> int:
        return int(self.machines[server].server_address[1])

    def stop(self) -> None:
        for machine in self.machines.values():
            machine.shutdown()
            machine.server_close()

    def _asked_for(self, server: int) -> type[BaseHTTPRequestHandler]:
        class Asked(BaseHTTPRequestHandler):
            def do_GET(asked) -> None:  # noqa: N802, N805
                leads = asked.path == "/primary" and self.leader == server
                asked.send_response(200 if leads else 503)
                asked.end_headers()

            def log_message(asked, *_: object) -> None:  # noqa: N805
                return

        return Asked


@contextmanager
def balancer(folder: Path, patroni: Patroni, *, without: str = "") -> Iterator[int]:
    """Its port, before the servers that Patroni knows; `without` is left out of the file."""
    port, file = free_port(), folder / f"haproxy-{time.monotonic_ns()}.cfg"
    file.write_text(rendered(port, patroni, without))
    with Path(os.devnull).open() as keep:
        child = subprocesses.spawn(
            "HAProxy",
            [PROGRAM or "haproxy", "-db", "-f", file],
            account=Account(),
            stop_signal=signal.SIGTERM,
            log=folder / "haproxy.log",
            keep=keep.fileno(),
        )
    try:
        wait_until(lambda: open_at(port))
        yield port
    finally:
        subprocesses.stop([child])


def rendered(port: int, patroni: Patroni, without: str) -> str:
    """The shipped file with other ports and addresses."""
    found = SHIPPED.read_text()
    line = SERVER.findall(found)[0]
    lines = [
        line.replace("db1 192.0.2.11:5432", f"db{number} 127.0.0.1:{server}").replace("8008", str(patroni.port(server)))
        for number, server in enumerate(patroni.machines, 1)
    ]
    for old, new in (("127.0.0.1:5000", f"127.0.0.1:{port}"), ("    log /dev/log local0 warning\n", ""), (without, "")):
        assert old in found, old
        found = found.replace(old, new) if old else found
    return SERVER.sub("", found).rstrip() + "\n" + "".join(lines)


def open_at(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
