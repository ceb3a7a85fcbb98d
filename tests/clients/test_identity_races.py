"""The published keys of a provider under many threads: one fetch, and no queue that is not needed."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from app.clients.identity import KeyCache, KeysUnavailable
from tests.clients.identity_provider import Clock, IdentityProvider
from tests.timing import assert_in_time

HOUR = 3600


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def google(httpserver: HTTPServer, clock: Clock) -> IdentityProvider:
    return IdentityProvider(httpserver, clock=clock)


def fetches_of(threads: int, keys: KeyCache, google: IdentityProvider) -> int:
    """How often the keys were fetched, when so many threads ask for one at the same moment."""
    start = threading.Barrier(threads)

    def ask(_: int) -> str | None:
        start.wait()
        return keys.find(google.kid).key_id

    with ThreadPoolExecutor(threads) as pool:
        assert set(pool.map(ask, range(threads))) == {google.kid}
    return google.fetches


class Unguarded(KeyCache):
    """The cache without its lock, to show that the tests here would notice."""

    class NoLock:
        def acquire(self, blocking: bool = True) -> bool:
            return True

        def release(self) -> None: ...

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lock = self.NoLock()  # type: ignore[assignment]


def test_thirty_two_threads_at_a_cold_cache_fetch_once(google: IdentityProvider) -> None:
    google.slowness = 0.05

    assert fetches_of(32, KeyCache(google.jwks_url), google) == 1


@pytest.mark.control
def test_without_the_lock_they_would_fetch_more_than_once(google: IdentityProvider) -> None:
    google.slowness = 0.05

    assert fetches_of(4, Unguarded(google.jwks_url), google) > 1


def test_threads_that_meet_a_rotation_fetch_once(google: IdentityProvider) -> None:
    keys = KeyCache(google.jwks_url)
    keys.find(google.kid)
    google.rotate()
    google.slowness = 0.05

    assert fetches_of(32, keys, google) == 2


def test_threads_in_an_outage_share_one_wait(google: IdentityProvider, clock: Clock) -> None:
    google.down()
    google.slowness = 0.1
    keys = KeyCache(google.jwks_url, clock=clock)

    def ask(_: int) -> bool:
        with pytest.raises(KeysUnavailable):
            keys.find(google.kid)
        return True

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(ask, range(32)))
    assert google.fetches == 1


def test_a_key_past_its_date_serves_while_another_thread_fetches(google: IdentityProvider, clock: Clock) -> None:
    keys = KeyCache(google.jwks_url, clock=clock)
    keys.find(google.kid)
    clock.advance(HOUR)
    google.slowness = 0.3

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(keys.find, google.kid)
        while google.fetches < 2:
            time.sleep(0.005)
        started = time.monotonic()
        assert keys.find(google.kid).key_id == google.kid
        assert_in_time(time.monotonic() - started < 0.2)
        assert slow.result().key_id == google.kid
    assert google.fetches == 2
