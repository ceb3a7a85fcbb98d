"""The parts of a stream, each by itself: places, subscriptions, the broadcaster."""

import threading
import time
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import Caller
from app.core.errors import AppError
from app.core.throttle import network_of
from app.web.streams import StreamsFull, TooManyStreams, TooManyStreamsFromNetwork, connection_limits, sse_format
from app.web.streams import subscription as subscription_module
from app.web.streams.broadcaster import Broadcaster
from app.web.streams.connection_limits import StreamSlots
from app.web.streams.subscription import MAX_PENDING_BYTES, Subscription
from app.web.streams.topic_queries import FilterKey
from tests.waiting import wait_until

WHO = Caller("a" * 24, "s", "a@example.com", "A", None, True, frozenset({"admin"}), "admin", None, 1)


def subscription(seconds: float = 60) -> Subscription:
    return Subscription("event", (), WHO, "position", time.monotonic() + seconds)


def test_a_client_without_updates_gets_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription_module, "HEARTBEAT_SECONDS", 0.01)
    events = subscription().iterate_events()
    assert [next(events), next(events)] == [sse_format.format_heartbeat("position")] * 2


def test_events_come_in_order_and_the_position_follows() -> None:
    found = subscription()
    for number in range(3):
        found.add(f"p{number}", b"%d" % number)
    found.add("p3", b"")
    found.end()
    assert list(found.iterate_events()) == [b"0", b"1", b"2"] and found.position == "p3"


def test_it_ends_when_its_time_is_over() -> None:
    assert list(subscription(seconds=0).iterate_events()) == []
    assert list(subscription(seconds=0.05).iterate_events())[1:] == [], "a heartbeat at most"


def test_a_client_that_reads_too_slowly_is_ended() -> None:
    found, event = subscription(), b"x" * 50_000
    for number in range(100):
        found.add(str(number), event)
    kept = list(found.iterate_events())
    assert found.is_ended and not found.needs_resync
    assert MAX_PENDING_BYTES < sum(map(len, kept)) <= MAX_PENDING_BYTES + len(event)


def test_a_process_keeps_its_share_of_streams(app: Flask) -> None:
    slots = StreamSlots(app.extensions["settings"].REDIS_URL, max_per_process=2)
    first = slots.acquire("one", "network one")
    slots.acquire("two", "network two")
    _refused(slots, "three", StreamsFull)
    slots.release(first)
    slots.acquire("three", "network three")


def test_one_account_does_not_take_all_places_of_a_process(app: Flask) -> None:
    slots = StreamSlots(app.extensions["settings"].REDIS_URL, max_per_process=2)
    slots.acquire("one", "network one")
    _refused(slots, "one", TooManyStreams)
    slots.acquire("two", "network two")


