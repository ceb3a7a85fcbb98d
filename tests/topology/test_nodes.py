"""Two nodes on one database and one Redis: each with its own folder, web, worker and relay. Nothing is done twice."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, text

from app.core.db import db
from app.core.outbox import Outbox, OutboxAttempt, enqueue_many
from app.core.outbox.tuning import Tuning
from app.core.transaction import transaction
from tests.factories.accounts import create_account, sign_in
from tests.factories.events import build_event_body
from tests.faults import jobs
from tests.faults.cluster import Cluster, PrivateRedis, Sink, kill, settled
from tests.http import Client
from tests.races import run_concurrently
from tests.topology.conftest import needs
from tests.topology.nodes import Pair
from tests.topology.writers import asked
from tests.waiting import wait_until

__all__ = ["jobs"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc"),
    pytest.mark.xdist_group("outbox_faults"),
]
QUICK = Tuning(lease=3, time_limit=2, wakeup_interval=0.05, expiry_interval=0.1, max_lost=100)
MAILS, KEYS = 60, 16


@contextmanager
def nodes(app: Flask, folder: Path) -> Iterator[list[Cluster]]:
    """Two of them; the mails of both go to one place, which counts."""
    redis, sink = PrivateRedis(folder), Sink(folder, 0.02)
    made = [Cluster(app, folder / name, redis, sink) for name in ("one", "two")]
    try:
        for item in made:
            item.folder.mkdir()
            item.start(QUICK, workers=1, relays=1)
        yield made
    finally:
        for item in made:
            item.stop()
        sink.kill()
        redis.kill()


def test_work_of_two_nodes_is_done_once(app: Flask, tmp_path: Path) -> None:
    with nodes(app, tmp_path) as both:
        sink = both[0].sink
        with transaction():
            enqueue_many("faults.mail_once", [(f"mail-{n}", {"port": sink.port}) for n in range(MAILS)])
        wait_until(lambda: sink.noted().total() > 20)
        # One of them loses its relay, and then its worker: the other takes over what was begun.
        killed = [*both[0].running("relay"), *both[0].horses()]
        assert [kill(pid) for pid in killed] == [True] * len(killed)
        wait_until(settled)
        noted = sink.noted()
        assert set(noted.values()) == {1}
        assert MAILS - len(killed) <= len(noted) <= MAILS
        with db.engine.connect() as connection:
            ticks = connection.execute(select(func.count()).where(Outbox.kind == "faults.often")).scalar()
            hands = Counter(connection.execute(select(OutboxAttempt.worker)).scalars())
        assert ticks == 1, "two relays start recurring work once"
        assert len(hands) >= 2


@needs("nginx")
def test_a_key_counts_on_every_node(app: Flask, two: Pair) -> None:
    token = sign_in(Client(app.test_client()), create_account("organiser").email)["accessToken"]

    def go(number: int) -> tuple[int, dict[str, Any]]:
        key = f"two-nodes-{number // 2}"
        return asked(two.nodes[number % 2].base, "/api/events", token, key, build_event_body(name=key))

    answers = run_concurrently(2 * KEYS, go)
    again = [go(number) for number in range(2 * KEYS)]
    assert {status for status, _ in answers} <= {201, 409}
    ids = [answer["data"]["id"] for status, answer in again if status == 201]
    assert len(ids) == 2 * KEYS and len(set(ids)) == KEYS, "both nodes give the same answer"
    names = db.session.execute(text("SELECT name, count(*) FROM event GROUP BY name")).all()
    assert len(names) == KEYS and {row[1] for row in names} == {1}
