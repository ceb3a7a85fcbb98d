"""Jobs survive killed processes: none is lost, and none that must run once runs twice."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.core.db import db
from app.core.outbox import Outbox, OutboxAttempt, enqueue, enqueue_many
from app.core.outbox.tuning import Tuning
from app.core.transaction import transaction
from tests.faults import jobs
from tests.faults.cluster import FAST, Cluster, cluster_of, settled
from tests.faults.storm import Storm, continued, stopped
from tests.timing import assert_in_time
from tests.waiting import wait_until

__all__ = ["jobs"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc"),
    pytest.mark.xdist_group("outbox_faults"),
]

SEEDS = range(1, 1 + int(os.environ.get("FAULT_SEEDS", "1")))


@pytest.fixture
def cluster(app: Flask, tmp_path: Path) -> Iterator[Cluster]:
    with cluster_of(app, tmp_path) as cluster:
        yield cluster


def enqueue_mail(cluster: Cluster, kind: str, count: int) -> None:
    with transaction():
        enqueue_many(f"faults.{kind}", [(f"{kind}-{n}", {"port": cluster.sink.port}) for n in range(count)])


def keys(kind: str, *states: str) -> set[str]:
    query = select(Outbox.dedupe_key).where(Outbox.kind == f"faults.{kind}", Outbox.state.in_(states))
    with db.engine.connect() as connection:
        return {key or "" for key in connection.execute(query).scalars()}


def the_row(kind: str) -> Outbox:
    db.session.remove()
    return db.session.scalars(select(Outbox).where(Outbox.kind == f"faults.{kind}")).one()


def holder() -> list[int]:
    """The process that tried last."""
    with db.engine.connect() as connection:
        last = (
            select(OutboxAttempt.worker)
            .order_by(OutboxAttempt.started.desc())
            .join(Outbox, Outbox.id == OutboxAttempt.outbox_id)
            .where(Outbox.kind == "faults.mail_once")
        )
        return [int(str(connection.execute(last.limit(1)).scalar()).rpartition(":")[2])]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_kills_lose_no_job_and_repeat_none_that_must_run_once(cluster: Cluster, seed: int) -> None:
    cluster.start(FAST)
    enqueue_mail(cluster, "mail_once", 400)
    enqueue_mail(cluster, "mail_surely", 200)
    storm = Storm(cluster, seed)
    storm.rage(kills=30, every=0.3)
    wait_until(settled)
    noted = cluster.sink.noted()
    once = {key: count for key, count in noted.items() if key.startswith("mail_once")}

    assert max(once.values()) == 1, storm.killed
    assert keys("mail_once", "done") <= set(once) <= keys("mail_once", "done", "uncertain")
    assert len(keys("mail_once", "done", "uncertain")) == 400
    assert len(keys("mail_once", "uncertain")) <= storm.bound_on_uncertain(), storm.killed

    assert keys("mail_surely", "done") == set(noted) - set(once)
    assert len(keys("mail_surely", "done")) == 200
    assert noted.total() - len(noted) <= storm.bound_on_uncertain(), storm.killed


@pytest.mark.control
def test_without_the_fence_mails_go_out_twice(cluster: Cluster) -> None:
    """The negative control: what keeps the storm's counts at one is the fence."""
    cluster.start(Tuning(lease=1.5, time_limit=1, wakeup_interval=0.2, expiry_interval=0.2, max_lost=100), "--unfenced")
    enqueue_mail(cluster, "mail_once", 300)
    Storm(cluster, 1, kinds=("horse",)).rage(kills=25, every=0.15)
    wait_until(settled)
    assert max(cluster.sink.noted().values()) > 1


def test_crashing_job_is_dead_after_five_tries_and_others_run(cluster: Cluster) -> None:
    cluster.start(Tuning(lease=0.8, time_limit=0.5, wakeup_interval=0.1, expiry_interval=0.1), workers=2)
    with transaction():
        enqueue("faults.poison")
        enqueue_many("faults.local", [(None, {})] * 50)
    wait_until(settled)
    pill = the_row("poison")
    assert (pill.state, pill.attempts, pill.lost) == ("dead", 5, 5)
    with db.engine.connect() as connection:
        outcomes = Counter(connection.execute(select(Outbox.state).where(Outbox.kind == "faults.local")).scalars())
    assert outcomes == {"done": 50}


