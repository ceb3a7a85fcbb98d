"""A deadline for a whole exchange: looking the name up, connecting, TLS, sending, every byte of the answer.

HTTP clients bound each step and not their sum, so a server that drips a byte a second holds them for as long as it
likes. Here every step gets what is left of the whole.
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

_ends: ContextVar[float] = ContextVar("deadline_of_exchange", default=float("inf"))


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """What happens inside, in this thread, ends after so many seconds."""
    token = _ends.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends.reset(token)


def remaining_seconds(limit: float | None = None) -> float:
    """Seconds left, or `limit` when that is less."""
    remaining = _ends.get() - time.monotonic()
    return remaining if limit is None else min(limit, remaining)


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose every read and write ends with the deadline of the thread that makes it."""

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
    """Connects within the limit for connecting, however many addresses a name has and however slow its lookup is."""

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
            refused: Exception = httpcore.ConnectError("the name has no address")
            for address in _addresses(host, port):
                if (seconds := remaining_seconds()) <= 0:
                    raise httpcore.ConnectTimeout("deadline")
                try:
                    return DeadlineStream(
                        self._plain.connect_tcp(address, port, seconds, local_address, socket_options)
                    )
                except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                    refused = error
        raise refused

    def sleep(self, seconds: float) -> None:
        self._plain.sleep(seconds)


def _addresses(host: str, port: int) -> list[str]:
    """The addresses of a name. The system's lookup cannot be bounded, so it is left behind when the time is up."""
    answer: Future[list[str]] = Future()
    threading.Thread(target=_look_up, args=(answer, host, port), daemon=True).start()
    try:
        return answer.result(max(0.0, remaining_seconds()))
    except TooSlow:
        raise httpcore.ConnectTimeout("name lookup") from None
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error


def _look_up(answer: Future[list[str]], host: str, port: int) -> None:
    try:
        result = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        answer.set_result([str(item[4][0]) for item in result])
    except Exception as error:
        answer.set_exception(error)
