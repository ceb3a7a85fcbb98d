"""Recurring work: the moment it is due next is a row, moved on in the commit that enqueues the work."""

from datetime import timedelta

from sqlalchemy import text

from app.core.jobs import Job, recurring
from app.core.outbox.writing import enqueue
from app.core.transaction import transaction

FIRST = text("INSERT INTO tick (name) SELECT unnest(CAST(:names AS text[])) ON CONFLICT (name) DO NOTHING")
# A missed turn is not made up for; a due too far ahead (the clock, or a shorter span) counts as due.
ADVANCE = text("""
    UPDATE tick SET due = GREATEST(due + :every, now())
    WHERE name = :name AND (due <= now() OR due > now() + :every)
    RETURNING extract(epoch FROM due) AS turn, NOT EXISTS (
        SELECT 1 FROM outbox WHERE aggregate = :aggregate AND state = 'ready') AS free
""")


def tick() -> int:
    """Enqueues every recurring job that is due; how many. Any number of processes may call it."""
    jobs = recurring()
    with transaction() as session:
        session.execute(FIRST, {"names": [job.kind for job in jobs]})
    return sum(_turn(job, job.every) for job in jobs if job.every)


def _turn(job: Job, every: timedelta) -> bool:
    aggregate = f"tick:{job.kind}"
    with transaction() as session:
        row = session.execute(ADVANCE, {"name": job.kind, "every": every, "aggregate": aggregate}).first()
        if row is None or not row.free:
            return False
        return enqueue(job.kind, key=f"{aggregate}:{row.turn}", aggregate=aggregate) is not None
