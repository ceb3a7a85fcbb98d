"""The parts of a stream, each by itself: places, connections, events."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import Caller
from app.core.errors import AppError
from app.core.throttle import network_of
from app.web.streams import (
    StreamsFull,
    TooManyStreams,
    TooManyStreamsFromNetwork,
    connection_limits,
    socket_takeover,
    sse_format,
)
from app.web.streams.client_connection import (
    HEARTBEAT_SECONDS,
    MAX_PENDING_BYTES,
    MAX_STREAM_SECONDS,
    STALL_SECONDS,
    ClientConnection,
    ClientGone,
    StreamRequest,
)
from app.web.streams.connection_limits import StreamSlots
from app.web.streams.topics import Topics

WHO = Caller("a" * 24, "s", "a@example.com", "A", None, True, frozenset({"admin"}), "admin", None, 1)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    mine, theirs = socket.socketpair()
    mine.setblocking(False)
    yield mine, theirs
    mine.close()
    theirs.close()


@pytest.fixture
def listener(pair: tuple[socket.socket, socket.socket], clock: Clock) -> ClientConnection:
    return ClientConnection(pair[0], True, StreamRequest("event", (), "position", WHO, "place"), clock)


def test_a_quiet_listener_gets_a_sign_of_life(listener: ClientConnection, pair: Any, clock: Clock) -> None:
    clock.now += HEARTBEAT_SECONDS - 2
    listener.check_timeouts()
    assert not listener.write_buffers
    clock.now += 1.5
    listener.check_timeouts()
    data = sse_format.format_heartbeat("position")
    assert pair[1].recv(1000) == b"%x\r\n%s\r\n" % (len(data), data)


def test_it_ends_well_after_ten_minutes_at_most(listener: ClientConnection, pair: Any, clock: Clock) -> None:
    clock.now += MAX_STREAM_SECONDS
    listener.check_timeouts()
    listener.flush()
    assert listener.is_done and pair[1].recv(1000) == b"0\r\n\r\n"


def test_who_reads_nothing_is_cut(listener: ClientConnection, clock: Clock) -> None:
    while not listener.write_buffers:
        listener.send(b"x" * 50_000)
    clock.now += STALL_SECONDS - 1
    listener.flush()
    listener.check_timeouts()
    clock.now += 2
    with pytest.raises(ClientGone):
        listener.check_timeouts()


def test_little_is_kept_for_who_reads_slowly(listener: ClientConnection) -> None:
    with pytest.raises(ClientGone):
        for _ in range(100):
            listener.send(b"x" * 50_000)
    assert listener.pending_bytes < MAX_PENDING_BYTES + 60_000


def test_what_is_written_in_pieces_arrives_whole(listener: ClientConnection, pair: Any) -> None:
    said, got = [bytes([65 + n % 26]) * (7000 + n) for n in range(40)], b""
    listener.uses_chunked_encoding = False
    for item in said:
        listener.send(item)
        got += pair[1].recv(5000)
    pair[1].settimeout(0.2)
    while len(got) < sum(map(len, said)):
        listener.flush()
        got += pair[1].recv(50_000)
    assert got == b"".join(said) and not listener.pending_bytes


def test_a_connection_is_taken_whole(pair: Any) -> None:
    """What the server does to what it holds afterwards, the client does not notice."""
    held, client = pair
    held.setblocking(True)
    mine = socket_takeover.take_socket({"gunicorn.socket": held})
    with pytest.raises(OSError):
        held.sendall(b"0\r\n\r\n")
    held.shutdown(socket.SHUT_WR)
    held.close()
    mine.send(b"still here")
    assert client.recv(100) == b"still here"
    mine.close()
    assert client.recv(100) == b""


def test_only_plain_sockets_are_taken() -> None:
    class Wrapped(socket.socket):
        """What TLS makes of a socket."""

    with Wrapped() as wrapped, socket.socket() as plain:
        assert not socket_takeover.can_take_socket({}) and not socket_takeover.can_take_socket(
            {"gunicorn.socket": wrapped}
        )
        assert not socket_takeover.can_take_socket({"gunicorn.socket": plain, "HTTP_VERSION": "2"})
        assert socket_takeover.can_take_socket({"gunicorn.socket": plain})


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
    found[1].release_all()
    found[0].acquire("two", "network two")


def test_a_network_has_a_share_of_the_places(app: Flask) -> None:
    found = StreamSlots(app.extensions["settings"].REDIS_URL)
    for number in range(connection_limits.MAX_PER_NETWORK):
        found.acquire(f"account {number // 5}", "192.0.2.1")
    _refused(found, "another", TooManyStreamsFromNetwork, "192.0.2.1")
    found.acquire("another", "192.0.2.2")


def test_the_last_places_are_for_newcomers(app: Flask) -> None:
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
    found.release_all()
    found.acquire("too late", "203.0.113.1")


def test_an_ipv6_network_has_a_share_whatever_its_parts(app: Flask) -> None:
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


def _refused(found: StreamSlots, account: str, kind: type[AppError], network: str = "elsewhere") -> None:
    before = len(found.slots_by_name)
    with pytest.raises(kind):
        found.acquire(account, network)
    assert len(found.slots_by_name) == before


def test_listeners_of_a_topic_are_asked_for_together(listener: ClientConnection) -> None:
    topics = Topics()
    topics.mark_changed("event", "other")
    assert topics.list_due() == ["event", "other"] and topics.seconds_until_due() == 0
    assert topics.start_reading("other", [listener]) == {}
    assert topics.start_reading("event", [listener, listener]) == {"position": {()}}
    topics.mark_changed("event")
    assert topics.list_due() == [], "not while it is being read"
    topics.finish_reading("event", succeeded=True)
    assert topics.list_due() == [] and 0 < topics.seconds_until_due() < 1, "nor at once after it"
