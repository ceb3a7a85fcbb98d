"""Rings for what is due: the relay's work of every second."""

from sqlalchemy import text

from app.core.db import db
from app.core.outbox.wakeup import WakeupQueue

DUE = text("""
    SELECT id FROM outbox WHERE state = 'ready' AND run_at <= now() AND critical = :critical AND bulk = :bulk
    ORDER BY run_at LIMIT :limit
""")
RANKS = ((True, False), (False, False), (False, True))
"""Critical, ordinary, bulk: in this order."""


def wake_for_due_jobs(bell: WakeupQueue) -> int:
    """Puts as many bells out as there are due rows and room; how many. Raises RedisError.

    Nothing is noted about it: anyone who answers a bell takes what is due then, so bells that Redis lost are
    replaced a second later, and bells that wait unanswered are not added to.
    """
    room = bell.free_slots()
    ids: list[int] = []
    for critical, bulk in RANKS:
        ids += db.session.execute(DUE, {"critical": critical, "bulk": bulk, "limit": room - len(ids)}).scalars()
    if ids:
        bell.notify(ids)
    return len(ids)
