"""When which topic is read: at once after a notification, then not again for a moment; now and then in any case."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.web.streams.client_connection import ClientConnection
from app.web.streams.event_source import FilterKey

MIN_GAP_SECONDS, RETRY_SECONDS, MAX_GAP_SECONDS = 0.1, 1.0, 10.0
MAX_POSITIONS_PER_READ = 20
"""Positions that one reading takes together."""


@dataclass
class TopicState:
    has_changed: bool = False
    is_reading: bool = False
    not_before: float = 0.0
    read_again_at: float = 0.0


class Topics:
    """The state of each topic that has listeners."""

    def __init__(self) -> None:
        self.states: dict[str, TopicState] = {}

    def mark_changed(self, *topics: str) -> None:
        """Says that there may be something new. Topics without listeners are of no interest: see `begin`."""
        for topic in topics:
            self.states.setdefault(topic, TopicState()).has_changed = True

    def seconds_until_due(self) -> float:
        """Seconds until a topic may be read."""
        now = time.monotonic()
        times = [state.not_before for state in self.states.values() if state.has_changed and not state.is_reading]
        return max(0.0, min(times, default=now + MAX_GAP_SECONDS) - now)

    def list_due(self) -> list[str]:
        """Topics to be read now."""
        now = time.monotonic()
        return [
            topic
            for topic, state in self.states.items()
            if not state.is_reading and now >= state.not_before and (state.has_changed or now >= state.read_again_at)
        ]

    def start_reading(self, topic: str, clients: Iterable[ClientConnection]) -> dict[str, set[FilterKey]]:
        """Who waits for news, by position; a topic that nobody waits for is forgotten."""
        filters_by_position: dict[str, set[FilterKey]] = {}
        state = self.states[topic]
        state.has_changed = False
        for client in self.iterate_waiting_clients(topic, clients):
            if client.position in filters_by_position or len(filters_by_position) < MAX_POSITIONS_PER_READ:
                filters_by_position.setdefault(str(client.position), set()).add(client.stream_request.filters)
            else:
                state.has_changed = True
        state.is_reading = bool(filters_by_position)
        if not filters_by_position:
            del self.states[topic]
        return filters_by_position

    def finish_reading(self, topic: str, *, succeeded: bool) -> None:
        """The reading is over; without an answer it is tried again soon."""
        state, now = self.states[topic], time.monotonic()
        state.is_reading = False
        state.has_changed = state.has_changed or not succeeded
        state.not_before = now + (MIN_GAP_SECONDS if succeeded else RETRY_SECONDS)
        state.read_again_at = now + MAX_GAP_SECONDS

    @staticmethod
    def iterate_waiting_clients(topic: str, clients: Iterable[ClientConnection]) -> Iterator[ClientConnection]:
        """Listeners who have the state and wait for what is new."""
        for client in list(clients):
            if client.stream_request.topic == topic and client.position is not None and not client.is_ending:
                yield client
