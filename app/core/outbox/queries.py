"""What operators look at."""

from collections.abc import Sequence

from sqlalchemy import func, select

from app.core.db import db
from app.core.outbox.models import Outbox


def count_by_state() -> dict[str, int]:
    """How many rows there are in each state that has any."""
    counted = db.session.execute(select(Outbox.state, func.count().label("n")).group_by(Outbox.state))
    return {row.state: row.n for row in counted}


def oldest_due_age() -> float:
    """Seconds that the longest waiting due row has waited; 0 when none waits."""
    waited = func.extract("epoch", func.now() - func.min(Outbox.run_at))
    due = select(waited).where(Outbox.state == "ready", Outbox.run_at <= func.now())
    return float(db.session.scalar(due) or 0)


def list_rows_query(*, state: str | None = None, kind: str | None = None, limit: int = 50) -> Sequence[Outbox]:
    """Rows, newest first."""
    query = select(Outbox).order_by(Outbox.id.desc()).limit(limit)
    if state:
        query = query.where(Outbox.state == state)
    if kind:
        query = query.where(Outbox.kind == kind)
    return db.session.scalars(query).all()
