"""Enqueues recurring jobs, and deletes old rows.

The next due time of a recurring job is a row; it advances in the commit that enqueues the job.
"""

from datetime import timedelta

from sqlalchemy import delete, func, select, text

from app.core.jobs import Delivery, Job, Run, job, list_recurring_jobs
from app.core.outbox.models import Heartbeat, Outbox
from app.core.outbox.writer import enqueue
from app.core.transaction import transaction

ADD_TICKS = text("INSERT INTO tick (name) SELECT unnest(CAST(:names AS text[])) ON CONFLICT DO NOTHING")
# Runs keep their rhythm, and missed runs are skipped: the next due time is always after now, or a second relay would
# take it too. A due time too far ahead (someone set the clock or shortened `every`) counts as due.
ADVANCE = text("""
    UPDATE tick SET due = CASE WHEN due <= now() AND due + :every > now() THEN due ELSE now() END + :every
    WHERE name = :name AND (due <= now() OR due > now() + 2 * :every)
    RETURNING extract(epoch FROM due) AS next_due, NOT EXISTS (
        SELECT 1 FROM outbox WHERE aggregate = :aggregate AND state = 'ready') AS is_free
""")


def enqueue_recurring() -> int:
    """Enqueue every recurring job that is due and return how many. Any number of processes may call it."""
    jobs = list_recurring_jobs()
    with transaction() as session:
        session.execute(ADD_TICKS, {"names": [job.kind for job in jobs]})
    return sum(_advance_tick(job, job.every) for job in jobs if job.every)


def _advance_tick(job: Job, every: timedelta) -> bool:
    aggregate = f"tick:{job.kind}"
    with transaction() as session:
        row = session.execute(ADVANCE, {"name": job.kind, "every": every, "aggregate": aggregate}).first()
        if row is None or not row.is_free:
            return False
        return enqueue(job.kind, key=f"{aggregate}:{row.next_due}", aggregate=aggregate) is not None


PAGE_SIZE = 1000
RETENTION = {
    "done": timedelta(days=7),
    "canceled": timedelta(days=7),
    "dead": timedelta(days=30),
    "uncertain": timedelta(days=30),
}


@job("outbox.housekeeping", Delivery.LOCAL, every=timedelta(hours=1))
def delete_old_rows(run: Run) -> None:
    """Delete old rows page by page, each in its own short transaction."""
    for state, age in RETENTION.items():
        while _delete_page(run, state, age) == PAGE_SIZE:
            pass
    with transaction() as session:
        session.execute(delete(Heartbeat).where(Heartbeat.at < func.now() - timedelta(days=1)))
        run.done_in(session)


def _delete_page(run: Run, state: str, age: timedelta) -> int:
    page = select(Outbox.id).where(Outbox.state == state, Outbox.done_at < func.now() - age).limit(PAGE_SIZE)
    with transaction() as session:
        run.hold_in(session)
        return len(session.scalars(delete(Outbox).where(Outbox.id.in_(page)).returning(Outbox.id)).all())
