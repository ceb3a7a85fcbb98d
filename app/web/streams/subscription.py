"""What waits to be sent to one client."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from app.accounts.caller import Caller
from app.web.streams import sse_format
from app.web.streams.topic_queries import FilterKey

HEARTBEAT_SECONDS = 2.0
"""A client that has gone is noticed at the second write after it, so within four seconds."""
MAX_PENDING_BYTES = 256 * 1024


@dataclass(eq=False)
class Subscription:
    """The broadcaster adds events, the client's response takes them.

    `position`: of the last event that was added. `needs_resync`: it ended because the client must load a snapshot.
    """

    topic: str
    filters: FilterKey
    caller: Caller
    position: str
    ends_at: float
    needs_resync: bool = False
    is_ended: bool = False
    added_bytes: int = 0
    taken_bytes: int = 0
    events: SimpleQueue[bytes | None] = field(default_factory=SimpleQueue)

    def add(self, position: str, event: bytes) -> None:
        """Add an event (b"" for none). A client that reads too slowly is ended; it loses nothing when it reconnects."""
        self.position = position
        if not event:
            return
        if self.added_bytes - self.taken_bytes > MAX_PENDING_BYTES:
            self.end()
        else:
            self.added_bytes += len(event)
            self.events.put(event)

    def end(self, *, needs_resync: bool = False) -> None:
        """End the response once it has sent what was added before."""
        if not self.is_ended:
            self.is_ended, self.needs_resync = True, needs_resync
            self.events.put(None)

    def iterate_events(self) -> Iterator[bytes]:
        """Wait for events and yield them, heartbeats between them, until the subscription or its time ends."""
        while (now := time.monotonic()) < self.ends_at:
            position = self.position
            try:
                event = self.events.get(timeout=min(HEARTBEAT_SECONDS, self.ends_at - now))
            except Empty:
                # The position is older than the wait, so no event before it is still to come.
                yield sse_format.format_heartbeat(position)
                continue
            if event is None:
                return
            self.taken_bytes += len(event)
            yield event
