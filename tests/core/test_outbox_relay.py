"""The relay's steps: ring, reap, tick, tidy up. Any number of relays may take them at once."""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.core.db import db
from app.core.jobs import Run, Transient, recurring
from app.core.outbox import Outbox, again, enqueue, heartbeat, housekeeping, queries
from app.core.outbox.bell import bell
from app.core.outbox.lease import claim
from app.core.outbox.pace import Pace
from app.core.outbox.reaping import reap
from app.core.outbox.ringing import ring_due
from app.core.outbox.running import work_through
from app.core.outbox.ticks import tick
from app.core.transaction import transaction
from tests.core.outbox_jobs import does

PACE = Pace()
__all__ = ["housekeeping"]


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


def test_it_rings_for_due_rows_only_and_not_again_while_bells_wait(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", delay=timedelta(hours=1), does="x")
    assert ring_due(bell()) == 0
    change("UPDATE outbox SET run_at = now()")
    assert ring_due(bell()) == 1
    for _ in range(30):
        ring_due(bell())
    assert bell().queue.count == 16


def test_bells_that_redis_forgot_are_rung_again(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", does="x")
    bell().redis.flushdb()
    assert ring_due(bell()) == 1


@pytest.mark.parametrize(
    ("kind", "fenced", "state"),
    [
        ("core.once", False, "ready"),
        ("core.once", True, "uncertain"),
        ("core.surely", True, "ready"),
        ("core.local", False, "ready"),
    ],
)
def test_a_row_whose_holder_is_gone(app: Flask, kind: str, fenced: bool, state: str) -> None:
    with transaction():
        enqueue(kind, does="x")
    lease = claim(None, worker="test", pace=PACE)
    assert lease
    if fenced:
        lease.fence()
    assert reap(PACE) == 0
    change("UPDATE outbox SET lease_until = now() - interval '1 second'")
    assert reap(PACE) == 1
    assert [(row.state, row.lost) for row in rows(kind)] == [(state, 1)]
    assert "the process that held it ended" in (rows(kind)[0].last_error or "")


def test_eight_reapers_at_once_take_a_row_back_once(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", does="x")
    claim(None, worker="test", pace=PACE)
    change("UPDATE outbox SET lease_until = now() - interval '1 second'")
    at_once(app, lambda: reap(PACE))
    assert [row.lost for row in rows("core.surely")] == [1]


def test_work_whose_time_is_over_is_dead(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", not_after=timedelta(seconds=-1), does="x")
    assert reap(PACE) == 1
    assert [(row.state, row.last_error) for row in rows("core.surely")] == [("dead", "its time was over")]


def test_recurring_work_is_enqueued_once_a_turn_by_any_number_of_relays(app: Flask) -> None:
    at_once(app, tick)
    assert len(rows("outbox.housekeeping")) == 1
    change("UPDATE tick SET due = now() - interval '5 hours'")
    work_through(worker="test")
    at_once(app, tick)
    assert [row.state for row in rows("outbox.housekeeping")] == ["done", "ready"]


def test_turns_do_not_pile_up_while_nobody_works(app: Flask) -> None:
    for _ in range(3):
        change("UPDATE tick SET due = now()")
        tick()
    assert Counter(row.kind for row in queries.listed())["outbox.housekeeping"] == 1


def test_a_turn_that_lies_too_far_ahead_comes_now(app: Flask) -> None:
    tick()
    work_through(worker="test")
    change("UPDATE tick SET due = now() + interval '1 year'")
    tick()
    assert len(rows("outbox.housekeeping")) == 2


def test_every_recurring_job_has_a_tick(app: Flask) -> None:
    tick()
    assert set(db.session.execute(text("SELECT name FROM tick")).scalars()) == {job.kind for job in recurring()}


def test_old_work_is_removed_with_its_attempts_and_the_rest_stays(app: Flask) -> None:
    for state, days in (("done", 8), ("done", 6), ("dead", 8), ("dead", 31)):
        change(f"""INSERT INTO outbox (kind, class, max_attempts, state, done_at, aggregate)
                   VALUES ('core.old', 'B', 1, '{state}', now() - interval '{days} days', '{state} {days}')""")
    change("INSERT INTO outbox_attempt (outbox_id, n, worker) SELECT id, 1, 'test' FROM outbox")
    change("INSERT INTO heartbeat (name, at) VALUES ('worker:gone:1', now() - interval '2 days')")
    with transaction():
        enqueue("outbox.housekeeping")
    work_through(worker="test")
    assert [row.aggregate for row in rows("core.old")] == ["done 6", "dead 8"]
    assert db.session.scalar(text("SELECT count(*) FROM outbox_attempt WHERE worker = 'test' AND ended IS NULL")) == 2
    assert db.session.scalar(text("SELECT count(*) FROM heartbeat")) == 0


def test_who_lives_is_known_without_redis(app: Flask) -> None:
    assert (heartbeat.relay_age(), heartbeat.workers_alive()) == (None, 0)
    heartbeat.beat(heartbeat.RELAY)
    heartbeat.beat("worker:here:1")
    heartbeat.beat("worker:here:1")
    heartbeat.beat("worker:here:2")
    assert 0 <= (heartbeat.relay_age() or 0) < 5
    assert heartbeat.workers_alive() == 2
    change("UPDATE heartbeat SET at = now() - interval '1 minute'")
    assert heartbeat.workers_alive() == 0
    assert (heartbeat.relay_age() or 0) > 59


def failing(run: Run) -> None:
    raise Transient("away")


def test_an_operator_sees_dead_work_and_sends_it_again(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", key="k", not_after=timedelta(seconds=1), does=does("failing", failing))
    work_through(worker="test")
    commands = app.test_cli_runner()
    shown = commands.invoke(args=["outbox", "list", "--state", "dead"]).output
    assert "core.surely" in shown and "Transient: away" in shown and "1 dead" in shown
    assert "1 rows are ready" in commands.invoke(args=["outbox", "retry", "--kind", "core.surely"]).output
    assert [(row.state, row.dedupe_key) for row in rows("core.surely")] == [("ready", "k")]
    does("failing", lambda run: None)
    work_through(worker="test")
    assert [row.state for row in rows("core.surely")] == ["done"]


def test_only_what_ended_badly_is_sent_again(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", does=does("nothing", lambda run: None))
    work_through(worker="test")
    assert again.retry(kind="core.surely") == 0
    assert app.test_cli_runner().invoke(args=["outbox", "retry"]).exit_code == 2


def test_waiting_time_is_that_of_the_oldest_due_row(app: Flask) -> None:
    assert queries.oldest_due() == 0
    with transaction():
        enqueue("core.surely", does="x")
    change("UPDATE outbox SET run_at = now() - interval '1 minute'")
    assert 59 < queries.oldest_due() < 70
