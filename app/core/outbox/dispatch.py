"""Sends wakeups for due rows; the relay does this every second."""

from sqlalchemy import text

from app.core.db import db
from app.core.outbox.wakeup import WakeupQueue

DUE = text("""
    SELECT id FROM outbox WHERE state = 'ready' AND run_at <= now() AND critical = :critical AND bulk = :bulk
    ORDER BY run_at LIMIT :limit
""")
PRIORITIES = ((True, False), (False, False), (False, True))
"""(critical, bulk) in order: critical rows, ordinary rows, bulk rows."""


def wake_for_due_jobs(wakeup_queue: WakeupQueue) -> int:
    """Send a wakeup for each due row, as far as the queue has room, and return how many. Raises RedisError.

    No wakeup is recorded: a worker takes whatever is due, so a wakeup that Redis lost is replaced a second later.
    """
    room = wakeup_queue.free_slots()
    ids: list[int] = []
    for critical, bulk in PRIORITIES:
        ids += db.session.execute(DUE, {"critical": critical, "bulk": bulk, "limit": room - len(ids)}).scalars()
    if ids:
        wakeup_queue.notify(ids)
    return len(ids)
