"""Deletes old rows: ended jobs with their attempts, and heartbeats of processes that ended."""

from datetime import timedelta

from sqlalchemy import text

from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction

PAGE_SIZE = 1000
RETENTION = {
    "done": timedelta(days=7),
    "canceled": timedelta(days=7),
    "dead": timedelta(days=30),
    "uncertain": timedelta(days=30),
}
DELETE_JOBS = text("""
    DELETE FROM outbox WHERE id IN (
        SELECT id FROM outbox WHERE state = :state AND done_at < now() - CAST(:age AS interval) LIMIT :page_size)
    RETURNING id
""")
DELETE_HEARTBEATS = text("DELETE FROM heartbeat WHERE at < now() - interval '1 day'")


@job("outbox.housekeeping", Delivery.LOCAL, every=timedelta(hours=1))
def delete_old_rows(run: Run) -> None:
    """Delete old rows page by page, each in its own short transaction."""
    for state, age in RETENTION.items():
        while _delete_page(run, state, age) == PAGE_SIZE:
            pass
    with transaction() as session:
        session.execute(DELETE_HEARTBEATS)
        run.done_in(session)


def _delete_page(run: Run, state: str, age: timedelta) -> int:
    with transaction() as session:
        run.hold_in(session)
        return len(session.execute(DELETE_JOBS, {"state": state, "age": age, "page_size": PAGE_SIZE}).all())
