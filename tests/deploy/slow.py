"""Clients that are never done: heads that trickle, answers that are not read, bodies that stop.

`python -m tests.deploy.slow PORT` lets all of them loose in a process of their own, and prints when the last of each
kind was cut.
"""

import json
import os
import select
import socket
import ssl
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from typing import ClassVar

from tests.deploy.proxy import NAME
from tests.faults.service import ROOT

TRICKLING = int(os.environ.get("SLOW_CLIENTS") or 500)
READING, SENDING = TRICKLING * 2 // 5, TRICKLING // 5
CUT_AFTER = 20.0
TURN = 5.0


class Slow:
    """So many connections from a few addresses; `most` is how many seconds after all were open the last one was cut."""

    network: ClassVar[str]
    addresses: ClassVar[int] = 10
    awaited: ClassVar[int] = select.POLLIN

    def __init__(self, port: int, count: int) -> None:
        self.port, self.most = port, 0.0
        self.open = {item.fileno(): item for item in map(self.begun, range(count))}

    def begun(self, number: int) -> socket.socket:
        raise NotImplementedError

    def once_more(self, each: socket.socket) -> None:
        """What it does every five seconds."""

    def go_on(self) -> None:
        """Until the last of them has been cut."""
        started = time.monotonic()
        ears, due = select.poll(), started + TURN
        for number in self.open:
            ears.register(number, self.awaited)
        while self.open and time.monotonic() - started < 2 * CUT_AFTER:
            for number, _ in ears.poll(200):
                if self.gone(self.open[number]):
                    ears.unregister(number)
                    self.open.pop(number).close()
                    self.most = time.monotonic() - started
            if time.monotonic() >= due:
                due += TURN
                for item in self.open.values():
                    self.once_more(item)

    def close(self) -> None:
        for item in self.open.values():
            item.close()

    def gone(self, each: socket.socket) -> bool:
        try:
            return each.recv(4096) == b""
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True

    def connected(self, number: int, *, room: int | None = None) -> socket.socket:
        found = socket.socket()
        if room:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        found.bind((f"{self.network}.{1 + number % self.addresses}", 0))
        found.settimeout(10)
        found.connect(("127.0.0.1", self.port))
        return found

    def secured(self, number: int, *, room: int | None = None) -> ssl.SSLSocket:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(self.connected(number, room=room), server_hostname=NAME)


class Trickle(Slow):
    """Heads that get a byte every five seconds and never an end. Every second one never comes through the handshake."""

    network = "127.0.1"

    def begun(self, number: int) -> socket.socket:
        found = self.secured(number) if number % 2 else self.connected(number)
        found.sendall(
            f"GET /health HTTP/1.1\r\nHost: {NAME}\r\nX-Patience: ".encode() if number % 2 else b"\x16\x03\x01"
        )
        return found

    def once_more(self, each: socket.socket) -> None:
        try:
            each.sendall(b"x")
        except OSError:
            return


class SlowReaders(Slow):
    """They ask for half a megabyte and take a byte of it every five seconds."""

    network = "127.0.4"
    awaited = 0

    def begun(self, number: int) -> socket.socket:
        found = self.secured(number, room=2048)
        found.sendall(f"GET /openapi.json HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        return found

    def once_more(self, each: socket.socket) -> None:
        try:
            each.recv(1)
        except OSError:
            return

    def gone(self, each: socket.socket) -> bool:
        """Nothing is awaited but the end."""
        return True


class SlowUploads(Slow):
    """Bodies of which nine bytes come."""

    network = "127.0.2"

    def begun(self, number: int) -> socket.socket:
        found = self.secured(number)
        found.sendall(
            f"POST /api/auth/login HTTP/1.1\r\nHost: {NAME}\r\nContent-Type: application/json\r\n"
            'Content-Length: 900\r\n\r\n{"email":'.encode()
        )
        return found


KINDS: tuple[tuple[type[Slow], int], ...] = ((Trickle, TRICKLING), (SlowReaders, READING), (SlowUploads, SENDING))


@dataclass
class Met:
    """How many of a kind were never cut, and after how many seconds the last of the others was."""

    left: int
    most: float


def slow_clients(port: int) -> dict[str, Met]:
    """All of them, in a process of their own: what they do costs nobody else here anything."""
    argv = [sys.executable, "-m", "tests.deploy.slow", str(port)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=200, cwd=ROOT)
    return {name: Met(**met) for name, met in json.loads(done.stdout).items()}


def loose(port: int) -> dict[str, Met]:
    """All kinds at once, until all are cut, forty seconds at most."""
    crowds = [kind(port, count) for kind, count in KINDS]
    threads = [threading.Thread(target=crowd.go_on) for crowd in crowds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {type(crowd).__name__: Met(len(crowd.open), crowd.most) for crowd in crowds}


if __name__ == "__main__":
    os.nice(15)  # they would be on other machines
    sys.stdout.write(json.dumps({name: asdict(met) for name, met in loose(int(sys.argv[1])).items()}))
