"""Checks of the relay, the workers and the jobs that wait or failed."""

from app.config import Settings
from app.core.outbox.heartbeat import FRESH_SECONDS
from app.doctor.results import Finding, Findings, fail, ok, warn
from app.web.metrics_endpoint import database_metrics

WAIT_WARN_SECONDS, WAIT_FAIL_SECONDS = 60.0, 300.0


def run_checks(settings: Settings) -> Findings:
    """Yield the findings; none when the database does not answer, which another check reports."""
    metrics = database_metrics.load_database_metrics(settings.DATABASE_URL)
    if database_metrics.WORKERS_ALIVE.name not in metrics:
        return
    count_by_state = {state: count for (state,), count in metrics[database_metrics.OUTBOX_ROWS.name].items()}
    yield _check_relay(metrics[database_metrics.HEARTBEAT_AGE.name].get(("relay",)))
    yield _check_workers(int(metrics[database_metrics.WORKERS_ALIVE.name][()]))
    yield _check_queue(metrics[database_metrics.OLDEST_DUE_SECONDS.name][()], int(count_by_state["due"]))
    yield from _check_failed_work(
        int(count_by_state["dead"]),
        int(count_by_state["uncertain"]),
        int(metrics[database_metrics.OPEN_REVIEWS.name][()]),
    )


def _check_relay(age: float | None) -> Finding:
    if age is not None and age < FRESH_SECONDS:
        return ok("relay", f"Its last heartbeat was {age:.0f} s ago.")
    last_seen = "never" if age is None else f"{age:.0f} s ago"
    return fail(
        "relay",
        f"Its last heartbeat was {last_seen}: delayed, repeated and lost jobs do not run.",
        "Start one: `flask --app wsgi relay` (systemd: event-commerce-relay).",
    )


def _check_workers(alive: int) -> Finding:
    if alive:
        return ok("workers", f"{alive} alive.")
    return fail(
        "workers",
        "No worker is alive: mail, codes and reports wait.",
        "Start one or more: `python -m app.worker` (systemd: event-commerce-worker@1).",
    )


def _check_queue(seconds: float, due: int) -> Finding:
    advice = "Start more workers; `flask --app wsgi outbox list --state ready` shows the jobs."
    if seconds > WAIT_FAIL_SECONDS:
        return fail("queue", f"Jobs have waited for {seconds / 60:.0f} minutes; {due} are due.", advice)
    if seconds > WAIT_WARN_SECONDS:
        return warn("queue", f"Jobs have waited for {seconds:.0f} s; {due} are due.", advice)
    return ok("queue", f"{due} jobs are due, the oldest for {seconds:.0f} s.")


def _check_failed_work(dead: int, uncertain: int, reviews: int) -> Findings:
    if dead:
        yield warn(
            "queue",
            f"{dead} jobs are dead: they can never succeed, or were tried too often.",
            "`flask --app wsgi outbox list --state dead` says why; correct it, then `outbox retry`.",
        )
    if uncertain:
        yield warn(
            "queue",
            f"{uncertain} jobs are uncertain: sent at most once, and it is unknown whether they arrived.",
            "`flask --app wsgi outbox list --state uncertain`; `outbox retry` sends again, perhaps twice.",
        )
    if reviews:
        yield warn(
            "payouts",
            f"{reviews} payments with contradicting facts need a review.",
            "`flask --app wsgi payouts --help`.",
        )
