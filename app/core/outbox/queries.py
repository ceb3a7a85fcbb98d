"""Reads of the outbox for operators."""

from collections.abc import Sequence

from sqlalchemy import func, select

from app.core.db import db
from app.core.outbox.models import Outbox


def count_by_state() -> dict[str, int]:
    """Return the number of rows in each state that has any."""
    counts = db.session.execute(select(Outbox.state, func.count().label("rows")).group_by(Outbox.state))
    return {row.state: row.rows for row in counts}


def oldest_due_age() -> float:
    """Return how many seconds the oldest due row has waited; 0 when none is due."""
    age = func.extract("epoch", func.now() - func.min(Outbox.run_at))
    statement = select(age).where(Outbox.state == "ready", Outbox.run_at <= func.now())
    return float(db.session.scalar(statement) or 0)


def list_rows(*, state: str | None = None, kind: str | None = None, limit: int = 50) -> Sequence[Outbox]:
    """Return rows, newest first."""
    query = select(Outbox).order_by(Outbox.id.desc()).limit(limit)
    if state:
        query = query.where(Outbox.state == state)
    if kind:
        query = query.where(Outbox.kind == kind)
    return db.session.scalars(query).all()
