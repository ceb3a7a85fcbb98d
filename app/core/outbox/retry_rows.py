"""The operator's retry: the same row with the same key, and all its attempts again."""

from collections.abc import Sequence

from sqlalchemy import text

from app.core.outbox.failure_hooks import FAILED_STATES
from app.core.transaction import transaction

REVIVED = "state = 'ready', run_at = now(), done_at = NULL, not_after = NULL, lost = 0, postponed = attempts"
"""The assignments that make an ended row ready again."""
RETRY = text(f"""
    UPDATE outbox SET {REVIVED}
     WHERE state = ANY(:states) AND (CAST(:ids AS bigint[]) IS NULL OR id = ANY(:ids))
       AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    RETURNING id
""")


def retry(ids: Sequence[int] = (), *, kind: str | None = None, states: Sequence[str] = FAILED_STATES) -> int:
    """Make dead and uncertain rows ready again, by ids or kind; return how many."""
    if not ids and not kind:
        raise ValueError("name rows or a kind")
    failed_states = [state for state in states if state in FAILED_STATES]
    with transaction() as session:
        rows = session.execute(RETRY, {"states": failed_states, "ids": list(ids) or None, "kind": kind})
        return len(rows.all())
