"""Redis behind Sentinels: found, and found again after a failover, by everything that uses it."""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from flask import Flask
from redis.exceptions import ConnectionError as Unreachable
from redis.exceptions import RedisError

from app.clients.payrail.breaker import Breaker, Permit
from app.config import SettingsError, load
from app.core.outbox import enqueue_many
from app.core.outbox.wakeup import WakeupQueue
from app.core.redis import connected
from app.core.transaction import transaction
from app.doctor import database_checks
from app.web.rate_limits import Limit, RateLimiter
from app.web.readiness import _check_redis
from app.web.streams.connection_limits import StreamSlots
from tests.faults import jobs
from tests.faults.cluster import below, kill, settled
from tests.faults.service import ROOT
from tests.settings import settings_for
from tests.timing import assert_in_time
from tests.topology.sentinels import sentinels_in
from tests.waiting import MAX_SECONDS, wait_until

__all__ = ["jobs"]

log = logging.getLogger(__name__)

NURSERY = [sys.executable, "-m", "tests.faults.process"]
PACE = '{"lease": 4, "time_limit": 3, "wakeup_interval": 0.2, "expiry_interval": 0.5, "takeover_delay": 60}'


@pytest.mark.slow
def test_everything_finds_the_new_master(app: Flask, tmp_path: Path) -> None:
    with sentinels_in(tmp_path) as sentinels:
        url = sentinels.url
        everything = used_by(url)
        with workers(app, url, tmp_path):
            work(20)
            wait_until(settled)
            everything()
            sentinels.fail_over()
            work(20)
            began = time.monotonic()
            eventually(everything)
            log.info(f"everything found it within {time.monotonic() - began:.1f} s")
            wait_until(settled)
            log.info(f"work was done after {time.monotonic() - began:.1f} s")
        settings = settings_for(database_url=app.extensions["settings"].DATABASE_URL, redis_url=url)
        said = [finding for finding in database_checks.run_checks(settings) if finding.about == "redis"]
        assert any("answers in" in item.says for item in said) and not any("canary" in item.says for item in said)


def eventually(act: Callable[[], None], seconds: float = MAX_SECONDS) -> None:
    """The first try may meet a connection to the dead master; it is dropped, and the next asks the Sentinels."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return act()
        except (RedisError, AssertionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def used_by(url: str) -> Callable[[], None]:
    """Everything on that Redis, to be used as often as one likes."""
    bell, counter, places, breaker = WakeupQueue(url), RateLimiter(url, 1), StreamSlots(url), Breaker(url, "sentinels")
    return lambda: use(bell, counter, places, breaker, url)


def use(bell: WakeupQueue, counter: RateLimiter, places: StreamSlots, breaker: Breaker, url: str) -> None:
    """Everything that talks to Redis, each by a connection that may be one to the dead master."""
    assert connected(url).ping() and _check_redis(url) == "up"
    assert connected(url).connection_pool.connection_kwargs["db"] == 3
    # Anyone who has noticed that Redis was away leaves it alone for a while.
    bell.paused_until = counter.redis_retry_at = breaker._silent_until = 0.0
    assert bell.free_slots() >= 0
    place = places.acquire("6740f1c2a1b2c3d4e5f60718", "127.0.0.1")
    assert places.redis.zcard("streams:account:6740f1c2a1b2c3d4e5f60718") >= 1
    places.release(place)
    counter.hit(Limit(100), "route", "who")
    assert counter.redis_retry_at == 0.0, "counted in Redis, not in memory"
    breaker.failed(Permit.FREE)
    assert breaker.state() == "closed"


def work(count: int) -> None:
    with transaction():
        enqueue_many("faults.local", [(None, {})] * count)


@contextmanager
def workers(app: Flask, redis_url: str, folder: Path) -> Iterator[None]:
    """A worker and a relay of their own on that Redis."""
    settings = app.extensions["settings"]
    environment = {
        **os.environ,
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": redis_url,
        "DATA_DIR": str(folder),
        "SECRET_KEY": settings.SECRET_KEY,
        "LOG_LEVEL": "warning",
    }
    process = subprocess.Popen([*NURSERY, str(folder / "pids"), PACE, "1", "1"], cwd=ROOT, env=environment)
    try:
        yield
    finally:
        for pid in below(process.pid):
            kill(pid)
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    "url",
    [
        "sentinel://",
        "sentinel://one",
        "sentinel:///service",
        "sentinel://one/service/x",
        "http://one",
        "sentinel://one/service?tls=yes",
        "sentinel://one/service?ssl=1",
    ],
)
def test_an_address_that_is_none_stops_the_start(url: str) -> None:
    with pytest.raises(SettingsError, match="REDIS_URL"):
        load({"REDIS_URL": url})


@pytest.mark.parametrize(
    "url",
    [
        "sentinel://one/service",
        "sentinel://u:p@one:1,two,[::1]:3/service/2?tls=1&ssl_ca_certs=/a.pem",
        "unix:///run/redis.sock?db=0",
    ],
)
def test_an_address_that_is_one_does_not(url: str) -> None:
    assert url == load({"REDIS_URL": url}).REDIS_URL


def test_what_an_address_says_reaches_the_servers_and_the_sentinels() -> None:
    url = "sentinel://shop:p%40ss@one:1,two,[::1]:3/service/2?tls=1&sentinel_user=eye&sentinel_password=open"
    pool = connected(url, seconds=0.2).connection_pool
    told = pool.connection_kwargs
    assert (told["username"], told["password"], told["db"]) == ("shop", "p@ss", 2)
    assert told["socket_timeout"] == 0.2 and pool.connection_class.__name__ == "SentinelManagedSSLConnection"
    asked = [sentinel.connection_pool.connection_kwargs for sentinel in pool.sentinel_manager.sentinels]
    assert [(item["host"], item["port"]) for item in asked] == [("one", 1), ("two", 26379), ("::1", 3)]
    assert {(item["username"], item["password"]) for item in asked} == {("eye", "open")}


def test_sentinels_that_do_not_answer_are_not_waited_for() -> None:
    began = time.monotonic()
    with pytest.raises(Unreachable):
        connected("sentinel://127.0.0.1:1,127.0.0.1:2/service", seconds=0.2).ping()
    assert_in_time(time.monotonic() - began < 1)
