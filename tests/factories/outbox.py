"""Rows of the outbox in any state, for tests of problems."""

from datetime import UTC, datetime, timedelta

from app.core.outbox import Outbox
from app.core.transaction import transaction


def add_job(state: str, ago: timedelta, *, kind: str = "core.once", error: str | None = None) -> None:
    """Adds a job that was due or finished `ago`."""
    event_time = datetime.now(UTC) - ago
    done_at = event_time if state in ("done", "dead", "uncertain", "canceled") else None
    lease_until = event_time if state == "leased" else None
    with transaction() as session:
        session.add(
            Outbox(
                kind=kind,
                delivery="A",
                state=state,
                max_attempts=1,
                run_at=event_time,
                done_at=done_at,
                lease_until=lease_until,
                last_error=error,
            )
        )
