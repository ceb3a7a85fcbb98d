"""What stands behind the proxy: gunicorn on a socket that is handed to it as systemd does, or a server that tells what
it was asked."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import orjson
from flask import Flask

from tests.faults.service import OURS, ROOT
from tests.waiting import wait_for_exit

# The number of the descriptor and of the process are said in the environment of anyone who is to listen.
TAKE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.executable, sys.argv[2:])
"""
PLAINLY = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
STREAMS_UNIT = [sys.executable, "-m", "gunicorn", "-c", "gunicorn_streams.conf.py", "wsgi:app"]


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """What the socket unit does."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen(4096)
        yield listener


class Web:
    """gunicorn as its unit starts it: ready when it has told so."""

    def __init__(
        self, app: Flask, folder: Path, listener: socket.socket | None, command: list[str] = PLAINLY, **more: str
    ) -> None:
        settings = app.extensions["settings"]
        self.log = folder / f"web-{time.monotonic_ns()}.log"
        notified = folder / f"notify-{time.monotonic_ns()}"
        environment = {
            **{name: value for name, value in os.environ.items() if name not in OURS},
            "DATABASE_URL": settings.DATABASE_URL,
            "REDIS_URL": settings.REDIS_URL,
            "SECRET_KEY": settings.SECRET_KEY,
            "PUBLIC_BASE_URL": settings.PUBLIC_BASE_URL,
            "TRUSTED_HOSTS": "festival.example",
            "PROXY_HOPS": "1",
            "DATA_DIR": str(settings.DATA_DIR),
            "STORAGE_URL": f"file://{folder}/storage",
            "RATE_LIMIT_SCALE": "10000",
            "PAYRAIL_MODE": settings.PAYRAIL_MODE,
            "PAYRAIL_URL": settings.rail_url or "",
            "NOTIFY_SOCKET": str(notified),
            **more,
        }
        argv = command if listener is None else [sys.executable, "-c", TAKE, str(listener.fileno()), *command]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear, self.log.open("ab") as output:
            ear.bind(str(notified))
            ear.settimeout(40)
            self.process = subprocess.Popen(
                argv,
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[] if listener is None else [listener.fileno()],
            )
            assert ear.recv(1000).startswith(b"READY=1"), self.log.read_text()

    def stop(self) -> None:
        """As `systemctl stop` does: the master is told, and has its time."""
        if self.process.poll() is None:
            self.process.terminate()
            wait_for_exit(self.process)
        assert "Traceback" not in self.log.read_text(), self.log.read_text()[-4000:]


@contextmanager
def web(app: Flask, folder: Path, listener: socket.socket | None, **more: str) -> Iterator[Web]:
    found = Web(app, folder, listener, **more)
    try:
        yield found
    finally:
        found.stop()


class Mirror(BaseHTTPRequestHandler):
    """Answers with what it was asked, and remembers it. The path decides about the manner of the answer."""

    protocol_version = "HTTP/1.1"
    server: "Mirrors"

    def address_string(self) -> str:
        return "proxy"

    def log_message(self, *_: Any) -> None:
        return

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path))
        if self.path.startswith("/silent"):
            self.server.over.wait(90)
        # The second request of a connection finds it gone, as when a worker ends.
        if self.path.startswith("/gone") and getattr(self, "used", False):
            self.close_connection = True
            return
        self.used = True
        headers = {name.lower(): value for name, value in self.headers.items()}
        told = orjson.dumps({"headers": headers, "bytes": len(body), "path": self.path})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.send_header("X-Request-Id", self.headers.get("X-Request-Id", ""))
        self.end_headers()
        self.wfile.write(told)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815


class Mirrors(ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, path: Path) -> None:
        self.seen: list[tuple[str, str]] = []
        self.over = threading.Event()
        super().__init__(str(path), Mirror)
        path.chmod(0o666)

    def handle_error(self, *_: Any) -> None:
        return


@contextmanager
def mirrors(path: Path) -> Iterator[Mirrors]:
    server = Mirrors(path)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        with suppress(FileNotFoundError):
            path.unlink()
