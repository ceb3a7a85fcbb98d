"""When which topic is read: at once after a notification, then not again for a moment; now and then in any case."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.web.streams.listener import Listener
from app.web.streams.source import Asked

GAP, AGAIN, ANYWAY = 0.1, 1.0, 10.0
AT_ONCE = 20
"""Positions that one reading takes together."""


@dataclass
class State:
    rung: bool = False
    reading: bool = False
    not_before: float = 0.0
    anyway_at: float = 0.0


class Topics:
    """The state of each topic that has listeners."""

    def __init__(self) -> None:
        self.states: dict[str, State] = {}

    def ring(self, *topics: str) -> None:
        """Says that there may be something new. Topics without listeners are of no interest: see `begin`."""
        for topic in topics:
            self.states.setdefault(topic, State()).rung = True

    def wait(self) -> float:
        """Seconds until a topic may be read."""
        now = time.monotonic()
        times = [state.not_before for state in self.states.values() if state.rung and not state.reading]
        return max(0.0, min(times, default=now + ANYWAY) - now)

    def due(self) -> list[str]:
        """Topics to be read now."""
        now = time.monotonic()
        return [
            topic
            for topic, it in self.states.items()
            if not it.reading and now >= it.not_before and (it.rung or now >= it.anyway_at)
        ]

    def begin(self, topic: str, listeners: Iterable[Listener]) -> dict[str, set[Asked]]:
        """Who waits for news, by position; a topic that nobody waits for is forgotten."""
        waiting: dict[str, set[Asked]] = {}
        state = self.states[topic]
        state.rung = False
        for item in self.live(topic, listeners):
            if item.position in waiting or len(waiting) < AT_ONCE:
                waiting.setdefault(str(item.position), set()).add(item.ticket.asked)
            else:
                state.rung = True
        state.reading = bool(waiting)
        if not waiting:
            del self.states[topic]
        return waiting

    def end(self, topic: str, *, heard: bool) -> None:
        """The reading is over; without an answer it is tried again soon."""
        state, now = self.states[topic], time.monotonic()
        state.reading = False
        state.rung = state.rung or not heard
        state.not_before = now + (GAP if heard else AGAIN)
        state.anyway_at = now + ANYWAY

    @staticmethod
    def live(topic: str, listeners: Iterable[Listener]) -> Iterator[Listener]:
        """Listeners who have the state and wait for what is new."""
        for listener in list(listeners):
            if listener.ticket.topic == topic and listener.position is not None and not listener.leaving:
                yield listener
