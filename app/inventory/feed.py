"""What listeners of a stock have to be told, without loss and without waiting for anybody.

    position = here()                                   # take it before the snapshot of items that goes out first
    told = since(event_id, position)                    # again after each NOTIFY on `book.CHANNEL`, payload: the event
    told.changes, told.position                         # which is what `id:` carries and Last-Event-ID gives back

A position is what its reader could see: PostgreSQL's snapshot, and when it was taken. What is new is whatever was not
visible in it, so a transaction that began early and committed late is told when it has committed, and never twice.
See docs/decisions/stock-change-feed.md.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from time import time
from typing import NamedTuple

from app.core.db import fetch_row, fetch_rows

KEPT = timedelta(hours=48)
"""How long changes are kept; positions count for half of that, so that none is asked for while it is removed."""
MOST = 1000
_POSITION = re.compile(r"(\d{9,11})-((\d{1,19}):(\d{1,19}):((?:\d{1,19}(?:,\d{1,19})*)?))", re.ASCII)
HERE = "SELECT extract(epoch FROM clock_timestamp())::bigint || '-' || pg_current_snapshot()::text"
SINCE = f"""
WITH here AS MATERIALIZED ({HERE} AS position)
SELECT here.position, p.number, c.seq, c.kind, c.item_id, c.movement
  FROM here CROSS JOIN unnest(%(snapshots)s::text[]::pg_snapshot[]) WITH ORDINALITY p(snapshot, number)
  LEFT JOIN LATERAL (SELECT seq, kind, item_id, movement FROM inventory_change
                      WHERE event_id = %(event)s AND xid >= pg_snapshot_xmin(p.snapshot)
                        AND NOT pg_visible_in_snapshot(xid, p.snapshot)
                      ORDER BY seq LIMIT %(most)s) c ON true
 ORDER BY p.number, c.seq
"""


class StockChange(NamedTuple):
    """A change: `moved` (with its movement), `created`, `changed`, `low`, or `many` items at once (without an item)."""

    seq: int
    kind: str
    item_id: str | None
    movement: int | None


class Told(NamedTuple):
    """What has changed, each item's own changes in their order, and where to go on. `resync`: the position is too old
    or too much has changed since; take a fresh snapshot of the items."""

    changes: list[StockChange]
    position: str
    resync: bool


def here() -> str:
    """The position of somebody who reads now."""
    row = fetch_row(HERE, ())
    assert row is not None
    return str(row[0])


def since(event_id: str, position: str) -> Told:
    """What an event's listener at this position has to be told, in one query."""
    return since_each(event_id, [position])[position]


def since_each(event_id: str, positions: Sequence[str]) -> dict[str, Told]:
    """The same for listeners at several positions, in one query: afterwards they stand at one."""
    snapshots = {position: found for position in positions if (found := _snapshot(position)) is not None}
    asked = {"event": event_id, "snapshots": list(snapshots.values()), "most": MOST + 1}
    rows = fetch_rows(SINCE, asked) if snapshots else []
    now = str(rows[0][0]) if rows else here()
    changes: dict[str, list[StockChange]] = {position: [] for position in snapshots}
    known = list(snapshots)
    for _, number, *change in rows:
        if change[0] is not None:
            changes[known[number - 1]].append(StockChange(*change))
    return {position: _told(changes.get(position), now) for position in positions}


def _told(changes: list[StockChange] | None, now: str) -> Told:
    if changes is None or len(changes) > MOST or any(change.kind == "many" for change in changes):
        return Told([], now, resync=True)
    return Told(changes, now, resync=False)


def _snapshot(position: str) -> str | None:
    """The snapshot of a position that counts; None for one that is too old, or none of ours."""
    found = _POSITION.fullmatch(position)
    if found is None:
        return None
    age = time() - int(found[1])
    low, high = int(found[3]), int(found[4])
    running = [int(part) for part in found[5].split(",") if part]
    sane = 0 < low <= high < 2**63 and running == sorted(set(running)) and all(low <= item < high for item in running)
    # PostgreSQL refuses numbers whose lower half is zero: no transaction has one.
    sane = sane and all(item % 2**32 for item in (low, high, *running))
    return found[2] if sane and -60 < age < KEPT.total_seconds() / 2 else None