def test_five_for_an_account_and_so_many_for_a_host(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [StreamSlots(app.extensions["settings"].REDIS_URL) for _ in range(2)]
    taken = [found[n % 2].acquire("one", "network one") for n in range(5)]
    _refused(found[0], "one", TooManyStreams)
    found[0].release(taken[0])
    found[0].release(taken[0])
    found[1].acquire("one", "network one")
    monkeypatch.setattr(connection_limits, "MAX_PER_HOST", 6)
    monkeypatch.setattr(connection_limits, "RESERVED_FOR_NEWCOMERS", 0)
    found[1].acquire("two", "network two")
    _refused(found[0], "two", StreamsFull)
    release_all(found[1])
    found[0].acquire("two", "network two")


def test_a_network_has_a_share_of_the_places(app: Flask) -> None:
    found = StreamSlots(app.extensions["settings"].REDIS_URL)
    for number in range(connection_limits.MAX_PER_NETWORK):
        found.acquire(f"account {number // 5}", "192.0.2.1")
    _refused(found, "another", TooManyStreamsFromNetwork, "192.0.2.1")
    found.acquire("another", "192.0.2.2")


def test_the_last_places_are_for_new_clients(app: Flask) -> None:
    found = StreamSlots(app.extensions["settings"].REDIS_URL)
    crowd = [(f"account {number // 5}", f"192.0.2.{number // 50}") for number in range(connection_limits.MAX_PER_HOST)]
    for account, network in crowd[: connection_limits.MAX_PER_HOST - connection_limits.RESERVED_FOR_NEWCOMERS]:
        found.acquire(account, network)
    for account, _ in crowd[connection_limits.MAX_PER_HOST - connection_limits.RESERVED_FOR_NEWCOMERS :: 5]:
        _refused(found, account, StreamsFull, "192.0.2.3")
    _refused(found, "unknown", StreamsFull, "192.0.2.3")
    for number in range(connection_limits.RESERVED_FOR_NEWCOMERS):
        newcomer, network = f"newcomer {number}", f"198.51.100.{number // connection_limits.MAX_NEWCOMERS_PER_NETWORK}"
        found.acquire(newcomer, network)
        if number % connection_limits.MAX_NEWCOMERS_PER_NETWORK == connection_limits.MAX_NEWCOMERS_PER_NETWORK - 1:
            _refused(found, "one more", StreamsFull, network)
        _refused(found, newcomer, StreamsFull, network)
    _refused(found, "too late", StreamsFull, "203.0.113.1")
    release_all(found)
    found.acquire("too late", "203.0.113.1")


def test_an_ipv6_network_has_one_share_for_all_its_addresses(app: Flask) -> None:
    found = StreamSlots(app.extensions["settings"].REDIS_URL)
    most = connection_limits.WIDER_NETWORK_FACTOR * connection_limits.MAX_PER_NETWORK
    for number in range(most):
        found.acquire(f"account {number // 5}", network_of(f"2001:db8:1:{number // 5:x}::1"))
    _refused(found, "another", TooManyStreamsFromNetwork, network_of("2001:db8:1:ffff::1"))
    for number in range(connection_limits.MAX_PER_HOST - connection_limits.RESERVED_FOR_NEWCOMERS - most):
        found.acquire(f"other {number // 5}", network_of(f"2001:db8:2:{number // 5:x}::1"))
    for number in range(connection_limits.WIDER_NETWORK_FACTOR * connection_limits.MAX_NEWCOMERS_PER_NETWORK):
        found.acquire(f"newcomer {number}", network_of(f"2001:db8:3:{number:x}::1"))
    _refused(found, "one more", StreamsFull, network_of("2001:db8:3:ffff::1"))
    found.acquire("one more", network_of("2001:db8:4::1"))


@pytest.mark.control
def test_without_the_shares_one_network_holds_every_place(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_PER_NETWORK", connection_limits.MAX_PER_HOST)
    monkeypatch.setattr(connection_limits, "RESERVED_FOR_NEWCOMERS", 0)
    found = StreamSlots(app.extensions["settings"].REDIS_URL)
    for number in range(connection_limits.MAX_PER_HOST):
        found.acquire(f"account {number // 5}", "192.0.2.1")
    _refused(found, "newcomer", StreamsFull, "198.51.100.1")


def test_places_of_the_dead_are_free(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    found = StreamSlots(app.extensions["settings"].REDIS_URL)
    with monkeypatch.context() as killed:
        killed.setattr("os.getpid", lambda: 2**22 + 1)
        for _ in range(5):
            found.acquire("one", "network one")
    found.acquire("one", "network one")


def test_a_place_that_is_not_renewed_is_lost(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    found = StreamSlots(app.extensions["settings"].REDIS_URL)
    for _ in range(5):
        found.acquire("one", "network one")
    now = connection_limits.time.time()
    monkeypatch.setattr(connection_limits.time, "time", lambda: now + connection_limits.SLOT_SECONDS + 1)
    found.acquire("one", "network one")


def test_without_redis_a_process_counts_its_own() -> None:
    found = StreamSlots("redis://127.0.0.1:1/0")
    held = [found.acquire("one", "network one") for _ in range(5)]
    _refused(found, "one", TooManyStreams)
    found.release(held[0])
    found.acquire("one", "network one")
    found.renew_all()


def release_all(found: StreamSlots) -> None:
    for name in list(found.slots_by_name):
        found.release(name)


def _refused(found: StreamSlots, account: str, kind: type[AppError], network: str = "elsewhere") -> None:
    before = len(found.slots_by_name)
    with pytest.raises(kind):
        found.acquire(account, network)
    assert len(found.slots_by_name) == before


class Queries:
    """Answers each position with its own name, once; "old" needs a snapshot."""

    channel = "test_streams"

    def __init__(self, max_gap_seconds: float = 10.0) -> None:
        self.max_gap_seconds = max_gap_seconds
        self.asked: list[dict[str, set[FilterKey]]] = []

    def load_position(self) -> str:
        return "now"

    def load_snapshot_page(self, topic: str, filters: FilterKey, after: str) -> tuple[bytes, str | None]:
        return b"{}", None

    def load_updates(self, topic: str, filters_by_position: Any) -> tuple[str, dict[str, Any]]:
        self.asked.append(dict(filters_by_position))
        return "now", {
            position: None
            if position == "old"
            else {key: position.encode() if position != "now" else None for key in filters}
            for position, filters in filters_by_position.items()
        }


def test_clients_of_a_topic_are_read_for_together(app: Flask) -> None:
    queries, stopping = Queries(), threading.Event()
    slots = StreamSlots(app.extensions["settings"].REDIS_URL)
    broadcaster = Broadcaster(app, queries, slots, stopping.is_set)
    found = [subscription() for _ in range(3)]
    found[2].position = "old"
    for each in found:
        broadcaster.subscribe(each)
    event = sse_format.format_event("changes", b"position", "now")
    assert [next(each.iterate_events()) for each in found[:2]] == [event, event]
    assert list(found[2].iterate_events()) == [] and found[2].needs_resync
    assert sum("position" in asked for asked in queries.asked) <= 2, "not once for each client of a position"
    stopping.set()
    assert [list(each.iterate_events()) for each in found[:2]] == [[], []], "a stop ends them"
    thread = broadcaster.thread
    for each in found:
        broadcaster.unsubscribe(each)
    assert thread is not None
    thread.join(90)
    assert broadcaster.thread is None and broadcaster.listener is None, "nothing is held without clients"


def test_changes_are_read_without_a_notification(app: Flask) -> None:
    queries, stopping = Queries(max_gap_seconds=0.2), threading.Event()
    broadcaster = Broadcaster(app, queries, StreamSlots(app.extensions["settings"].REDIS_URL), stopping.is_set)
    found = subscription()
    broadcaster.subscribe(found)
    wait_until(lambda: len(queries.asked) >= 4)
    stopping.set()
    list(found.iterate_events())
    broadcaster.unsubscribe(found)