def test_worker_that_resumes_before_the_fence_sends_nothing(cluster: Cluster) -> None:
    cluster.start(Tuning(lease=1, time_limit=30, wakeup_interval=0.1, expiry_interval=0.1), workers=2)
    with transaction():
        enqueue("faults.mail_once", key="slow", port=cluster.sink.port, before=0.5)
    wait_until(lambda: the_row("mail_once").state == "leased")
    asleep = holder()
    stopped(asleep)
    wait_until(lambda: the_row("mail_once").state == "done")
    continued(asleep)
    wait_until(lambda: not set(asleep) & set(cluster.horses()))
    assert cluster.sink.noted() == {"slow": 1}
    assert (the_row("mail_once").state, the_row("mail_once").attempts) == ("done", 2)


def test_worker_that_resumes_after_the_fence_changes_nothing(app: Flask, tmp_path: Path) -> None:
    with cluster_of(app, tmp_path, hold=1) as cluster:
        cluster.start(Tuning(lease=1, time_limit=30, wakeup_interval=0.1, expiry_interval=0.1), workers=2)
        with transaction():
            enqueue("faults.mail_once", key="held", port=cluster.sink.port)
        wait_until(lambda: cluster.sink.noted().total() == 1)
        asleep = holder()
        stopped(asleep)
        wait_until(lambda: the_row("mail_once").state == "uncertain")
        continued(asleep)
        wait_until(lambda: not set(asleep) & set(cluster.horses()))
        assert the_row("mail_once").state == "uncertain"
        assert cluster.sink.noted() == {"held": 1}


def test_critical_jobs_run_during_a_redis_outage_and_others_after_it(cluster: Cluster) -> None:
    cluster.start(FAST)
    cluster.redis.kill()
    began = time.monotonic()
    for n in range(20):
        with transaction():
            enqueue("faults.mail_surely", key=f"mail_surely-{n}", port=cluster.sink.port)
    assert_in_time(time.monotonic() - began < 1, "a write waits for no bell")
    enqueue_mail(cluster, "mail_once", 20)
    wait_until(lambda: len(keys("mail_surely", "done")) == 20)
    assert len(keys("mail_once", "ready")) == 20
    cluster.redis.start()
    wait_until(settled)
    assert set(cluster.sink.noted().values()) == {1}


def test_jobs_run_after_redis_was_emptied_or_full(cluster: Cluster) -> None:
    cluster.start(FAST)
    cluster.redis.client.config_set("maxmemory", 1)
    enqueue_mail(cluster, "mail_surely", 20)
    wait_until(lambda: len(keys("mail_surely", "done")) == 20)
    cluster.redis.client.config_set("maxmemory", 0)
    cluster.redis.client.flushall()
    enqueue_mail(cluster, "mail_once", 20)
    wait_until(settled)
    assert set(cluster.sink.noted().values()) == {1}


def test_two_relays_do_no_more_than_one(cluster: Cluster) -> None:
    cluster.start(Tuning(lease=1, time_limit=0.8, wakeup_interval=0.05, expiry_interval=0.05), relays=2)
    enqueue_mail(cluster, "mail_once", 100)
    storm = Storm(cluster, 3, kinds=("horse", "relay"))
    storm.rage(kills=6, every=0.2)
    wait_until(settled)
    noted = cluster.sink.noted()
    assert set(noted.values()) == {1}
    assert len(keys("mail_once", "done", "uncertain")) == 100
    with db.engine.connect() as connection:
        ticks = connection.execute(select(func.count()).where(Outbox.kind == "faults.often")).scalar()
        tries = connection.execute(select(func.sum(Outbox.attempts)).where(Outbox.kind == "faults.mail_once"))
    assert ticks == 1
    assert (tries.scalar() or 0) <= 100 + storm.killed["horse"]
