"""From a cold start to the end: what is made, what is kept, what is left behind."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.embedded import EmbeddedError, postgres, servers
from tests.embedded.running import Holder, client, processes, query
from tests.waiting import wait_until

Hold = Callable[..., Holder]


def test_the_second_start_finds_the_data_of_the_first(home: Path) -> None:
    started = time.monotonic()
    with servers(home / "state") as running:
        cold = time.monotonic() - started
        assert running.owner
        assert running.database_url == f"postgresql+psycopg://postgres@/app?host={home}/state/run"
        assert running.redis_url == f"unix://{home}/state/run/redis.sock?db=0"
        assert len(processes(home)) >= 2
        folded = query(running.database_url, "SELECT lower('ÉÄ'), 'a' < 'B', 'é' ILIKE 'É'")
        assert folded == [("éä", False, True)]
        query(running.database_url, "CREATE TABLE kept AS SELECT 1 AS number")
        client(running.redis_url).set("kept", "yes")
    assert not processes(home)

    started = time.monotonic()
    with servers(home / "state") as running:
        warm = time.monotonic() - started
        assert query(running.database_url, "SELECT number FROM kept") == [(1,)]
        assert client(running.redis_url).get("kept") == b"yes"
    assert cold < 15 and warm < 10


@pytest.mark.parametrize("durable", [True, False])
def test_only_throwaway_servers_switch_fsync_off(warm: Path, durable: bool) -> None:
    with servers(warm / "state", durable=durable) as running:
        for name in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
            assert query(running.database_url, f"SHOW {name}") == [("on" if durable else "off",)]
        assert query(running.database_url, "SHOW timezone") == [("UTC",)]
        assert query(running.database_url, "SHOW listen_addresses") == [("",)]
        assert query(running.database_url, "SHOW max_connections") == [("100" if durable else "400",)]
        settings = client(running.redis_url).config_get("*")
        assert settings["port"] == "0"
        assert settings["appendonly"] == ("yes" if durable else "no")
        assert settings["save"] == "", "a Redis that cannot save would refuse to end"
        assert settings["appendfsync"] == "everysec"
        assert settings["maxmemory-policy"] == "noeviction"


def test_data_survives_when_both_servers_are_killed(warm: Path, hold: Hold) -> None:
    owner = hold("durable")
    running = owner.wait()
    query(running["database_url"], "CREATE TABLE survivor AS SELECT 1 AS number")
    client(running["redis_url"]).set("survivor", "yes")
    for pid in processes(warm):
        os.kill(pid, signal.SIGKILL)
    owner.kill()

    with servers(warm / "state") as again:
        assert query(again.database_url, "SELECT number FROM survivor") == [(1,)]
        assert client(again.redis_url).get("survivor") == b"yes"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of their parent's death")
def test_the_servers_die_with_a_killed_owner(warm: Path, hold: Hold) -> None:
    owner = hold()
    owner.wait()
    assert processes(warm)
    owner.kill()
    wait_until(lambda: not processes(warm))


def test_a_successor_ends_what_a_killed_owner_left_where_the_system_does_not(warm: Path, hold: Hold) -> None:
    owner = hold("undying")
    owner.wait()
    left = processes(warm)
    owner.kill()
    time.sleep(0.3)
    try:
        assert set(left) <= set(processes(warm))  # Without the kernel's help they live on.
        with servers(warm / "state", durable=False) as running:
            assert running.owner
            assert not set(left) & set(processes(warm))
    finally:
        for pid in processes(warm):
            os.kill(pid, signal.SIGKILL)


def test_a_new_owner_starts_immediately_after_a_killed_one(warm: Path, hold: Hold) -> None:
    for _ in range(2):
        owner = hold()
        assert owner.wait()["owner"]
        owner.kill()
    with servers(warm / "state", durable=False) as running:
        assert query(running.database_url, "SELECT 1") == [(1,)]


def test_leftovers_of_a_killed_server_do_not_block_the_start(warm: Path) -> None:
    stranger = str(os.getpid())  # A pid of the past that belongs to another program by now.
    run = warm / "state" / "run"
    (warm / "state" / "lock").write_text('{"run": "/nowhere"}')
    (warm / "state" / "pids").write_text(f"[[{stranger}, 9]]")
    (warm / "state" / "postgres" / "postmaster.pid").write_text(f"{stranger}\n{warm}/state/postgres\n")
    (run / ".s.PGSQL.5432.lock").write_text(f"{stranger}\n")
    for name in (".s.PGSQL.5432", "redis.sock"):
        with socket.socket(socket.AF_UNIX) as deserted:
            deserted.bind(str(run / name))

    with servers(warm / "state", durable=False) as running:
        assert query(running.database_url, "SELECT 1") == [(1,)]
        assert client(running.redis_url).ping()


def test_an_incomplete_cluster_is_created_again(home: Path) -> None:
    half = home / "state" / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with servers(home / "state", durable=False) as running:
        assert query(running.database_url, "SELECT 1") == [(1,)]
    assert not half.exists()


def test_a_start_that_fails_says_why_and_leaves_nothing_running(home: Path) -> None:
    (home / "state" / "postgres").mkdir(parents=True)
    (home / "state" / "postgres" / "PG_VERSION").write_text("18\n")
    with (
        pytest.raises(EmbeddedError, match="PostgreSQL ended with code (?s:.*)postgresql.conf"),
        servers(home / "state", durable=False),
    ):
        pass
    assert not processes(home)


def test_two_processes_share_one_pair_and_the_owner_ends_it(warm: Path, hold: Hold) -> None:
    holders = [hold(), hold()]
    found = [holder.wait() for holder in holders]
    assert sorted(item["owner"] for item in found) == [False, True]
    assert len({item["database_url"] for item in found}) == 1

    owner, user = sorted(holders, key=lambda holder: not found[holders.index(holder)]["owner"])
    with servers(warm / "state", database="mine") as running:
        assert not running.owner
        assert query(running.database_url, "SELECT current_database()") == [("mine",)]
    user.leave()
    assert postgres.reach(warm / "state" / "run", database="app")
    owner.leave()
    assert not processes(warm)


def test_a_fork_of_the_owner_neither_stops_the_servers_nor_keeps_the_lock(warm: Path) -> None:
    with servers(warm / "state", durable=False) as running:
        child = os.fork()
        if child == 0:
            _leave_and_linger()
        time.sleep(0.1)
        assert query(running.database_url, "SELECT 1") == [(1,)]
    try:
        with servers(warm / "state", durable=False) as running:
            assert running.owner
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _leave_and_linger() -> None:
    try:
        time.sleep(60)
    finally:
        os._exit(0)
