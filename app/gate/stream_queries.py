"""The data of the stream of a gate: what changed since the position of its snapshot (see docs/admissions.md)."""

from collections.abc import Mapping, Set
from typing import Any

from app.core import change_positions
from app.core.errors import NotFound
from app.events.ticket_import_sql import GATE_CHANNEL
from app.gate.snapshot import build_content, load_changes_by_position, load_event

FilterKey = tuple[tuple[str, Any], ...]
channel, max_gap_seconds = GATE_CHANNEL, 1.0
"""Scans and claims notify nobody: a NOTIFY makes the commits of all gates wait for each other."""
load_position = change_positions.load_position


def load_snapshot_page(event_id: str, filters: FilterKey, after: str) -> tuple[bytes, str | None]:
    """Return an empty object: a gate loads the snapshot by the operation of that name, and follows from its position."""
    return b"{}", None


def load_updates(
    event_id: str, filters_by_position: Mapping[str, Set[FilterKey]]
) -> tuple[str, dict[str, dict[FilterKey, bytes | None] | None]]:
    """Return the new position and, for each given position, the changed places by the salt of the device.

    None instead of the places: the device must load the snapshot again. Raises NotFound.
    """
    event = load_event(event_id)
    if event is None:
        raise NotFound()
    changes_by_position = load_changes_by_position(event_id, list(filters_by_position))
    (position, *_) = {changes.position for changes in changes_by_position.values()}
    return position, {
        old_position: None
        if changes.ids is None
        else {
            filters: build_content(event, dict(filters)["salt"], changes.ids) if changes.ids else None
            for filters in filters_by_position[old_position]
        }
        for old_position, changes in changes_by_position.items()
    }
