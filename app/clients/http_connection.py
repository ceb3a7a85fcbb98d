"""Bytes to and from another service: one HTTP exchange within its caller's deadline, over connections that are kept."""

import os
import ssl
from dataclasses import dataclass
from functools import cache
from threading import Lock
from urllib.parse import urlsplit

import httpcore
import httpx

from app.clients.deadline import DeadlineBackend

CONNECTIONS, IDLE, LARGEST = 32, 10.0, 64 * 1024
BROKEN = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    OSError,
)
"""How an exchange ends without an answer."""
NEVER_LEFT = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout, httpcore.UnsupportedProtocol)
"""Those of them after which nothing can have reached the other side."""


@dataclass(frozen=True)
class HttpResponse:
    """An answer as it came: names of headers in small letters, and not more of the body than a message may have."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """The way to one address, for all threads of a process: `connect` seconds to reach it, no longer answers."""

    def __init__(self, url: str, *, connect: float = 3.0, largest: int = LARGEST) -> None:
        parts = urlsplit(url.rstrip("/"))
        self._host = parts.netloc.rpartition("@")[2]
        self.origin, self.prefix = f"{parts.scheme}://{self._host}", parts.path
        self._connect, self._largest = connect, largest
        self._lock, self._pid = Lock(), 0
        self._pool: httpcore.ConnectionPool | None = None

    def send(self, method: str, path: str, body: bytes, headers: list[tuple[str, str]]) -> HttpResponse:
        """What comes back. Raises BROKEN."""
        headers = [("Host", self._host), ("Accept", "application/json"), ("Accept-Encoding", "identity"), *headers]
        if body:
            headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        limit = {"connect": self._connect, "pool": self._connect}
        raw = bytearray()
        with self.pool().stream(
            method, self.origin + path, headers=headers, content=body or None, extensions={"timeout": limit}
        ) as response:
            for chunk in response.iter_stream():
                raw += chunk
                if len(raw) > self._largest:
                    break
        values = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return HttpResponse(response.status, values, bytes(raw))

    def pool(self) -> httpcore.ConnectionPool:
        """The pool of this process: one that was inherited over a fork belongs to the parent."""
        with self._lock:
            if self._pool is None or self._pid != os.getpid():
                self._pid = os.getpid()
                self._pool = httpcore.ConnectionPool(
                    ssl_context=_tls() if self.origin.startswith("https:") else None,
                    max_connections=CONNECTIONS,
                    max_keepalive_connections=CONNECTIONS,
                    keepalive_expiry=IDLE,
                    network_backend=DeadlineBackend(),
                )
            return self._pool


@cache
def _tls() -> ssl.SSLContext:
    """Read once: the authorities' certificates take longer to load than a call takes."""
    return httpx.create_ssl_context()
