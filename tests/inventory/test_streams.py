"""Streams from gunicorn, over sockets: what they cost, and how each of them ends."""

import os
import signal
import time
from collections.abc import Iterator

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, text

from app.core.db import db
from app.core.transaction import transaction
from tests.factories.accounts import create_account, sign_in
from tests.factories.inventory import Stock, build_csv
from tests.faults.service import call, kept_open
from tests.http import Client, data
from tests.streams import CONNECTION_ERRORS, STREAMS_UNIT, ReconnectingClient, StreamClient, Web, run_web
from tests.timing import assert_in_time
from tests.waiting import wait_for_exit, wait_until

TURNS = 16
"""Imports of 400 kB: more than the kernel keeps for a client (`net.ipv4.tcp_wmem`: 4 MB)."""
EARS = "FROM pg_stat_activity WHERE application_name = 'streams' AND datname = current_database()"


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


@pytest.fixture(scope="module")
def service(application: Flask) -> Iterator[Web]:
    with kept_open() as folder, run_web(application, folder, *STREAMS_UNIT) as found:
        yield found


@pytest.fixture(autouse=True)
def _left(service: Web) -> Iterator[None]:
    yield
    service.leave()


def listen(service: Web, stock: Stock, **options: object) -> StreamClient:
    found = service.listen(f"{stock.path}/stream", stock.owner.headers, **options)  # type: ignore[arg-type]
    assert found.status == 200
    return found


def connections(app: Flask) -> tuple[int, int]:
    """How many connections the streams have, and how many all processes of the web."""
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql", database="postgres")
    asked = (
        "SELECT count(*) FILTER (WHERE application_name = 'streams'), count(*) FROM pg_stat_activity WHERE datname = %s"
    )
    with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
        name = make_url(app.extensions["settings"].DATABASE_URL).database
        streams, every = connection.execute(asked, [name]).fetchone() or (0, 0)
        return streams, every


def test_a_change_is_told_as_it_commits(service: Web, stock: Stock) -> None:
    item = stock.item()
    listening = listen(service, stock)
    position = listening.snapshot()
    began = time.monotonic()
    data(stock.adjust(item, -1))
    found = listening.next(5)
    assert_in_time(time.monotonic() - began < 2)
    assert found is not None and found.name == "changes" and found.id != position
    assert found.data["items"] == [stock.read(item)]


def test_streams_hold_no_database_connection_but_one(app: Flask, stock: Stock) -> None:
    with kept_open() as folder, run_web(app, folder, *STREAMS_UNIT, DATABASE_POOL="2") as service:
        open_ones = [listen(service, stock) for _ in range(5)]
        for open_one in open_ones:
            open_one.snapshot()
        assert all(call(f"http://127.0.0.1:{service.port}/ready", timeout=2)[0] == 200 for _ in range(10))
        wait_until(lambda: connections(app)[0] == 1)
        for open_one in open_ones:
            open_one.close()
        wait_until(lambda: connections(app)[0] == 0)


def test_a_third_of_the_threads_may_hold_streams(app: Flask, stock: Stock, client: Client) -> None:
    token = sign_in(client, create_account("admin", email="admin@example.com").email)["accessToken"]
    with kept_open() as folder, run_web(app, folder, WEB_WORKERS="1", WEB_THREADS="6") as service:
        admin = service.listen(f"{stock.path}/stream", {"Authorization": f"Bearer {token}"})
        item, followers = stock.item(), [admin, listen(service, stock)]
        for follower in followers:
            follower.snapshot()
        refused = service.listen(f"{stock.path}/stream", stock.owner.headers)
        assert (refused.status, refused.answer.headers["Retry-After"]) == (503, "10")
        assert b"STREAMS_FULL" in refused.answer.read()
        assert all(call(f"http://127.0.0.1:{service.port}/ready", timeout=2)[0] == 200 for _ in range(10))
        data(stock.adjust(item, -1))
        assert all(follower.next(5) for follower in followers)
        followers.pop().close()
        wait_until(lambda: service.listen(f"{stock.path}/stream", stock.owner.headers).status == 200)


def test_the_sixth_stream_of_an_account_is_refused(service: Web, stock: Stock) -> None:
    path = f"{stock.path}/stream"
    five = [listen(service, stock) for _ in range(5)]
    for _ in range(4):
        sixth = service.listen(path, stock.owner.headers)
        assert (sixth.status, sixth.answer.headers["Retry-After"]) == (429, "5"), "whichever worker it comes to"
    five.pop().close()
    wait_until(lambda: service.listen(path, stock.owner.headers).status == 200)


def test_the_places_of_a_killed_worker_are_free_at_once(service: Web, stock: Stock) -> None:
    five = [listen(service, stock) for _ in range(5)]
    for pid in service.workers:
        os.kill(pid, signal.SIGKILL)
    for item in five:
        with pytest.raises((*CONNECTION_ERRORS, AssertionError)):
            while True:
                assert item.next(10)
    wait_until(lambda: call(f"http://127.0.0.1:{service.port}/health")[0] == 200)
    assert listen(service, stock).snapshot()


