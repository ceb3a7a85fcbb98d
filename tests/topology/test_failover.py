"""The primary is killed under load and its replica takes over: what was acknowledged is there, and the rest is decided
by asking again with the same key."""

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.db import db
from tests import stores
from tests.factories.accounts import create_account, sign_in
from tests.faults.service import WEB, call, free_port, started, until_ready
from tests.http import Client
from tests.settings import BOOTSTRAP_SECRET, SECRET_KEY, app_for
from tests.topology.postgres import Server, pair
from tests.topology.writers import Writers
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("FAILOVER_ROUNDS", "1"))
log = logging.getLogger(__name__)
NOTICED = 0.5
"""Seconds until anyone who watches the primary promotes the replica. Here nobody has to be sure that it is dead."""


@contextmanager
def service(folder: Path, worker: str, addresses: dict[str, str]) -> Iterator[Writers]:
    """gunicorn on these addresses of the database, and somebody who may make events."""
    redis, port = stores.redis_of(worker), free_port()
    variables = {
        **addresses,
        "REDIS_URL": redis,
        "SECRET_KEY": SECRET_KEY,
        "BOOTSTRAP_SECRET": BOOTSTRAP_SECRET,
        "PUBLIC_BASE_URL": "http://localhost:8000",
        "PORT": str(port),
        "DATA_DIR": str(folder),
        "RATE_LIMIT_SCALE": "100000",
        "LOG_LEVEL": "error",
        "WEB_WORKERS": "1",
    }
    direct = addresses.get("DATABASE_DIRECT_URL", addresses["DATABASE_URL"])
    app = app_for(database_url=direct, redis_url=redis, data_dir=folder)
    with app.app_context():
        token = sign_in(Client(app.test_client()), create_account("organiser").email)["accessToken"]
        db.session.remove()
        db.engine.dispose()
    base, log = f"http://127.0.0.1:{port}", folder / "log"
    with started(WEB, log, variables) as process:
        until_ready(base, process, log)
        yield Writers(base, token)


def by_libpq(primary: Server, replica: Server) -> dict[str, str]:
    """Both servers in one address: whichever takes writes."""
    where = f"host=127.0.0.1:{primary.port}&host=127.0.0.1:{replica.port}&target_session_attrs=read-write"
    return {"DATABASE_URL": f"postgresql://postgres@/app?{where}", "DATABASE_REPLICA_URL": replica.url}


def fail_over(writers: Writers, end: Callable[[], None], promote: Callable[[], None]) -> float:
    """Ends the primary and lets another follow; seconds without a write."""
    already = len(writers.acknowledged)
    wait_until(lambda: len(writers.acknowledged) > already + 50)
    end()
    since = time.monotonic()
    time.sleep(NOTICED)
    promote()
    wait_until(lambda: sum(item.began > since for item in writers.acknowledged) > 50)
    return writers.outage(since)


def check(writers: Writers, primary: Server) -> None:
    """Nothing that was promised is lost, and what nobody knows is learnt by asking again; done once, all of it."""
    ids, names = kept(primary)
    lost = [item.key for item in writers.acknowledged if item.id not in ids]
    done = [item.key for item in writers.unknown if item.key in names]
    again = [writers.write(item.key) for item in writers.unknown]
    ids, names = kept(primary)
    log.info(
        f"{len(writers.acknowledged)} acknowledged, {len(lost)} lost; "
        f"{len(writers.unknown)} unknown, of which {len(done)} had been done"
    )
    assert lost == []
    assert all(item.id in ids for item in again), "who asks again learns what became of it"
    assert set(names.values()) == {1} and len(names) == len(writers.attempts), "and it is done once"
    assert call(f"{writers.base}/ready")[0] == 200


def kept(server: Server) -> tuple[set[str], Counter[str]]:
    """Ids and names of the events that are there."""
    rows = server.ask("SELECT id, name FROM event")
    return {row[0] for row in rows}, Counter(row[1] for row in rows)


@pytest.mark.parametrize("round", range(ROUNDS))
def test_no_acknowledged_write_is_lost_when_the_primary_dies(open_folder: Path, worker: str, round: int) -> None:
    with (
        pair(open_folder) as (primary, replica),
        service(open_folder, worker, by_libpq(primary, replica)) as writers,
    ):
        primary.wait_for_its_commits("replica")
        with writers.writing():
            outage = fail_over(writers, primary.kill, replica.promote)
        log.info(f"without writes for {outage:.2f} s")
        check(writers, replica)
        assert outage < 10


def test_without_waiting_for_the_replica_writes_are_lost(open_folder: Path, worker: str) -> None:
    """The negative control: the same checker over a replica that has fallen behind."""
    with (
        pair(open_folder) as (primary, replica),
        service(open_folder, worker, by_libpq(primary, replica)) as writers,
    ):
        replica.hear_no_more()
        with writers.writing():
            fail_over(writers, primary.kill, replica.promote)
        ids, _ = kept(replica)
        lost = [item.key for item in writers.acknowledged if item.id not in ids]
        log.info(f"{len(writers.acknowledged)} acknowledged, {len(lost)} lost")
        assert len(lost) >= 50
