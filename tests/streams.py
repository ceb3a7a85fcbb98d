"""Clients of server-sent events over sockets, and a gunicorn process that serves them."""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from flask import Flask

from tests.faults.service import OURS, ROOT, WEB, free_port, until_ready
from tests.waiting import wait_for_exit

CONNECTION_ERRORS = (OSError, ValueError, HTTPException)
"""The errors of a reader whose connection breaks."""


class Event(NamedTuple):
    """A server-sent event; a client reconnects with its id."""

    name: str
    data: Any
    id: str | None


def events_of(chunks: Iterable[bytes]) -> Iterator[Event]:
    """The complete events in a stream of chunks."""
    remainder = b""
    for chunk in chunks:
        *blocks, remainder = (remainder + chunk).split(b"\n\n")
        for block in blocks:
            event = event_of(block)
            if event is not None:
                yield event


def event_of(block: bytes) -> Event | None:
    """The event in a block of lines; None for a heartbeat."""
    fields = dict(line.split(b": ", 1) for line in block.split(b"\n") if line and not line.startswith(b":"))
    if b"data" not in fields:
        return None
    id = fields[b"id"].decode() if b"id" in fields else None
    return Event(fields[b"event"].decode(), orjson.loads(fields[b"data"]), id)


class StreamClient:
    """An open stream, whose events are read on demand."""

    def __init__(
        self,
        port: int,
        path: str,
        headers: dict[str, str],
        *,
        method: str = "GET",
        protocol: str = "HTTP/1.1",
        window: int | None = None,
    ) -> None:
        self.socket = socket.socket()
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", port))
        lines = [
            f"{method} {path} {protocol}",
            "Host: localhost",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        self.answer = HTTPResponse(self.socket, method=method)
        self.answer.begin()
        self.status = self.answer.status
        self.events = events_of(self._read_chunks()) if self.status == 200 else iter(())
        self.raw = b""

    def next(self, seconds: float = 10) -> Event | None:
        """The next event; None when the response has ended. Raises OSError on a timeout."""
        self.socket.settimeout(seconds)
        return next(self.events, None)

    def snapshot(self) -> str:
        """Reads the snapshot and returns the id of its last event."""
        while (event := self.next()) is not None:
            if event.id is not None:
                return event.id
        raise AssertionError("the stream ended before its snapshot")

    def close(self) -> None:
        self.answer.close()
        self.socket.close()

    def _read_chunks(self) -> Iterator[bytes]:
        while chunk := self.answer.read1(65536):
            self.raw = (self.raw + chunk)[-4096:]
            yield chunk


@dataclass
class Web:
    """The web processes of the service, on the database of the test's application."""

    port: int
    process: "subprocess.Popen[bytes]"
    log: Path
    opened: list[StreamClient] = field(default_factory=list)

    def listen(self, path: str, headers: dict[str, str], position: str | None = None, **options: Any) -> StreamClient:
        position_header = {} if position is None else {"Last-Event-ID": position}
        self.opened.append(StreamClient(self.port, path, {**headers, **position_header}, **options))
        return self.opened[-1]

    def leave(self) -> None:
        """Closes all streams."""
        while self.opened:
            self.opened.pop().close()

    @property
    def workers(self) -> list[int]:
        processes = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True
        )
        return [int(pid) for pid in processes.stdout.split()]

    def stop(self) -> float:
        """Stops the service and returns the seconds that it took."""
        start_time = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        wait_for_exit(self.process)
        return time.monotonic() - start_time


STREAMS_UNIT = ("-c", "gunicorn_streams.conf.py")
"""Arguments of `run_web` for the process of greenlets that serves streams alone."""


@contextmanager
def run_web(app: Flask, folder: Path, *arguments: str, **variables: str) -> Iterator[Web]:
    """gunicorn with the service's settings; two workers of eight threads by default."""
    settings, port, log = app.extensions["settings"], free_port(), folder / "web.log"
    environment = {
        **{name: value for name, value in os.environ.items() if name not in OURS},
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": settings.REDIS_URL,
        "SECRET_KEY": settings.SECRET_KEY,
        "PUBLIC_BASE_URL": settings.PUBLIC_BASE_URL,
        "DATA_DIR": str(settings.DATA_DIR),
        "PORT": str(port),
        "RATE_LIMIT_SCALE": "10000",
        "PGAPPNAME": "web",
        **variables,
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*WEB, *arguments], cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        until_ready(f"http://127.0.0.1:{port}", process, log)
        yield Web(port, process, log)
    finally:
        if process.poll() is None:
            process.terminate()
            wait_for_exit(process)
    assert "Traceback" not in log.read_text(), log.read_text()[-4000:]


class ReconnectingClient(threading.Thread):
    """A client that follows a stock like the guide, and reconnects when its connection breaks."""

    def __init__(self, service: Web, path: str, headers: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self.service, self.path, self.headers = service, path, headers
        self.seen: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.position: str | None = None
        self.connection: StreamClient | None = None
        self.over = threading.Event()
        self.begun = 0

    def run(self) -> None:
        while not self.over.is_set():
            with suppress(*CONNECTION_ERRORS):
                self.connection = self.service.listen(self.path, self.headers, self.position)
                self.begun += self.connection.status == 200
                while (event := self.connection.next(5)) is not None:
                    self.remember(event.id)
                    self.names.append(event.name)
                    self.seen += event.data.get("changes", [])
            time.sleep(0.02)

    def remember(self, id: str | None) -> None:
        self.position = id or self.position

    def cut(self) -> None:
        """Breaks the connection."""
        with suppress(*CONNECTION_ERRORS, AttributeError):
            self.connection.socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
