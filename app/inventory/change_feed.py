"""The changes of the stock since a position; no change is lost or repeated.

    position = load_position()                          # before the items are read for the snapshot of the stream
    change_set = load_changes(event_id, position)       # after each NOTIFY on `movement_sql.CHANNEL` for the event
    change_set.changes, change_set.position             # the position is the `id:` of the event and the Last-Event-ID

Positions are those of `app.core.change_positions`.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from app.core.change_positions import load_position, parse_snapshot
from app.core.db import fetch_rows
from app.inventory.sql import CHANGES_SQL

RETENTION = timedelta(hours=48)
"""How long changes are kept. Positions are valid for half of that time, so that no valid one misses deleted changes."""
MAX_CHANGES = 1000


class StockChange(NamedTuple):
    """A change: `moved` (with its movement), `created`, `changed`, `low`, or `many` items together (without an item)."""

    seq: int
    kind: str
    item_id: str | None
    movement: int | None


class ChangeSet(NamedTuple):
    """The changes, in order for each item, and the new position.

    `resync`: the position is too old or there are too many changes; the client must load the items again.
    """

    changes: list[StockChange]
    position: str
    resync: bool


def load_changes(event_id: str, position: str) -> ChangeSet:
    """Return the changes of an event since a position, in one query."""
    return load_changes_by_position(event_id, [position])[position]


def load_changes_by_position(event_id: str, positions: Sequence[str]) -> dict[str, ChangeSet]:
    """Return the changes since each of several positions, in one query; all get the same new position."""
    snapshots = {
        position: snapshot
        for position in positions
        if (snapshot := parse_snapshot(position, RETENTION / 2)) is not None
    }
    params = {"event": event_id, "snapshots": list(snapshots.values()), "most": MAX_CHANGES + 1}
    rows = fetch_rows(CHANGES_SQL, params) if snapshots else []
    new_position = str(rows[0][0]) if rows else load_position()
    changes: dict[str, list[StockChange]] = {position: [] for position in snapshots}
    valid_positions = list(snapshots)
    for _, snapshot_number, *change in rows:
        if change[0] is not None:
            changes[valid_positions[snapshot_number - 1]].append(StockChange(*change))
    return {position: _build_change_set(changes.get(position), new_position) for position in positions}


def _build_change_set(changes: list[StockChange] | None, position: str) -> ChangeSet:
    if changes is None or len(changes) > MAX_CHANGES or any(change.kind == "many" for change in changes):
        return ChangeSet([], position, resync=True)
    return ChangeSet(changes, position, resync=False)
