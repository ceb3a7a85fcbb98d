"""Work commits with the action that asks for it, or not at all."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.core.context import request_id
from app.core.db import db
from app.core.jobs import UnknownKind
from app.core.outbox import EnqueueOutsideTransaction, Outbox, cancel, enqueue, enqueue_many
from app.core.outbox.wakeup import WakeupQueue, get_wakeup_queue
from app.core.transaction import request_transaction, transaction
from tests.core import outbox_jobs
from tests.timing import assert_in_time

__all__ = ["outbox_jobs"]


def rows() -> list[Outbox]:
    db.session.remove()
    return list(db.session.scalars(select(Outbox).order_by(Outbox.id)))


def test_work_outside_a_transaction_is_refused(app: Flask) -> None:
    with pytest.raises(EnqueueOutsideTransaction):
        enqueue("core.surely", does="x")


def test_work_of_an_unknown_kind_is_refused(app: Flask) -> None:
    with pytest.raises(UnknownKind), transaction():
        enqueue("core.nothing")


def test_a_failed_action_leaves_no_job(app: Flask) -> None:
    with pytest.raises(ZeroDivisionError), transaction():
        enqueue("core.surely", does="x")
        raise ZeroDivisionError
    assert rows() == []
    assert get_wakeup_queue().queue.count == 0


def test_the_same_key_is_the_same_work(app: Flask) -> None:
    with transaction():
        assert enqueue("core.surely", key="letter-1", does="x")
        assert enqueue("core.surely", key="letter-1", does="y") is None
    with transaction():
        assert enqueue_many("core.surely", [("letter-1", {"does": "z"}), ("letter-2", {"does": "z"})]) == 1
    assert [row.payload for row in rows()] == [{"does": "x"}, {"does": "z"}]


def test_one_transaction_sends_one_wakeup_after_its_commit(app: Flask) -> None:
    with transaction():
        enqueue_many("core.surely", [(None, {"does": "x"})] * 20)
        enqueue("core.surely", does="x")
        assert get_wakeup_queue().queue.count == 0
    assert get_wakeup_queue().queue.count == 1


def test_a_wakeup_names_the_kind_and_id_of_its_row(app: Flask) -> None:
    with transaction():
        outbox_id = enqueue("core.surely", does="x")
    [job] = get_wakeup_queue().queue.get_jobs()
    assert job.description == f"core.surely {outbox_id}"
    assert job.meta == {"kind": "core.surely", "outbox_id": outbox_id}


def test_at_most_sixteen_wakeups_wait(app: Flask) -> None:
    for _ in range(20):
        with transaction():
            enqueue("core.surely", does="x")
    assert get_wakeup_queue().queue.count == 16


def test_a_request_sends_its_wakeup_after_its_commit(app: Flask) -> None:
    with request_transaction():
        with transaction():
            enqueue("core.surely", does="x")
        assert get_wakeup_queue().queue.count == 0
    assert get_wakeup_queue().queue.count == 1


def test_a_later_job_sends_no_wakeup_and_is_due_by_the_clock_of_the_database(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", delay=timedelta(minutes=5), not_after=timedelta(minutes=10), does="x")
        enqueue("core.surely", run_at=datetime(2040, 1, 1, tzinfo=UTC), does="y")
    assert get_wakeup_queue().queue.count == 0
    first, second = rows()
    assert first.run_at - first.created_at == timedelta(minutes=5)
    assert first.not_after == first.created_at + timedelta(minutes=10)
    assert second.run_at == datetime(2040, 1, 1, tzinfo=UTC)


def test_a_write_does_not_wait_for_a_redis_that_is_away(app: Flask, tmp_path: object) -> None:
    app.extensions["wakeup_queue"] = WakeupQueue(f"unix://{tmp_path}/nobody.sock")
    try:
        began = time.monotonic()
        for _ in range(20):
            with transaction():
                enqueue("core.surely", does="x")
        assert_in_time(time.monotonic() - began < 1)
    finally:
        del app.extensions["wakeup_queue"]
    assert len(rows()) == 20


def test_the_request_id_goes_along(app: Flask) -> None:
    token = request_id.set("req-7")
    with transaction():
        enqueue("core.surely", does="x")
    request_id.reset(token)
    assert [row.request_id for row in rows()] == ["req-7"]


def test_work_that_nobody_has_begun_can_be_taken_back(app: Flask) -> None:
    with transaction():
        enqueue("core.surely", key="k", does="x")
    with transaction():
        assert cancel("k")
        assert not cancel("k")
    assert [row.state for row in rows()] == ["canceled"]


def test_a_thousand_rows_are_one_statement(app: Flask) -> None:
    with transaction():
        assert enqueue_many("core.once", ((f"k{n}", {"does": "x"}) for n in range(1000))) == 1000
    db.session.remove()
    assert db.session.scalar(select(func.count()).select_from(Outbox)) == 1000
