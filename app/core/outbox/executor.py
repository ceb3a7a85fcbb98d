"""Runs the jobs of leased rows, in workers and, while Redis is away, in the relay."""

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
from app.core.outbox.retries import TimeLimit, outcome_of_error
from app.core.outbox.tuning import Tuning, get_tuning
from app.core.telemetry.errors import report
from app.core.telemetry.spans import span

RECORD_RETRY_DELAYS = (0.1, 0.5, 1.0, 2.0, 4.0)
OUTCOMES = ("done", "retry", "postponed", "dead", "uncertain", "lost")
JOBS = Counter(
    "commerce_jobs_total",
    f"Attempts at jobs, by kind and outcome: {', '.join(OUTCOMES)}.",
    ("kind", "outcome"),
)
SECONDS = Histogram(
    "commerce_job_seconds",
    "Seconds that an attempt at a job took.",
    ("kind",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0),
)

log = structlog.get_logger(__name__)


def run_due_jobs(
    first: int | None = None,
    *,
    worker: str,
    only_critical: bool = False,
    should_continue: Callable[[], bool] = lambda: True,
) -> bool:
    """Run due rows one after the other, each under its own lease; return whether more rows may be due.

    It begins with the row `first` and stops after a batch of rows or seconds, so that the next wakeup is read.
    """
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    tuning = get_tuning()
    deadline = time.monotonic() + tuning.batch_seconds
    run_count = 0
    while run_count < tuning.batch and time.monotonic() < deadline and should_continue():
        with app.app_context():
            lease = lease_next(first, worker=worker, tuning=tuning, only_critical=only_critical)
            if lease:
                run(lease, tuning)
                run_count += 1
            elif first is None:
                return False
        first = None
    return True


def run(lease: Lease, tuning: Tuning) -> str:
    """Run the job of a leased row and return the outcome: done, retry, postponed, dead, uncertain or lost."""
    token = request_id.set(lease.request_id)
    started_at = time.monotonic()
    try:
        with span(f"job {lease.kind}", kind=lease.kind, attempt=lease.attempt, request_id=lease.request_id) as fields:
            fields["outcome"] = outcome = _run_and_record(lease, tuning)
        seconds = time.monotonic() - started_at
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


def _run_and_record(lease: Lease, tuning: Tuning) -> str:
    run = Run(lease.id, lease.key, lease.attempt, lease)
    try:
        outcome = _run_attempt(run, lease, tuning)
    except LostLease:
        return "lost"
    if run.ended:
        return "done"
    return outcome.outcome if _record_outcome(lease, outcome) else "lost"


def _run_attempt(run: Run, lease: Lease, tuning: Tuning) -> Outcome:
    try:
        job = get_job(lease.kind)
        with time_limit(_time_limit_seconds(job, tuning)):
            job.call(run, **lease.payload)
    except LostLease:
        raise
    except (Exception, TimeLimit) as error:
        if not isinstance(error, JobError):
            log.warning("job.error", kind=lease.kind, outbox_id=lease.id, exc_info=True)
            report(error, kind=lease.kind)
        return outcome_of_error(error, lease, fenced=run.fenced, tuning=tuning)
    if lease.delivery is Delivery.LOCAL:
        return Outcome(state="dead", outcome="dead", error="it returned without run.done_in(session)")
    return DONE


def _record_outcome(lease: Lease, outcome: Outcome) -> bool:
    """Record the outcome, also across a restart of the database: an outcome that is lost makes the effect uncertain."""
    for delay in RECORD_RETRY_DELAYS:
        try:
            return lease.settle(outcome)
        except (OperationalError, InterfaceError):
            time.sleep(delay)
    return lease.settle(outcome)


def _time_limit_seconds(job: Job, tuning: Tuning) -> float:
    return job.time_limit.total_seconds() if job.time_limit else tuning.time_limit


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimit in the block after `seconds`. Outside the main thread it does nothing: signals need that one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimit(f"timed out after {seconds:g} s")

    previous_handler = signal.signal(signal.SIGALRM, interrupt)
    remaining, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        # RQ's own alarm around the whole batch goes on where it was.
        signal.setitimer(signal.ITIMER_REAL, remaining)
        signal.signal(signal.SIGALRM, previous_handler)
