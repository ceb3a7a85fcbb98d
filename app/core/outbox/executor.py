"""Runs claimed rows: the worker's inside, and the relay's while Redis is away."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import structlog
from flask import Flask, current_app
from sqlalchemy.exc import InterfaceError, OperationalError

from app.core.context import request_id
from app.core.jobs import Delivery, Job, JobError, LostLease, Run, get_job
from app.core.metrics import Counter, Histogram
from app.core.outbox.lease import DONE, Lease, Outcome, lease_next
from app.core.outbox.retry_policy import TimeLimit, outcome_of_error
from app.core.outbox.tuning import Tuning, get_tuning
from app.core.telemetry.errors import report
from app.core.telemetry.spans import span

SETTLE_AGAIN_AFTER = (0.1, 0.5, 1.0, 2.0, 4.0)
OUTCOMES = ("done", "retry", "postponed", "dead", "uncertain", "lost")
JOBS = Counter(
    "commerce_jobs_total",
    f"Tries at work that left a request, by kind and by what came of them: {', '.join(OUTCOMES)}.",
    ("kind", "outcome"),
)
SECONDS = Histogram(
    "commerce_job_seconds",
    "Seconds that a try took.",
    ("kind",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0),
)

log = structlog.get_logger(__name__)


def run_due_jobs(
    first: int | None = None,
    *,
    worker: str,
    only_critical: bool = False,
    go_on: Callable[[], bool] = lambda: True,
) -> bool:
    """Runs due rows one after the other, each under its own lease; whether it stopped with more to do.

    It begins with the row `first` and stops after a share of rows or seconds, so that bells get answered.
    """
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    speed = get_tuning()
    ends = time.monotonic() + speed.batch_seconds
    done = 0
    while done < speed.batch and time.monotonic() < ends and go_on():
        with app.app_context():
            lease = lease_next(first, worker=worker, pace=speed, only_critical=only_critical)
            if lease:
                run(lease, speed)
                done += 1
            elif first is None:
                return False
        first = None
    return True


def run(lease: Lease, speed: Tuning) -> str:
    """Runs the job of a claimed row; what came of it: done, retry, postponed, dead, uncertain or lost."""
    token = request_id.set(lease.request_id)
    started = time.monotonic()
    try:
        with span(f"job {lease.kind}", kind=lease.kind, attempt=lease.attempt, request_id=lease.request_id) as result:
            result["outcome"] = outcome = _outcome(lease, speed)
        seconds = time.monotonic() - started
        JOBS.add(lease.kind, outcome)
        SECONDS.observe(seconds, lease.kind)
        log.info(
            "job",
            kind=lease.kind,
            outbox_id=lease.id,
            outcome=outcome,
            attempt=lease.attempt,
            ms=round(seconds * 1000),
        )
        return outcome
    finally:
        request_id.reset(token)


def _outcome(lease: Lease, speed: Tuning) -> str:
    run = Run(lease.id, lease.key, lease.attempt, lease)
    try:
        verdict = _run_attempt(run, lease, speed)
    except LostLease:
        return "lost"
    if run.ended:
        return "done"
    return verdict.outcome if _record_outcome(lease, verdict) else "lost"


def _run_attempt(run: Run, lease: Lease, speed: Tuning) -> Outcome:
    try:
        job = get_job(lease.kind)
        with time_limit(_limit(job, speed)):
            job.call(run, **lease.payload)
    except LostLease:
        raise
    except (Exception, TimeLimit) as error:
        if not isinstance(error, JobError):
            log.warning("job.error", kind=lease.kind, outbox_id=lease.id, exc_info=True)
            report(error, kind=lease.kind)
        return outcome_of_error(error, lease, fenced=run.fenced, pace=speed)
    if lease.delivery is Delivery.LOCAL:
        return Outcome(state="dead", outcome="dead", error="it returned without run.done_in(session)")
    return DONE


def _record_outcome(lease: Lease, verdict: Outcome) -> bool:
    """Outlives a restart of the database: an answer that is never written makes the effect uncertain."""
    for wait in SETTLE_AGAIN_AFTER:
        try:
            return lease.settle(verdict)
        except (OperationalError, InterfaceError):
            time.sleep(wait)
    return lease.settle(verdict)


def _limit(job: Job, speed: Tuning) -> float:
    return job.time_limit.total_seconds() if job.time_limit else speed.time_limit


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeLimit in the block after `seconds`; only the main thread can be interrupted like that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimit(f"no end after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        # The worker's own alarm, set around the whole share of rows, goes on where it was.
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, before)
