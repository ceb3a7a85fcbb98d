"""Recurring work: the moment it is due next is a row, moved on in the commit that enqueues the work."""

from datetime import timedelta

from sqlalchemy import text

from app.core.jobs import Job, list_recurring_jobs
from app.core.outbox.writer import enqueue
from app.core.transaction import transaction

FIRST = text("INSERT INTO tick (name) SELECT unnest(CAST(:names AS text[])) ON CONFLICT (name) DO NOTHING")
# Turns keep their rhythm, but missed ones are not made up for: the next is always later than now, or a second
# relay would take it too. A due too far ahead (the clock was set, the span has been cut) counts as due.
ADVANCE = text("""
    UPDATE tick SET due = CASE WHEN due <= now() AND due + :every > now() THEN due ELSE now() END + :every
    WHERE name = :name AND (due <= now() OR due > now() + 2 * :every)
    RETURNING extract(epoch FROM due) AS turn, NOT EXISTS (
        SELECT 1 FROM outbox WHERE aggregate = :aggregate AND state = 'ready') AS free
""")


def enqueue_recurring() -> int:
    """Enqueues every recurring job that is due; how many. Any number of processes may call it."""
    jobs = list_recurring_jobs()
    with transaction() as session:
        session.execute(FIRST, {"names": [job.kind for job in jobs]})
    return sum(_advance_tick(job, job.every) for job in jobs if job.every)


def _advance_tick(job: Job, every: timedelta) -> bool:
    aggregate = f"tick:{job.kind}"
    with transaction() as session:
        row = session.execute(ADVANCE, {"name": job.kind, "every": every, "aggregate": aggregate}).first()
        if row is None or not row.free:
            return False
        return enqueue(job.kind, key=f"{aggregate}:{row.turn}", aggregate=aggregate) is not None
