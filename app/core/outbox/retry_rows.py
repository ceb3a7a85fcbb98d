"""The operator's "send again": the same row, with its key, and all its tries anew."""

from collections.abc import Sequence

from sqlalchemy import text

from app.core.transaction import transaction

ENDED_BADLY = ("dead", "uncertain")
REVIVED = "state = 'ready', run_at = now(), done_at = NULL, not_after = NULL, lost = 0, postponed = attempts"
"""What a row becomes that is sent again."""
RETRY = text(f"""
    UPDATE outbox SET {REVIVED}
     WHERE state = ANY(:states) AND (CAST(:ids AS bigint[]) IS NULL OR id = ANY(:ids))
       AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    RETURNING id
""")


def retry(ids: Sequence[int] = (), *, kind: str | None = None, states: Sequence[str] = ENDED_BADLY) -> int:
    """Makes those rows ready; how many. Named ids or a kind; only dead and uncertain ones ever qualify."""
    if not ids and not kind:
        raise ValueError("name rows or a kind")
    items = [state for state in states if state in ENDED_BADLY]
    with transaction() as session:
        changed = session.execute(RETRY, {"states": items, "ids": list(ids) or None, "kind": kind})
        return len(changed.all())
