"""Rows of work, as they stand when something is wrong."""

from datetime import UTC, datetime, timedelta

from app.core.outbox import Outbox
from app.core.transaction import transaction


def work(state: str, ago: timedelta, *, kind: str = "core.once", error: str | None = None) -> None:
    """A row that was due, or is over, since then."""
    at = datetime.now(UTC) - ago
    ended = at if state in ("done", "dead", "uncertain", "canceled") else None
    lease = at if state == "leased" else None
    with transaction() as session:
        session.add(
            Outbox(
                kind=kind,
                delivery="A",
                state=state,
                max_attempts=1,
                run_at=at,
                done_at=ended,
                lease_until=lease,
                last_error=error,
            )
        )