def test_it_ends_when_the_session_does_and_sends_heartbeats(service: Web, stock: Stock, client: Client) -> None:
    admins = [create_account("admin", email=f"{name}@example.com") for name in ("gone", "stays", "demoted")]
    tokens = [sign_in(client, admin.email) for admin in admins]
    gone, stays, demoted = (
        service.listen(f"{stock.path}/stream", {"Authorization": f"Bearer {token['accessToken']}"}) for token in tokens
    )
    for item in (gone, stays, demoted):
        position = item.snapshot()
    began = time.monotonic()
    assert client.post("/api/auth/logout", {"refreshToken": tokens[0]["refreshToken"]}).status_code == 200
    with transaction() as session:
        session.execute(text("UPDATE account SET admin_tier = 'analyst' WHERE email = 'demoted@example.com'"))
    assert gone.next(15) is None and demoted.next(15) is None, "ended, and ended well"
    assert_in_time(time.monotonic() - began < 15)
    stays.socket.settimeout(5)
    wait_until(lambda: _last_heartbeat(stays) > position.partition("-")[0])


@pytest.mark.parametrize("arguments", [(), STREAMS_UNIT], ids=["threads", "greenlets"])
def test_it_ends_at_once_when_the_service_is_asked_to_stop(
    app: Flask, stock: Stock, arguments: tuple[str, ...]
) -> None:
    with kept_open() as folder, run_web(app, folder, *arguments, WEB_THREADS="15") as service:
        open_ones = [listen(service, stock) for _ in range(4)]
        for open_one in open_ones:
            open_one.snapshot()
        began = time.monotonic()
        service.process.send_signal(signal.SIGTERM)
        assert [open_one.next(5) for open_one in open_ones] == [None] * 4, "each answer ends as it should"
        assert_in_time(time.monotonic() - began < 2)
        wait_for_exit(service.process)


def test_a_worker_that_is_replaced_loses_nothing(app: Flask, stock: Stock) -> None:
    item = stock.item(onHand=1000)
    limits = ("--max-requests", "15", "--max-requests-jitter", "0")
    with kept_open() as folder, run_web(app, folder, *STREAMS_UNIT, *limits) as service:
        follower = ReconnectingClient(service, f"{stock.path}/stream", stock.owner.headers)
        follower.start()
        wait_until(lambda: follower.position is not None)
        for _ in range(20):
            data(stock.adjust(item, -1))
            for _ in range(4):
                call(f"http://127.0.0.1:{service.port}/health", timeout=3)
        wait_until(lambda: len(follower.seen) >= 20)
        follower.over.set()
        follower.cut()
        follower.join(90)
    assert follower.names.count("snapshot") == 1 and follower.begun > 1
    assert [item["movement"]["onHandAfter"] for item in follower.seen] == list(range(999, 979, -1))


def test_a_lost_listener_is_replaced(service: Web, stock: Stock) -> None:
    item = stock.item()
    listening = listen(service, stock)
    listening.snapshot()
    wait_until(lambda: _ears() == 1)
    with db.engine.connect() as connection:
        connection.execute(text(f"SELECT pg_terminate_backend(pid) {EARS}"))
    data(stock.adjust(item, -1))
    assert listening.next(5)


def test_who_reads_too_slowly_is_cut_and_harms_nobody(service: Web, stock: Stock) -> None:
    slow, quick = (service.listen(f"{stock.path}/stream", stock.owner.headers, window=4096) for _ in range(2))
    for item in (slow, quick):
        item.snapshot()
    wide = "ø" * 600
    for turn in range(TURNS):
        lines = [f"S-{n:03},Item {turn},1,1,1,{turn + 1},0,0,{wide}" for n in range(300)]
        data(stock.sheet(build_csv(*lines).replace("damaged\n", "damaged,notes\n", 1)))
        began = time.monotonic()
        found = quick.next(5)
        while found and found.data["items"][-1]["name"] != f"Item {turn}":
            found = quick.next(5)
        assert found
        assert_in_time(time.monotonic() - began < 3)
    told = 0
    while slow.next(5):
        told += 1
    assert told < TURNS, "it ended before all was told; the rest follows when it reconnects"
    quick.close()


def test_a_client_of_http_1_0_and_one_that_only_asks_for_the_head(service: Web, stock: Stock) -> None:
    item = stock.item()
    old = listen(service, stock, protocol="HTTP/1.0")
    assert "Transfer-Encoding" not in old.answer.headers
    old.snapshot()
    data(stock.adjust(item, -1))
    assert old.next(5)
    head = StreamClient(service.port, f"{stock.path}/stream", stock.owner.headers, method="HEAD")
    assert head.status == 200 and head.answer.read() == b""


def _last_heartbeat(stream: StreamClient) -> str:
    """The seconds in the position of the next heartbeat."""
    comment = stream.socket.recv(4096)
    return comment.rpartition(b": here\nid: ")[2].partition(b"-")[0].decode()


def _ears() -> int:
    with db.engine.connect() as connection:
        return int(connection.scalar(text(f"SELECT count(*) {EARS}")) or 0)
