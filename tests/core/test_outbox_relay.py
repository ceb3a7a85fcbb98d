"""The relay's steps: ring, reap, tick, tidy up. Any number of relays may take them at once."""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.core.db import db
from app.core.jobs import Run, Transient, list_recurring_jobs
from app.core.outbox import Outbox, enqueue, heartbeat, queries, retries
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.lease import expire_leases, lease_next
from app.core.outbox.maintenance import enqueue_recurring
from app.core.outbox.retries import outcome_of_error
from app.core.outbox.tuning import Tuning
from app.core.outbox.wakeup import get_wakeup_queue, wake_for_due_jobs
from app.core.transaction import transaction
from tests.core.outbox_jobs import does

PACE = Tuning()


def at_once(app: Flask, what: Callable[[], object], times: int = 8) -> None:
    def go() -> None:
        with app.app_context():
            what()

    threads = [threading.Thread(target=go) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def change(statement: str) -> None:
    with transaction() as session:
        session.execute(text(statement))


def rows(kind: str) -> list[Outbox]:
    db.session.remove()
    return list(db.session.scalars(select(Outbox).where(Outbox.kind == kind).order_by(Outbox.id)))


def test_wakeups_are_sent_for_due_rows_up_to_the_limit(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", delay=timedelta(hours=1), does="x")
    assert wake_for_due_jobs(get_wakeup_queue()) == 0
    change("UPDATE outbox SET run_at = now()")
    assert wake_for_due_jobs(get_wakeup_queue()) == 1
    for _ in range(30):
        wake_for_due_jobs(get_wakeup_queue())
    assert get_wakeup_queue().queue.count == 16


def test_lost_wakeups_are_sent_again(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", does="x")
    get_wakeup_queue().redis.flushdb()
    assert wake_for_due_jobs(get_wakeup_queue()) == 1


@pytest.mark.parametrize(
    ("kind", "fenced", "state"),
    [
        ("core.once", False, "ready"),
        ("core.once", True, "uncertain"),
        ("core.surely", True, "ready"),
        ("core.local", False, "ready"),
    ],
)
def test_an_expired_lease_is_taken_back(app: Flask, kind: str, fenced: bool, state: str) -> None:
    with transaction():
        enqueue(kind, does="x")
    lease = lease_next(None, worker="test", tuning=PACE)
    assert lease
    if fenced:
        lease.fence()
    assert expire_leases(PACE) == 0
    change("UPDATE outbox SET lease_until = now() - interval '1 second'")
    assert expire_leases(PACE) == 1
    assert [(row.state, row.lost) for row in rows(kind)] == [(state, 1)]
    assert "the process that held it ended" in (rows(kind)[0].last_error or "")


@pytest.mark.parametrize(
    ("progresses", "commits", "state"), [(True, True, "ready"), (True, False, "dead"), (False, True, "dead")]
)
def test_a_job_is_given_up_after_five_kills_without_progress(
    app: Flask, progresses: bool, commits: bool, state: str
) -> None:
    with transaction():
        enqueue("core.local", does="x")
    for _ in range(6):
        lease = lease_next(None, worker="test", tuning=PACE)
        if lease is None:
            break
        if progresses:
            with suppress(ZeroDivisionError), transaction() as session:
                lease.progress_in(session)
                if not commits:
                    raise ZeroDivisionError
        change("UPDATE outbox SET lease_until = now() - interval '1 second'")
        expire_leases(PACE)
    assert [row.state for row in rows("core.local")] == [state]


def test_a_last_attempt_that_made_progress_is_tried_again(app: Flask) -> None:
    with transaction():
        enqueue("core.local", does="x")
    change("UPDATE outbox SET attempts = max_attempts - 1")
    lease = lease_next(None, worker="test", tuning=PACE)
    assert lease and lease.tries == lease.max_attempts
    assert outcome_of_error(Transient("no"), lease, fenced=False, tuning=PACE).state == "dead"
    with transaction() as session:
        lease.progress_in(session)
    assert outcome_of_error(Transient("no"), lease, fenced=False, tuning=PACE).state == "ready"


def test_concurrent_relays_take_a_row_back_once(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", does="x")
    lease_next(None, worker="test", tuning=PACE)
    change("UPDATE outbox SET lease_until = now() - interval '1 second'")
    at_once(app, lambda: expire_leases(PACE))
    assert [row.lost for row in rows("core.surely")] == [1]


def test_an_overdue_job_is_dead(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", not_after=timedelta(seconds=-1), does="x")
    assert expire_leases(PACE) == 1
    assert [(row.state, row.last_error) for row in rows("core.surely")] == [("dead", "its time was over")]


def test_recurring_jobs_are_enqueued_once_by_any_number_of_relays(app: Flask) -> None:
    at_once(app, enqueue_recurring)
    assert len(rows("outbox.housekeeping")) == 1
    change("UPDATE tick SET due = now() - interval '5 hours'")
    run_due_jobs(worker="test")
    at_once(app, enqueue_recurring)
    assert [row.state for row in rows("outbox.housekeeping")] == ["done", "ready"]


def test_recurring_jobs_are_not_repeated_without_workers(app: Flask) -> None:
    for _ in range(3):
        change("UPDATE tick SET due = now()")
        enqueue_recurring()
    assert Counter(row.kind for row in queries.list_rows())["outbox.housekeeping"] == 1


def test_a_due_time_too_far_ahead_counts_as_due(app: Flask) -> None:
    enqueue_recurring()
    run_due_jobs(worker="test")
    change("UPDATE tick SET due = now() + interval '1 year'")
    enqueue_recurring()
    assert len(rows("outbox.housekeeping")) == 2


def test_every_recurring_job_has_a_tick(app: Flask) -> None:
    enqueue_recurring()
    assert set(db.session.execute(text("SELECT name FROM tick")).scalars()) == {
        job.kind for job in list_recurring_jobs()
    }


def test_old_jobs_are_deleted_with_their_attempts(app: Flask) -> None:
    for state, days in (("done", 8), ("done", 6), ("dead", 8), ("dead", 31)):
        change(f"""INSERT INTO outbox (kind, class, max_attempts, state, done_at, aggregate)
                   VALUES ('core.old', 'B', 1, '{state}', now() - interval '{days} days', '{state} {days}')""")
    change("INSERT INTO outbox_attempt (outbox_id, n, worker) SELECT id, 1, 'test' FROM outbox")
    change("INSERT INTO heartbeat (name, at) VALUES ('worker:gone:1', now() - interval '2 days')")
    with transaction():
        enqueue("outbox.housekeeping")
    run_due_jobs(worker="test")
    assert [row.aggregate for row in rows("core.old")] == ["done 6", "dead 8"]
    assert db.session.scalar(text("SELECT count(*) FROM outbox_attempt WHERE worker = 'test' AND ended IS NULL")) == 2
    assert db.session.scalar(text("SELECT count(*) FROM heartbeat")) == 0


def test_heartbeats_need_no_redis(app: Flask) -> None:
    assert (heartbeat.relay_age(), heartbeat.workers_alive()) == (None, 0)
    heartbeat.record_heartbeat(heartbeat.RELAY)
    heartbeat.record_heartbeat("worker:here:1")
    heartbeat.record_heartbeat("worker:here:1")
    heartbeat.record_heartbeat("worker:here:2")
    assert 0 <= (heartbeat.relay_age() or 0) < 5
    assert heartbeat.workers_alive() == 2
    change("UPDATE heartbeat SET at = now() - interval '1 minute'")
    assert heartbeat.workers_alive() == 0
    assert (heartbeat.relay_age() or 0) > 59


def failing(run: Run) -> None:
    raise Transient("away")


def test_an_operator_lists_dead_jobs_and_retries_them(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", key="k", not_after=timedelta(seconds=1), does=does("failing", failing))
    run_due_jobs(worker="test")
    commands = app.test_cli_runner()
    shown = commands.invoke(args=["outbox", "list", "--state", "dead"]).output
    assert "core.surely" in shown and "Transient: away" in shown and "1 dead" in shown
    assert "1 row ready again" in commands.invoke(args=["outbox", "retry", "--kind", "core.surely"]).output
    assert [(row.state, row.dedupe_key) for row in rows("core.surely")] == [("ready", "k")]
    does("failing", lambda run: None)
    run_due_jobs(worker="test")
    assert [row.state for row in rows("core.surely")] == ["done"]


def test_only_failed_jobs_are_retried(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", does=does("nothing", lambda run: None))
    run_due_jobs(worker="test")
    assert retries.retry(kind="core.surely") == 0
    assert app.test_cli_runner().invoke(args=["outbox", "retry"]).exit_code == 2


def test_waiting_time_is_the_age_of_the_oldest_due_row(app: Flask) -> None:
    assert queries.oldest_due_age() == 0
    with transaction():
        enqueue("core.surely", does="x")
    change("UPDATE outbox SET run_at = now() - interval '1 minute'")
    assert 59 < queries.oldest_due_age() < 70
