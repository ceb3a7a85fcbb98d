"""One client of a stream: who it is, what it waits for, and what is still to be written to it."""

import random
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

from app.accounts.caller import Caller
from app.web.streams import sse_format
from app.web.streams.event_source import FilterKey

MAX_STREAM_SECONDS, END_JITTER_SECONDS = 600.0, 60.0
HEARTBEAT_SECONDS = 15.0
MAX_PENDING_BYTES = 256 * 1024
STALL_SECONDS = 30.0
MAX_RECEIVED_BYTES = 64 * 1024
BUFFERS_PER_WRITE = 64


class ClientGone(Exception):
    """The client has gone, or reads too slowly to be served."""


@dataclass
class StreamRequest:
    """What a request asked for and was granted."""

    topic: str
    filters: FilterKey
    position: str | None
    caller: Caller
    slot_name: str
    is_streaming: bool = False


@dataclass(eq=False)
class ClientConnection:
    """A connection. Only the thread of the hall touches it.

    `position`: up to where it has been told; None while it is given the state, page by page (`page_after`).
    """

    socket: socket.socket
    uses_chunked_encoding: bool
    stream_request: StreamRequest
    clock: Callable[[], float] = time.monotonic
    position: str | None = None
    snapshot_position: str | None = None
    page_key: str | None = None
    is_loading_page: bool = False
    is_ending: bool = False
    write_buffers: deque[memoryview] = field(default_factory=deque)
    pending_bytes: int = 0
    received_bytes: int = 0

    def __post_init__(self) -> None:
        self.progressed_at = self.wrote_at = self.clock()
        self.ends_at = self.clock() + MAX_STREAM_SECONDS - random.uniform(0, END_JITTER_SECONDS)
        self.position = self.stream_request.position
        if self.position is None:
            self.page_key = ""

    def send(self, data: bytes) -> None:
        """Writes what the connection takes now; the rest when it takes more. Raises Gone."""
        if self.pending_bytes > MAX_PENDING_BYTES:
            raise ClientGone("reads too slowly")
        for piece in sse_format.format_chunk(data) if self.uses_chunked_encoding else (data,):
            self._add_buffer(piece)
        self.wrote_at = self.clock()
        self.flush()

    def finish(self) -> None:
        """Ends the answer well, once everything is written."""
        if not self.is_ending:
            self.is_ending = True
            if self.uses_chunked_encoding:
                self._add_buffer(sse_format.LAST_CHUNK)

    def flush(self) -> None:
        """Raises Gone."""
        try:
            while self.write_buffers:
                self._drop_sent_bytes(self.socket.sendmsg(list(islice(self.write_buffers, BUFFERS_PER_WRITE))))
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            raise ClientGone("connection lost") from error

    def receive(self) -> None:
        """Reads what comes from a client that has nothing more to say. Raises Gone."""
        try:
            received = self.socket.recv(4096)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            raise ClientGone("connection lost") from error
        self.received_bytes += len(received)
        if not received or self.received_bytes > MAX_RECEIVED_BYTES:
            raise ClientGone("has left")

    def check_timeouts(self) -> None:
        """Keeps the connection alive, and ends what has lasted long enough. Raises Gone."""
        now = self.clock()
        if self.pending_bytes and now - self.progressed_at > STALL_SECONDS:
            raise ClientGone("reads nothing")
        if now >= self.ends_at:
            self.finish()
        elif not self.is_ending and now - self.wrote_at >= HEARTBEAT_SECONDS - 1:
            self.send(sse_format.format_heartbeat(self.position))

    @property
    def is_done(self) -> bool:
        return self.is_ending and not self.write_buffers

    @property
    def needs_page(self) -> bool:
        """Whether it is time for the next part of the state: nothing is prepared for who has not read the last."""
        return self.page_key is not None and not (self.is_loading_page or self.is_ending or self.write_buffers)

    def _drop_sent_bytes(self, byte_count: int) -> None:
        self.pending_bytes -= byte_count
        self.progressed_at = self.clock()
        while byte_count:
            first_buffer = self.write_buffers.popleft()
            if byte_count < len(first_buffer):
                self.write_buffers.appendleft(first_buffer[byte_count:])
            byte_count -= min(byte_count, len(first_buffer))

    def _add_buffer(self, data: bytes) -> None:
        if not self.write_buffers:
            self.progressed_at = self.clock()
        self.write_buffers.append(memoryview(data))
        self.pending_bytes += len(data)
