"""Whether anybody does the work that leaves requests."""

from app.config import Settings
from app.core.outbox.heartbeat import FRESH
from app.doctor.findings import Finding, Findings, fail, ok, warn
from app.web.figures import work

LATE, TOO_LATE = 60.0, 300.0


def findings(settings: Settings) -> Findings:
    """Nothing when the database does not answer: that has been said."""
    found = work.asked(settings.DATABASE_URL)
    if work.WORKERS.name not in found:
        return
    rows = {state: count for (state,), (count,) in found[work.ROWS.name].items()}
    yield _relay(found[work.HEARTBEAT.name].get(("relay",), [None])[0])
    yield _workers(int(found[work.WORKERS.name][()][0]))
    yield _waiting(found[work.OLDEST.name][()][0], int(rows["due"]))
    yield from _ended(int(rows["dead"]), int(rows["uncertain"]), int(found[work.REVIEWS.name][()][0]))


def _relay(age: float | None) -> Finding:
    if age is not None and age < FRESH:
        return ok("relay", f"Heard of {age:.0f} s ago.")
    last = "never" if age is None else f"{age:.0f} s ago"
    return fail(
        "relay",
        f"Last heard of {last}: nothing rings for delayed, repeated and lost work.",
        "Start one: `flask --app wsgi relay` (systemd: event-commerce-relay).",
    )


def _workers(alive: int) -> Finding:
    if alive:
        return ok("workers", f"{alive} alive.")
    return fail(
        "workers",
        "None is alive: mail, codes and reports wait.",
        "Start one or more: `python -m app.worker` (systemd: event-commerce-worker@1).",
    )


def _waiting(seconds: float, due: int) -> Finding:
    do = "Start more workers; `flask --app wsgi outbox list --state ready` shows what waits."
    if seconds > TOO_LATE:
        return fail("queue", f"Work has waited for {seconds / 60:.0f} minutes; {due} rows are due.", do)
    if seconds > LATE:
        return warn("queue", f"Work has waited for {seconds:.0f} s; {due} rows are due.", do)
    return ok("queue", f"{due} due, the longest for {seconds:.0f} s.")


def _ended(dead: int, uncertain: int, reviews: int) -> Findings:
    if dead:
        yield warn(
            "queue",
            f"{dead} rows are dead: refused for good, or tried often enough.",
            "`flask --app wsgi outbox list --state dead` says why; mend it, then `outbox retry`.",
        )
    if uncertain:
        yield warn(
            "queue",
            f"{uncertain} rows are uncertain: sent once at most, and nobody knows whether they arrived.",
            "`flask --app wsgi outbox list --state uncertain`; `outbox retry` sends again, perhaps twice.",
        )
    if reviews:
        yield warn(
            "payouts", f"{reviews} contradictions about money wait for a person.", "`flask --app wsgi payouts --help`."
        )
