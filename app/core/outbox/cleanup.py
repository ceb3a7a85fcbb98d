"""Removes what nobody asks for any more: ended work with its attempts, and heartbeats of the long gone."""

from datetime import timedelta

from sqlalchemy import text

from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction

PAGE = 1000
KEPT = {
    "done": timedelta(days=7),
    "canceled": timedelta(days=7),
    "dead": timedelta(days=30),
    "uncertain": timedelta(days=30),
}
REMOVE = text("""
    DELETE FROM outbox WHERE id IN (
        SELECT id FROM outbox WHERE state = :state AND done_at < now() - CAST(:kept AS interval) LIMIT :page)
    RETURNING id
""")
FORGET = text("DELETE FROM heartbeat WHERE at < now() - interval '1 day'")


@job("outbox.housekeeping", Delivery.LOCAL, every=timedelta(hours=1))
def delete_old_rows(run: Run) -> None:
    """Removes pages of old rows, each in its own short transaction."""
    for state, kept in KEPT.items():
        while _remove_page(run, state, kept) == PAGE:
            pass
    with transaction() as session:
        session.execute(FORGET)
        run.done_in(session)


def _remove_page(run: Run, state: str, kept: timedelta) -> int:
    with transaction() as session:
        run.hold_in(session)
        return len(session.execute(REMOVE, {"state": state, "kept": kept, "page": PAGE}).all())
