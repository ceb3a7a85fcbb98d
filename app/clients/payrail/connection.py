"""Bytes to and from a rail: one HTTP exchange within the deadline of its caller, over connections that are kept."""

import os
import ssl
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from urllib.parse import urlsplit

import httpcore
import httpx

from app.clients.payrail import wire
from app.clients.payrail.deadline import DeadlineBackend

CONNECTIONS, IDLE = 32, 10.0
BROKEN = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    OSError,
)
"""How an exchange ends without an answer."""
NEVER_LEFT = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout, httpcore.UnsupportedProtocol)
"""Those of them after which nothing can have reached the rail."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """Where the rail is, who we are there, and how long we wait (seconds): to connect, and for everything."""

    url: str
    key: str = field(repr=False)
    secret: str = field(repr=False)
    connect: float = 3.0
    total: float = 15.0


@dataclass(frozen=True)
class Received:
    """An answer as it came: names of headers in small letters, and not more of the body than a message may have."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """The way to one address, for all threads of a process."""

    def __init__(self, account: Account) -> None:
        parts = urlsplit(account.url.rstrip("/"))
        self.origin, self.prefix, self._connect = f"{parts.scheme}://{parts.netloc}", parts.path, account.connect
        self._host = parts.netloc
        self._lock, self._pid = Lock(), 0
        self._pool: httpcore.ConnectionPool | None = None

    def send(self, method: str, path: str, body: bytes, headers: list[tuple[str, str]]) -> Received:
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
                if len(raw) > wire.LARGEST:
                    break
        told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return Received(response.status, told, bytes(raw))

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
