"""PostgreSQL servers of a test's own, each on a port of loopback, that may be killed, promoted and made anew."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from app.core.connections import connect_arguments
from app.embedded import SPARE, subprocesses
from app.embedded.binaries import find_postgres
from app.embedded.os_user import Account
from app.embedded.state_dir import private
from tests import stores
from tests.faults.cluster import below, kill
from tests.faults.service import free_port
from tests.topology.certificates import Authority
from tests.waiting import MAX_SECONDS, wait_until

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "60",
    "jit": "off",
    "autovacuum": "off",
    "wal_level": "replica",
    "max_wal_senders": "6",
    "hot_standby": "on",
    # A machine that loses its power is no part of these tests; whether a commit waits for the replica is.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "on",
}


def with_tls() -> Path:
    """Debian's PostgreSQL; the bundled one was built without it."""
    return max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))


class Server:
    """One server; `make` it or let it `follow` another, then `start` it."""

    def __init__(self, folder: Path, name: str, tls: Authority | None = None) -> None:
        self.folder, self.name, self.port, self.tls = folder, name, free_port(), tls
        self.account = Account.for_state(folder)
        self.bin = with_tls() if tls else find_postgres(self.account, spare=SPARE, data_major=None).bin
        self.data = private(folder / name, self.account)
        self.child: subprocesses.Child | None = None

    @property
    def url(self) -> str:
        checked = f"?sslmode=verify-full&sslrootcert={self.tls.file}" if self.tls else ""
        return f"postgresql://postgres@127.0.0.1:{self.port}/app{checked}"

    @property
    def settings(self) -> dict[str, str]:
        if not self.tls:
            return SETTINGS
        cert, key = self.tls.signed(self.name)
        if self.account.uid is not None:
            shutil.chown(key, self.account.uid)
        return SETTINGS | {"ssl": "on", "ssl_cert_file": str(cert), "ssl_key_file": str(key)}

    def make(self, *, filled: bool = True) -> "Server":
        self._program(
            "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8"
        )
        self.start()
        self.ask("CREATE DATABASE app", database="postgres")
        if not filled:
            return self
        subprocess.run(
            [self.bin / "psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", self.url],
            input=schema(self.bin),
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return self

    def follow(self, primary: "Server") -> "Server":
        source = f"host=127.0.0.1 port={primary.port} user=postgres application_name={self.name}"
        source += f" sslmode=verify-full sslrootcert={self.tls.file}" if self.tls else ""
        self._program("pg_basebackup", "-d", source, "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        self.start()
        return self

    def start(self) -> None:
        flags = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        with Path(os.devnull).open() as keep:
            self.child = subprocesses.spawn(
                self.name,
                [self.bin / "postgres", "-D", self.data, "-p", str(self.port), *flags],
                account=self.account,
                stop_signal=signal.SIGQUIT,
                log=self.folder / f"{self.name}.log",
                keep=keep.fileno(),
            )
        wait_until(self._answers)

    def kill(self) -> None:
        """As when its machine is gone: nothing of it says or does anything more."""
        if self.child is None:
            return
        kill(self.child.process.pid, signal.SIGSTOP)
        for pid in below(self.child.process.pid):
            kill(pid)
        self.child.process.kill()
        self.child.process.wait()
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.child = None

    def hang(self) -> None:
        """As when its machine stands still: connections stay open, and nobody answers."""
        assert self.child is not None
        for pid in (self.child.process.pid, *below(self.child.process.pid)):
            kill(pid, signal.SIGSTOP)

    def ask(self, statement: str, *values: Any, database: str = "app") -> list[tuple[Any, ...]]:
        words = connect_arguments(self.url) | {"dbname": database}
        with psycopg.connect(**words, connect_timeout=3, autocommit=True) as connection:
            cursor = connection.execute(statement, values or None)  # type: ignore[call-overload]
            return list(cursor.fetchall()) if cursor.description else []

    def promote(self) -> None:
        self.ask("SELECT pg_promote(wait => false)")
        wait_until(lambda: not self.ask("SELECT pg_is_in_recovery()")[0][0])

    def wait_for_its_commits(self, replica: str) -> None:
        """From now on a commit is acknowledged once that replica has it too."""
        self.ask(f"ALTER SYSTEM SET synchronous_standby_names = '{replica}'")
        self.ask("SELECT pg_reload_conf()")
        wait_until(lambda: self.ask("SELECT sync_state FROM pg_stat_replication") == [("sync",)])

    def hear_no_more(self) -> None:
        """A replica that is cut off from its primary, and goes on answering."""
        self.ask("ALTER SYSTEM SET primary_conninfo = ''")
        self.ask("SELECT pg_reload_conf()")
        wait_until(lambda: self.ask("SELECT count(*) FROM pg_stat_wal_receiver")[0][0] == 0)

    def stand_still(self, *, still: bool = True) -> None:
        """A replica that replays nothing, until it is told to go on."""
        self.ask(f"SELECT pg_wal_replay_{'pause' if still else 'resume'}()")
        wanted = "paused" if still else "not paused"
        wait_until(lambda: self.ask("SELECT pg_get_wal_replay_pause_state()") == [(wanted,)])

    @contextmanager
    def late_by(self, seconds: float) -> Iterator[None]:
        """A replica that shows every commit so much later."""
        self._delay(f"{int(seconds * 1000)}ms")
        try:
            yield
        finally:
            self._delay("0")

    def _delay(self, how_long: str) -> None:
        self.ask(f"ALTER SYSTEM SET recovery_min_apply_delay = '{how_long}'")
        self.ask("SELECT pg_reload_conf()")

    def catch_up(self, primary: "Server") -> None:
        written = primary.ask("SELECT pg_current_wal_flush_lsn()::text")[0][0]
        wait_until(lambda: bool(self.ask("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", written)[0][0]))

    def _answers(self) -> bool:
        assert self.child is not None
        self.child.check()
        try:
            self.ask("SELECT 1", database="postgres")
        except psycopg.OperationalError:
            return False
        return True

    def _program(self, name: str, *argv: object) -> None:
        done = self.account.runs([self.bin / name, *map(str, argv)])
        assert done is not None, f"{name} failed"


@cache
def schema(programs: Path) -> bytes:
    """What the migrations make, as they have made it for this run already."""
    template = stores.set_database(os.environ[stores.DATABASE], os.environ[stores.TEMPLATE])
    words = connect_arguments(template)
    known = {"host": "-h", "port": "-p", "user": "-U"}
    where = [part for name, flag in known.items() if words.get(name) for part in (flag, str(words[name]))]
    environment = {**os.environ, **({"PGPASSWORD": words["password"]} if words.get("password") else {})}
    dump = [programs / "pg_dump", "--no-owner", *where, words["dbname"]]
    return subprocess.run(dump, check=True, capture_output=True, env=environment).stdout


@contextmanager
def pair(folder: Path) -> Iterator[tuple[Server, Server]]:
    """A primary and the replica that follows it."""
    primary, replica = Server(folder, "primary"), Server(folder, "replica")
    try:
        yield primary.make(), replica.follow(primary)
    finally:
        primary.kill()
        replica.kill()


def eventually(true: Any, seconds: float = MAX_SECONDS) -> None:
    """The same as `wait_until`, but for what may fail meanwhile."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if true():
                return
        except psycopg.Error:
            pass
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.02)
