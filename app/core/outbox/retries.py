"""Decides what happens to a row after its job raised; the operator can retry an ended row under the same key."""

import random
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.core.jobs import Ambiguous, Delivery, JobError, Permanent, Postpone, Transient, UnknownKind
from app.core.outbox.failure_hooks import FAILED_STATES
from app.core.outbox.lease import Lease, Outcome
from app.core.outbox.tuning import Tuning
from app.core.transaction import transaction


class TimeLimit(BaseException):
    """The job took too long. Not an Exception, so that no job catches it by accident."""


def outcome_of_error(error: BaseException, lease: Lease, *, fenced: bool, tuning: Tuning) -> Outcome:
    """Return what happens to the row whose job raised this error."""
    if isinstance(error, Postpone):
        return Outcome(
            state="ready",
            outcome="postponed",
            error=format_error(error),
            postponed=1,
            delay=error.delay / timedelta(seconds=1),
        )
    if isinstance(error, Permanent | UnknownKind):
        return Outcome(state="dead", outcome="dead", error=format_error(error))
    is_unclear = isinstance(error, Ambiguous) or (fenced and not isinstance(error, Transient))
    if is_unclear and lease.delivery is Delivery.AT_MOST_ONCE:
        return Outcome(state="uncertain", outcome="uncertain", error=format_error(error))
    if lease.tries >= lease.max_attempts:
        return Outcome(state="dead", outcome="dead", error=format_error(error))
    return Outcome(state="ready", outcome="retry", error=format_error(error), delay=retry_delay(lease.tries, tuning))


def retry_delay(tries: int, tuning: Tuning) -> float:
    """Return 10 s, 20 s, 40 s, … up to an hour, plus or minus a fifth so that failures do not return together."""
    return min(tuning.backoff * 2.0 ** (tries - 1), tuning.backoff_cap) * random.uniform(0.8, 1.2)


def format_error(error: BaseException) -> str:
    """Return the error for an operator. Of database errors only the first line: the others quote values."""
    if isinstance(error, UnknownKind):
        return f"no job is named {error}; was it renamed, or is this process older than the row?"
    if isinstance(error, JobError):
        return f"{type(error).__name__}: {error}"[:500]
    if isinstance(error, DBAPIError):
        error = error.orig or error
    first_line = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first_line}"[:500]


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
