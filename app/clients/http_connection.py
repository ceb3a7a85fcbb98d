"""HTTP exchanges with another service over pooled connections, within the caller's deadline."""

import os
import ssl
from dataclasses import dataclass
from functools import cache
from threading import Lock
from urllib.parse import urlsplit

import httpcore

from app.clients.deadline import DeadlineBackend

MAX_CONNECTIONS, IDLE_SECONDS, MAX_BODY_BYTES = 32, 10.0, 64 * 1024
TRANSPORT_ERRORS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    OSError,
)
"""How an exchange fails without a response."""
NOT_SENT = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout, httpcore.UnsupportedProtocol)
"""Those of them after which the request cannot have reached the service."""


@dataclass(frozen=True)
class HttpResponse:
    """A response with lower-case header names. A body over the limit is cut off after the chunk that exceeds it."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """The connections to one URL, for all threads of a process. `connect` is the connect timeout in seconds."""

    def __init__(self, url: str, *, connect: float = 3.0, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        parts = urlsplit(url.rstrip("/"))
        self._host = parts.netloc.rpartition("@")[2]
        self.origin, self.prefix = f"{parts.scheme}://{self._host}", parts.path
        self._connect, self._max_body_bytes = connect, max_body_bytes
        self._lock, self._pid = Lock(), 0
        self._pool: httpcore.ConnectionPool | None = None

    def send(self, method: str, path: str, body: bytes, headers: list[tuple[str, str]]) -> HttpResponse:
        """Send a request and return the response. Raises TRANSPORT_ERRORS."""
        headers = [("Host", self._host), ("Accept", "application/json"), ("Accept-Encoding", "identity"), *headers]
        if body:
            headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        timeouts = {"connect": self._connect, "pool": self._connect}
        content = bytearray()
        with self.pool().stream(
            method, self.origin + path, headers=headers, content=body or None, extensions={"timeout": timeouts}
        ) as response:
            for chunk in response.iter_stream():
                content += chunk
                if len(content) > self._max_body_bytes:
                    break
        response_headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return HttpResponse(response.status, response_headers, bytes(content))

    def pool(self) -> httpcore.ConnectionPool:
        """The pool of this process; one inherited over a fork belongs to the parent."""
        with self._lock:
            if self._pool is None or self._pid != os.getpid():
                self._pid = os.getpid()
                self._pool = httpcore.ConnectionPool(
                    ssl_context=_build_ssl_context() if self.origin.startswith("https:") else None,
                    max_connections=MAX_CONNECTIONS,
                    max_keepalive_connections=MAX_CONNECTIONS,
                    keepalive_expiry=IDLE_SECONDS,
                    network_backend=DeadlineBackend(),
                )
            return self._pool


@cache
def _build_ssl_context() -> ssl.SSLContext:
    """The context with the system's authorities, cached because loading them is slower than a call."""
    return httpcore.default_ssl_context()
