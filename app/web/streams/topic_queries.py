"""The queries that a domain gives for a stream of its topics."""

from collections.abc import Mapping, Set
from typing import Any, Protocol

FilterKey = tuple[tuple[str, Any], ...]
"""The filters of a client, sorted by name: clients with equal filters get the same bytes."""


class TopicQueries(Protocol):
    """All `bytes` are JSON on one line; positions are sent as `id:`."""

    channel: str
    """The channel of PostgreSQL's notifications of a change; the payload is the topic."""
    max_gap_seconds: float
    """After so many seconds changes are read also without a notification."""

    def load_position(self) -> str:
        """Return the position of a client that reads now."""

    def load_snapshot_page(self, topic: str, filters: FilterKey, after: str) -> tuple[bytes, str | None]:
        """Return a page of the topic's state after the key `after`, and the key of the next page; None on the last."""

    def load_updates(
        self, topic: str, filters_by_position: Mapping[str, Set[FilterKey]]
    ) -> tuple[str, dict[str, dict[FilterKey, bytes | None] | None]]:
        """Return the new position, common to all, and the updates since each given position by filters.

        None for filters without updates. None instead of all: the client must load the snapshot again.
        """
