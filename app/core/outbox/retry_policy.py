"""From what a job did to what becomes of its row."""

import random
from datetime import timedelta

from sqlalchemy.exc import DBAPIError

from app.core.jobs import Ambiguous, Delivery, JobError, Permanent, Postpone, Transient, UnknownKind
from app.core.outbox.lease import Lease, Outcome
from app.core.outbox.tuning import Tuning


class TimeLimit(BaseException):
    """The job took too long. Not an Exception, so that no job catches it by accident."""


def outcome_of_error(error: BaseException, lease: Lease, *, fenced: bool, pace: Tuning) -> Outcome:
    """What an error means for the row it came from."""
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
    unclear = isinstance(error, Ambiguous) or (fenced and not isinstance(error, Transient))
    if unclear and lease.delivery is Delivery.AT_MOST_ONCE:
        return Outcome(state="uncertain", outcome="uncertain", error=format_error(error))
    if lease.tries >= lease.max_attempts:
        return Outcome(state="dead", outcome="dead", error=format_error(error))
    return Outcome(state="ready", outcome="retry", error=format_error(error), delay=retry_delay(lease.tries, pace))


def retry_delay(tries: int, pace: Tuning) -> float:
    """10 s, 20 s, 40 s, … at most an hour, give or take a fifth so that failures do not return in step."""
    return min(pace.backoff * 2.0 ** (tries - 1), pace.backoff_cap) * random.uniform(0.8, 1.2)


def format_error(error: BaseException) -> str:
    """The error for an operator. Of the database's only the first line: the others quote values."""
    if isinstance(error, UnknownKind):
        return f"no job is called {error}; was it renamed, or is this process older than the row?"
    if isinstance(error, JobError):
        return f"{type(error).__name__}: {error}"[:500]
    if isinstance(error, DBAPIError):
        error = error.orig or error
    first_line = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first_line}"[:500]
