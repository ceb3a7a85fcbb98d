"""The operator's "send again": the same row, with its key, and all its tries anew."""

from collections.abc import Sequence

from sqlalchemy import func, update

from app.core.outbox.models import Outbox
from app.core.transaction import transaction

ENDED_BADLY = ("dead", "uncertain")


def retry(ids: Sequence[int] = (), *, kind: str | None = None, states: Sequence[str] = ENDED_BADLY) -> int:
    """Makes those rows ready; how many. Named ids or a kind; only dead and uncertain ones ever qualify."""
    if not ids and not kind:
        raise ValueError("name rows or a kind")
    wanted = [state for state in states if state in ENDED_BADLY]
    statement = update(Outbox).where(Outbox.state.in_(wanted))
    if ids:
        statement = statement.where(Outbox.id.in_(ids))
    if kind:
        statement = statement.where(Outbox.kind == kind)
    with transaction() as session:
        changed = session.execute(
            statement.values(
                state="ready", run_at=func.now(), done_at=None, not_after=None, lost=0, postponed=Outbox.attempts
            ).returning(Outbox.id)
        )
        return len(changed.all())
