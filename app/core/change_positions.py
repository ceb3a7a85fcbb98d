"""Positions of readers of changes: no change is lost or repeated, whatever the order of the commits.

A position contains PostgreSQL's snapshot of a reader and its time. A change is new when its transaction was not visible
in that snapshot. A transaction that starts early and commits late therefore appears once, after its commit.
See docs/decisions/stock-change-feed.md.
"""

import re
from datetime import timedelta
from time import time

from app.core.db import fetch_row

POSITION_SQL = "SELECT extract(epoch FROM clock_timestamp())::bigint || '-' || pg_current_snapshot()::text"
_POSITION = re.compile(r"(\d{9,11})-((\d{1,19}):(\d{1,19}):((?:\d{1,19}(?:,\d{1,19})*)?))", re.ASCII)


def load_position() -> str:
    """Return the position of a reader that starts now."""
    row = fetch_row(POSITION_SQL, ())
    assert row is not None
    return str(row[0])


def parse_snapshot(position: str, max_age: timedelta) -> str | None:
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
    return match[2] if is_valid and -60 < age < max_age.total_seconds() else None
