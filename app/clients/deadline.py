"""A deadline for a whole HTTP exchange: name lookup, connection, TLS, request and every byte of the response.

HTTP clients limit each step but not their sum, so a server that sends a byte per second can hold them without limit.
Here every step gets the remaining time.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooSlow
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore

_ends_at: ContextVar[float] = ContextVar("deadline_of_exchange", default=float("inf"))


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Limit the network calls of the block, in this thread, to so many seconds in all."""
    token = _ends_at.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends_at.reset(token)


def remaining_seconds(limit: float | None = None) -> float:
    """The remaining seconds, or `limit` if that is less."""
    remaining = _ends_at.get() - time.monotonic()
    return remaining if limit is None else min(limit, remaining)


class DeadlineStream(httpcore.NetworkStream):
    """A connection that limits every read and write to the deadline of the current thread."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if (seconds := remaining_seconds(timeout)) <= 0:
            raise httpcore.ReadTimeout("deadline")
        return self._stream.read(max_bytes, seconds)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if (seconds := remaining_seconds(timeout)) <= 0:
            raise httpcore.WriteTimeout("deadline")
        self._stream.write(buffer, seconds)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        if (seconds := remaining_seconds(timeout)) <= 0:
            raise httpcore.ConnectTimeout("deadline")
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, seconds))

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class DeadlineBackend(httpcore.NetworkBackend):
    """Connects within the connect timeout, including the name lookup and all addresses of the name."""

    def __init__(self) -> None:
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        with deadline(remaining_seconds(timeout)):
            last_error: Exception = httpcore.ConnectError("the name has no address")
            for address in _resolve(host, port):
                if (seconds := remaining_seconds()) <= 0:
                    raise httpcore.ConnectTimeout("deadline")
                try:
                    return DeadlineStream(
                        self._plain.connect_tcp(address, port, seconds, local_address, socket_options)
                    )
                except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                    last_error = error
        raise last_error

    def sleep(self, seconds: float) -> None:
        self._plain.sleep(seconds)


def _resolve(host: str, port: int) -> list[str]:
    """The addresses of a name. The system's lookup has no timeout, so it runs in a thread that may be abandoned."""
    addresses: Future[list[str]] = Future()
    threading.Thread(target=_look_up, args=(addresses, host, port), daemon=True).start()
    try:
        return addresses.result(max(0.0, remaining_seconds()))
    except TooSlow:
        raise httpcore.ConnectTimeout("name lookup") from None
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error


def _look_up(addresses: Future[list[str]], host: str, port: int) -> None:
    try:
        records = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses.set_result([str(record[4][0]) for record in records])
    except Exception as error:
        addresses.set_exception(error)
