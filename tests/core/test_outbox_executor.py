"""What a job does decides what becomes of its row."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, text, update

from app.core.context import request_id
from app.core.db import db
from app.core.jobs import Ambiguous, Permanent, Postpone, Run, Transient
from app.core.outbox import Outbox, OutboxAttempt, enqueue
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.lease import lease_next
from app.core.outbox.tuning import EXTENSION, Tuning
from app.core.transaction import TransactionOpen, assert_no_transaction, transaction
from tests.core.outbox_jobs import does


def fails(error: Exception, *, fenced: bool = False) -> Callable[[Run], None]:
    def call(run: Run) -> None:
        if fenced:
            run.fence()
        raise error

    return call


def after(kind: str, what: Callable[[Run], None], **options: Any) -> Outbox:
    """The row of a job that has run once."""
    with transaction():
        outbox_id = enqueue(kind, does=does("it", what), **options)
    run_due_jobs(worker="test")
    return row(outbox_id)


def row(outbox_id: int | None) -> Outbox:
    db.session.remove()
    return db.session.get_one(Outbox, outbox_id)


ONCE, SURELY, LOCAL = "core.once", "core.surely", "core.local"


@pytest.mark.parametrize(
    ("kind", "what", "state"),
    [
        (ONCE, lambda run: None, "done"),
        (ONCE, fails(Permanent("no such address")), "dead"),
        (ONCE, fails(Permanent("550"), fenced=True), "dead"),
        (ONCE, fails(Transient("451")), "ready"),
        (ONCE, fails(Transient("451"), fenced=True), "ready"),
        (ONCE, fails(ValueError("early")), "ready"),
        (ONCE, fails(ValueError("late"), fenced=True), "uncertain"),
        (ONCE, fails(Ambiguous("no answer"), fenced=True), "uncertain"),
        (ONCE, fails(Ambiguous("no answer")), "uncertain"),
        (SURELY, fails(ValueError("late"), fenced=True), "ready"),
        (SURELY, fails(Ambiguous("no answer"), fenced=True), "ready"),
        (LOCAL, fails(ValueError("early")), "ready"),
        (LOCAL, lambda run: None, "dead"),
    ],
)
def test_the_outcome_of_an_attempt(app: Flask, kind: str, what: Callable[[Run], None], state: str) -> None:
    assert after(kind, what).state == state


def test_a_failed_job_is_retried_with_growing_delays_up_to_the_limit(app: Flask) -> None:
    found = after(SURELY, fails(Transient("away")))
    assert found.last_error == "Transient: away"
    for pause in (10, 20):
        assert pause * 0.8 <= pause_of(found.id) <= pause * 1.2
        now_due(found.id)
        run_due_jobs(worker="test")
    assert row(found.id).state == "dead"
    assert [item.outcome for item in db.session.scalars(select(OutboxAttempt).order_by(OutboxAttempt.n))] == [
        "retry",
        "retry",
        "dead",
    ]


def test_a_postponed_attempt_does_not_count(app: Flask) -> None:
    found = after(SURELY, fails(Postpone(timedelta(hours=1), "not yet")))
    for _ in range(5):
        assert row(found.id).state == "ready"
        assert pause_of(found.id) == 3600
        now_due(found.id)
        run_due_jobs(worker="test")
    assert (row(found.id).attempts, row(found.id).postponed) == (6, 6)


def test_a_row_of_an_unknown_job_is_dead(app: Flask) -> None:
    with transaction() as session:
        outbox_id = enqueue(SURELY, does="x")
        session.execute(update(Outbox).values(kind="core.removed"))
    run_due_jobs(worker="test")
    assert row(outbox_id).state == "dead"
    assert "no job is named core.removed" in (row(outbox_id).last_error or "")


def test_a_local_job_and_its_outcome_commit_together(app: Flask) -> None:
    def half(run: Run) -> None:
        with transaction() as session:
            session.execute(text("INSERT INTO tick (name) VALUES ('effect')"))
            run.done_in(session)
            raise ValueError

    found = after(LOCAL, half)
    assert found.state == "ready"
    assert db.session.scalar(text("SELECT count(*) FROM tick")) == 0

    def whole(run: Run) -> None:
        with transaction() as session:
            session.execute(text("INSERT INTO tick (name) VALUES ('effect')"))
            run.done_in(session)

    assert after(LOCAL, whole).state == "done"


def test_a_worker_that_lost_its_lease_writes_nothing(app: Flask) -> None:
    reached: list[str] = []

    def robbed(run: Run) -> None:
        with transaction() as session:
            session.execute(update(Outbox).values(state="ready", lease_token=None))
        run.fence()
        reached.append("effect")

    assert after(ONCE, robbed).state == "ready"
    assert reached == []


def test_a_local_job_that_lost_its_lease_rolls_back(app: Flask) -> None:
    def robbed(run: Run) -> None:
        with transaction() as session:
            session.execute(update(Outbox).values(state="ready", lease_token=None))
        with transaction() as session:
            session.execute(text("INSERT INTO tick (name) VALUES ('effect')"))
            run.done_in(session)

    assert after(LOCAL, robbed).state == "ready"
    assert db.session.scalar(text("SELECT count(*) FROM tick")) == 0


def test_a_job_is_stopped_at_its_time_limit(app: Flask) -> None:
    app.extensions[EXTENSION] = Tuning(time_limit=0.2)
    try:
        found = after(SURELY, lambda run: time.sleep(5))
    finally:
        del app.extensions[EXTENSION]
    assert (found.state, found.last_error) == ("ready", "TimeLimit: timed out after 0.2 s")


def test_every_lease_is_longer_than_its_job_by_the_same_time(app: Flask) -> None:
    spare = Tuning().lease - Tuning().time_limit
    for kind, limit in (("accounts.sweep", Tuning().time_limit), ("payouts.carry", 40), ("inventory.import", 240)):
        with transaction():
            outbox_id = enqueue(kind, key=f"lease-{kind}")
        lease = lease_next(outbox_id, worker="test", tuning=Tuning())
        assert lease and lease.seconds == limit + spare
        held = db.session.scalar(select(Outbox.lease_until - func.now()).where(Outbox.id == outbox_id))
        assert held and lease.seconds - 5 < held.total_seconds() <= lease.seconds


def test_a_job_does_not_start_after_not_after(app: Flask) -> None:
    assert after(SURELY, lambda run: None, not_after=timedelta(seconds=-1)).attempts == 0


def test_a_job_is_not_retried_after_not_after(app: Flask) -> None:
    assert after(SURELY, fails(Transient("away")), not_after=timedelta(seconds=5)).state == "dead"


def test_critical_jobs_run_first_and_bulk_jobs_last(app: Flask) -> None:
    order: list[str] = []
    with transaction():
        enqueue("core.many", does=does("bulk", lambda run: order.append("bulk")))
        enqueue(SURELY, does=does("ordinary", lambda run: order.append("ordinary")))
        enqueue("core.urgent", does=does("urgent", lambda run: order.append("urgent")))
    run_due_jobs(worker="test")
    assert order == ["urgent", "ordinary", "bulk"]


def test_a_job_has_the_request_id_and_no_open_transaction(app: Flask) -> None:
    seen: list[str] = []

    def look(run: Run) -> None:
        assert_no_transaction()
        seen.append(request_id.get())

    token = request_id.set("req-7")
    with transaction():
        enqueue(SURELY, does=does("look", look))
        with pytest.raises(TransactionOpen):
            assert_no_transaction()
    request_id.reset(token)
    run_due_jobs(worker="test")
    assert seen == ["req-7"]


def test_a_database_error_is_stored_without_values(app: Flask) -> None:
    def clash(run: Run) -> None:
        for _ in range(2):
            with transaction() as session:
                session.execute(text("INSERT INTO tick (name) VALUES ('the-secret')"))

    error = after(SURELY, clash).last_error or ""
    assert error.startswith("UniqueViolation")
    assert "the-secret" not in error


def test_the_key_is_the_same_on_every_attempt(app: Flask) -> None:
    seen: list[tuple[str, int]] = []

    def note(run: Run) -> None:
        seen.append((run.key, run.attempt))
        raise Transient("again")

    found = after(SURELY, note)
    now_due(found.id)
    run_due_jobs(worker="test")
    assert seen == [(f"outbox-{found.id}", 1), (f"outbox-{found.id}", 2)]


def test_a_batch_ends_after_25_rows(app: Flask) -> None:
    with transaction():
        for _ in range(30):
            enqueue(SURELY, does=does("nothing", lambda run: None))
    assert run_due_jobs(worker="test") is True
    assert run_due_jobs(worker="test") is False


def test_eight_workers_claim_each_row_once(app: Flask) -> None:
    with transaction():
        for _ in range(40):
            enqueue(SURELY, does="x")
    claimed: list[int] = []

    def work() -> None:
        with app.app_context():
            while lease := lease_next(None, worker="test", tuning=Tuning()):
                claimed.append(lease.id)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len(set(claimed)) == 40


def pause_of(outbox_id: int) -> float:
    """Seconds between the end of the last try and the next."""
    db.session.remove()
    query = text("""
        SELECT extract(epoch FROM run_at - (SELECT max(ended) FROM outbox_attempt WHERE outbox_id = :id))
        FROM outbox WHERE id = :id
    """)
    return float(db.session.execute(query, {"id": outbox_id}).scalar_one())


def now_due(outbox_id: int) -> None:
    with transaction() as session:
        session.execute(text("UPDATE outbox SET run_at = now() WHERE id = :id"), {"id": outbox_id})
