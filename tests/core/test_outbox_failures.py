"""Rows that end badly are told to their domain in the commit that ends them; those that end well are not."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.jobs import Ambiguous, Permanent, Run, Transient
from app.core.outbox import Outbox, enqueue, failure_hooks
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.lease import expire_leases, lease_next
from app.core.outbox.tuning import Tuning
from app.core.transaction import transaction
from tests.core.outbox_jobs import does, noted

PACE = Tuning()


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    noted.clear()
    yield


def raising(error: Exception | None) -> Callable[[Run], None]:
    def call(run: Run) -> None:
        if error:
            raise error

    return call


def told() -> list[tuple[str, str, str]]:
    run_due_jobs(worker="test")
    return [(item["state"], item["error"], item["payload"]["does"]) for batch in noted for item in batch]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, []),
        (Transient("later"), []),
        (Permanent("never"), [("dead", "Permanent: never", "it")]),
        (Ambiguous("who knows"), [("uncertain", "Ambiguous: who knows", "it")]),
    ],
)
def test_a_failed_job_is_reported(app: Flask, error: Exception | None, expected: list[tuple[str, str, str]]) -> None:
    with transaction():
        enqueue("core.many", does=does("it", raising(error)))
    run_due_jobs(worker="test")
    assert told() == expected


def test_lost_and_overdue_jobs_are_reported(app: Flask) -> None:
    with transaction():
        enqueue("core.many", does="lost")
        enqueue("core.many", does="late", delay=timedelta(hours=1), not_after=timedelta(hours=2))
    lease = lease_next(None, worker="test", tuning=PACE)
    assert lease
    lease.fence()
    with transaction() as session:
        session.execute(text("UPDATE outbox SET lease_until = now() - interval '1 s' WHERE state = 'leased'"))
        session.execute(text("UPDATE outbox SET not_after = now() - interval '1 s' WHERE state = 'ready'"))
    assert expire_leases(PACE) == 2
    assert {(state, what) for state, _, what in told()} == {("uncertain", "lost"), ("dead", "late")}


def test_failures_are_reported_in_batches_and_only_with_a_hook(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_hooks, "BATCH_SIZE", 2)
    rows = [
        failure_hooks.FailedRow(kind, "dead", "x", {"does": "x"}) for kind in ("core.many", "core.once", "no.such") * 3
    ]
    with transaction():
        failure_hooks.notify_failures(rows)
    kinds = db.session.query(Outbox.kind).all()
    assert [kind for (kind,) in kinds] == ["core.note_ends"] * 2
