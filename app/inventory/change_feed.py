"""The changes of the stock since a position; no change is lost or repeated.

    position = load_position()                          # before the items are read for the snapshot of the stream
    change_set = load_changes(event_id, position)       # after each NOTIFY on `movement_sql.CHANNEL` for the event
    change_set.changes, change_set.position             # the position is the `id:` of the event and the Last-Event-ID

A position contains PostgreSQL's snapshot of a reader and its time. A change is new when its transaction was not visible
in the snapshot. A transaction that starts early and commits late therefore appears once, after its commit.
See docs/decisions/stock-change-feed.md.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from time import time
from typing import NamedTuple

from app.core.db import fetch_row, fetch_rows
from app.inventory.sql import CHANGES_SQL, POSITION_SQL

RETENTION = timedelta(hours=48)
"""How long changes are kept. Positions are valid for half of that time, so that no valid one misses deleted changes."""
MAX_CHANGES = 1000
_POSITION = re.compile(r"(\d{9,11})-((\d{1,19}):(\d{1,19}):((?:\d{1,19}(?:,\d{1,19})*)?))", re.ASCII)


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


def load_position() -> str:
    """Return the position of a reader that starts now."""
    row = fetch_row(POSITION_SQL, ())
    assert row is not None
    return str(row[0])


def load_changes(event_id: str, position: str) -> ChangeSet:
    """Return the changes of an event since a position, in one query."""
    return load_changes_by_position(event_id, [position])[position]


def load_changes_by_position(event_id: str, positions: Sequence[str]) -> dict[str, ChangeSet]:
    """Return the changes since each of several positions, in one query; all get the same new position."""
    snapshots = {position: snapshot for position in positions if (snapshot := _parse_snapshot(position)) is not None}
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


def _parse_snapshot(position: str) -> str | None:
    """Return the snapshot of a position; None when it is too old or malformed."""
    match = _POSITION.fullmatch(position)
    if match is None:
        return None
    age = time() - int(match[1])
    xmin, xmax = int(match[3]), int(match[4])
    running_ids = [int(part) for part in match[5].split(",") if part]
    is_valid = (
        0 < xmin <= xmax < 2**63
        and running_ids == sorted(set(running_ids))
        and all(xmin <= transaction_id < xmax for transaction_id in running_ids)
    )
    # PostgreSQL refuses transaction numbers whose lower 32 bits are zero.
    is_valid = is_valid and all(transaction_id % 2**32 for transaction_id in (xmin, xmax, *running_ids))
    return match[2] if is_valid and -60 < age < RETENTION.total_seconds() / 2 else None
