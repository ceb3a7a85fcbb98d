"""One client of a stream: who it is, what it waits for, and what is still to be written to it."""

import random
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

from app.accounts.caller import Caller
from app.web.streams import frames
from app.web.streams.source import Asked

LONGEST, EARLIER = 600.0, 60.0
HEARTBEAT = 15.0
BACKLOG = 256 * 1024
STUCK = 30.0
CHATTER = 64 * 1024
GATHERED = 64


class Gone(Exception):
    """The client has gone, or reads too slowly to be served."""


@dataclass
class Ticket:
    """What a request asked for and was granted."""

    topic: str
    asked: Asked
    position: str | None
    caller: Caller
    place: str
    joined: bool = False


@dataclass(eq=False)
class Listener:
    """A connection. Only the thread of the hall touches it.

    `position`: up to where it has been told; None while it is given the state, page by page (`page_after`).
    """

    socket: socket.socket
    chunked: bool
    ticket: Ticket
    clock: Callable[[], float] = time.monotonic
    position: str | None = None
    start: str | None = None
    page_after: str | None = None
    paging: bool = False
    leaving: bool = False
    outgoing: deque[memoryview] = field(default_factory=deque)
    pending: int = 0
    heard: int = 0

    def __post_init__(self) -> None:
        self.moved_at = self.wrote_at = self.clock()
        self.ends_at = self.clock() + LONGEST - random.uniform(0, EARLIER)
        self.position = self.ticket.position
        if self.position is None:
            self.page_after = ""

    def say(self, data: bytes) -> None:
        """Writes what the connection takes now; the rest when it takes more. Raises Gone."""
        if self.pending > BACKLOG:
            raise Gone("reads too slowly")
        for item in frames.chunk(data) if self.chunked else (data,):
            self._queue(item)
        self.wrote_at = self.clock()
        self.flush()

    def end(self) -> None:
        """Ends the answer well, once everything is written."""
        if not self.leaving:
            self.leaving = True
            if self.chunked:
                self._queue(frames.LAST_CHUNK)

    def flush(self) -> None:
        """Raises Gone."""
        try:
            while self.outgoing:
                self._wrote(self.socket.sendmsg(list(islice(self.outgoing, GATHERED))))
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            raise Gone("connection lost") from error

    def listen(self) -> None:
        """Reads what comes from a client that has nothing more to say. Raises Gone."""
        try:
            said = self.socket.recv(4096)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            raise Gone("connection lost") from error
        self.heard += len(said)
        if not said or self.heard > CHATTER:
            raise Gone("has left")

    def check(self) -> None:
        """Keeps the connection alive, and ends what has lasted long enough. Raises Gone."""
        now = self.clock()
        if self.pending and now - self.moved_at > STUCK:
            raise Gone("reads nothing")
        if now >= self.ends_at:
            self.end()
        elif not self.leaving and now - self.wrote_at >= HEARTBEAT - 1:
            self.say(frames.heartbeat(self.position))

    @property
    def done(self) -> bool:
        return self.leaving and not self.outgoing

    @property
    def wants_page(self) -> bool:
        """Whether it is time for the next part of the state: nothing is prepared for who has not read the last."""
        return self.page_after is not None and not (self.paging or self.leaving or self.outgoing)

    def _wrote(self, sent: int) -> None:
        self.pending -= sent
        self.moved_at = self.clock()
        while sent:
            first = self.outgoing.popleft()
            if sent < len(first):
                self.outgoing.appendleft(first[sent:])
            sent -= min(sent, len(first))

    def _queue(self, data: bytes) -> None:
        if not self.outgoing:
            self.moved_at = self.clock()
        self.outgoing.append(memoryview(data))
        self.pending += len(data)
