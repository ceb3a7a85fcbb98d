"""The parts of a stream, each by itself: places, connections, events."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import Caller
from app.core.errors import AppError
from app.core.networks import network_of
from app.web.streams import StreamsFull, TooManyStreams, TooManyStreamsFromNetwork, frames, handover, places
from app.web.streams.listener import BACKLOG, HEARTBEAT, LONGEST, STUCK, Gone, Listener, Ticket
from app.web.streams.places import Places
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
def listener(pair: tuple[socket.socket, socket.socket], clock: Clock) -> Listener:
    return Listener(pair[0], True, Ticket("event", (), "position", WHO, "place"), clock)


def test_a_quiet_listener_gets_a_sign_of_life(listener: Listener, pair: Any, clock: Clock) -> None:
    clock.now += HEARTBEAT - 2
    listener.check()
    assert not listener.outgoing
    clock.now += 1.5
    listener.check()
    data = frames.heartbeat("position")
    assert pair[1].recv(1000) == b"%x\r\n%s\r\n" % (len(data), data)


def test_it_ends_well_after_ten_minutes_at_most(listener: Listener, pair: Any, clock: Clock) -> None:
    clock.now += LONGEST
    listener.check()
    listener.flush()
    assert listener.done and pair[1].recv(1000) == b"0\r\n\r\n"


def test_who_reads_nothing_is_cut(listener: Listener, clock: Clock) -> None:
    while not listener.outgoing:
        listener.say(b"x" * 50_000)
    clock.now += STUCK - 1
    listener.flush()
    listener.check()
    clock.now += 2
    with pytest.raises(Gone):
        listener.check()


def test_little_is_kept_for_who_reads_slowly(listener: Listener) -> None:
    with pytest.raises(Gone):
        for _ in range(100):
            listener.say(b"x" * 50_000)
    assert listener.pending < BACKLOG + 60_000


def test_what_is_written_in_pieces_arrives_whole(listener: Listener, pair: Any) -> None:
    said, got = [bytes([65 + n % 26]) * (7000 + n) for n in range(40)], b""
    listener.chunked = False
    for item in said:
        listener.say(item)
        got += pair[1].recv(5000)
    pair[1].settimeout(0.2)
    while len(got) < sum(map(len, said)):
        listener.flush()
        got += pair[1].recv(50_000)
    assert got == b"".join(said) and not listener.pending


def test_a_connection_is_taken_whole(pair: Any) -> None:
    """What the server does to what it holds afterwards, the client does not notice."""
    held, client = pair
    held.setblocking(True)
    mine = handover.take({"gunicorn.socket": held})
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
        assert not handover.can_be_taken({}) and not handover.can_be_taken({"gunicorn.socket": wrapped})
        assert not handover.can_be_taken({"gunicorn.socket": plain, "HTTP_VERSION": "2"})
        assert handover.can_be_taken({"gunicorn.socket": plain})


def test_five_for_an_account_and_so_many_for_a_host(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Places(app.extensions["settings"].REDIS_URL) for _ in range(2)]
    taken = [found[n % 2].take("one", "network one") for n in range(5)]
    _refused(found[0], "one", TooManyStreams)
    found[0].leave(taken[0])
    found[0].leave(taken[0])
    found[1].take("one", "network one")
    monkeypatch.setattr(places, "PER_HOST", 6)
    monkeypatch.setattr(places, "KEPT_FREE", 0)
    found[1].take("two", "network two")
    _refused(found[0], "two", StreamsFull)
    found[1].leave_all()
    found[0].take("two", "network two")


def test_a_network_has_a_share_of_the_places(app: Flask) -> None:
    found = Places(app.extensions["settings"].REDIS_URL)
    for number in range(places.PER_NETWORK):
        found.take(f"account {number // 5}", "192.0.2.1")
    _refused(found, "another", TooManyStreamsFromNetwork, "192.0.2.1")
    found.take("another", "192.0.2.2")


def test_the_last_places_are_for_newcomers(app: Flask) -> None:
    found = Places(app.extensions["settings"].REDIS_URL)
    crowd = [(f"account {number // 5}", f"192.0.2.{number // 50}") for number in range(places.PER_HOST)]
    for account, network in crowd[: places.PER_HOST - places.KEPT_FREE]:
        found.take(account, network)
    for account, _ in crowd[places.PER_HOST - places.KEPT_FREE :: 5]:
        _refused(found, account, StreamsFull, "192.0.2.3")
    _refused(found, "unknown", StreamsFull, "192.0.2.3")
    for number in range(places.KEPT_FREE):
        newcomer, network = f"newcomer {number}", f"198.51.100.{number // places.NEWCOMERS_PER_NETWORK}"
        found.take(newcomer, network)
        if number % places.NEWCOMERS_PER_NETWORK == places.NEWCOMERS_PER_NETWORK - 1:
            _refused(found, "one more", StreamsFull, network)
        _refused(found, newcomer, StreamsFull, network)
    _refused(found, "too late", StreamsFull, "203.0.113.1")
    found.leave_all()
    found.take("too late", "203.0.113.1")


def test_an_ipv6_network_has_a_share_whatever_its_parts(app: Flask) -> None:
    found = Places(app.extensions["settings"].REDIS_URL)
    most = places.WIDER * places.PER_NETWORK
    for number in range(most):
        found.take(f"account {number // 5}", network_of(f"2001:db8:1:{number // 5:x}::1"))
    _refused(found, "another", TooManyStreamsFromNetwork, network_of("2001:db8:1:ffff::1"))
    for number in range(places.PER_HOST - places.KEPT_FREE - most):
        found.take(f"other {number // 5}", network_of(f"2001:db8:2:{number // 5:x}::1"))
    for number in range(places.WIDER * places.NEWCOMERS_PER_NETWORK):
        found.take(f"newcomer {number}", network_of(f"2001:db8:3:{number:x}::1"))
    _refused(found, "one more", StreamsFull, network_of("2001:db8:3:ffff::1"))
    found.take("one more", network_of("2001:db8:4::1"))


@pytest.mark.control
def test_without_the_shares_one_network_holds_every_place(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PER_NETWORK", places.PER_HOST)
    monkeypatch.setattr(places, "KEPT_FREE", 0)
    found = Places(app.extensions["settings"].REDIS_URL)
    for number in range(places.PER_HOST):
        found.take(f"account {number // 5}", "192.0.2.1")
    _refused(found, "newcomer", StreamsFull, "198.51.100.1")


def test_places_of_the_dead_are_free(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Places(app.extensions["settings"].REDIS_URL)
    with monkeypatch.context() as killed:
        killed.setattr("os.getpid", lambda: 2**22 + 1)
        for _ in range(5):
            found.take("one", "network one")
    found.take("one", "network one")


def test_a_place_that_is_not_renewed_is_lost(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Places(app.extensions["settings"].REDIS_URL)
    for _ in range(5):
        found.take("one", "network one")
    now = places.time.time()
    monkeypatch.setattr(places.time, "time", lambda: now + places.LASTS + 1)
    found.take("one", "network one")


def test_without_redis_a_process_counts_its_own() -> None:
    found = Places("redis://127.0.0.1:1/0")
    held = [found.take("one", "network one") for _ in range(5)]
    _refused(found, "one", TooManyStreams)
    found.leave(held[0])
    found.take("one", "network one")
    found.renew()


def _refused(found: Places, account: str, kind: type[AppError], network: str = "elsewhere") -> None:
    before = len(found.taken)
    with pytest.raises(kind):
        found.take(account, network)
    assert len(found.taken) == before


def test_listeners_of_a_topic_are_asked_for_together(listener: Listener) -> None:
    topics = Topics()
    topics.ring("event", "other")
    assert topics.due() == ["event", "other"] and topics.wait() == 0
    assert topics.begin("other", [listener]) == {}
    assert topics.begin("event", [listener, listener]) == {"position": {()}}
    topics.ring("event")
    assert topics.due() == [], "not while it is being read"
    topics.end("event", heard=True)
    assert topics.due() == [] and 0 < topics.wait() < 1, "nor at once after it"
