"""What a domain gives to be listened to."""

from collections.abc import Mapping, Set
from typing import Any, Protocol

FilterKey = tuple[tuple[str, Any], ...]
"""A listener's filters, sorted by name: equal ones are answered once."""


class EventSource(Protocol):
    """All `bytes` are JSON on one line; positions are what `id:` carries."""

    channel: str
    """Where PostgreSQL notifies of a change; the payload is the topic."""

    def load_position(self) -> str:
        """The position of somebody who reads now."""

    def load_snapshot_page(self, topic: str, filters: FilterKey, after: str) -> tuple[bytes, str | None]:
        """A part of the topic's state behind the key `after`, and the key to go on with; None when it was the last."""

    def load_updates(
        self, topic: str, filters_by_position: Mapping[str, Set[FilterKey]]
    ) -> tuple[str, dict[str, dict[FilterKey, bytes | None] | None]]:
        """The position of this reading, common to all who waited, and what is new since each of theirs: for each
        question bytes, or None when nothing of it concerns them. None in place of all: they must take the state
        anew."""
