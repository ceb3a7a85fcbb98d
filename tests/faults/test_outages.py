"""Outages of Redis and restarts of PostgreSQL lose nothing that was acknowledged."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from app.embedded import servers
from tests.faults.cluster import below
from tests.faults.service import ROOT, WEB, call, everything, free_port, started, until_ready
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

PASSWORD = "a quiet evening at Sossusvlei"


def register(base: str, email: str) -> int:
    body = {"email": email, "password": PASSWORD, "firstName": "F", "lastName": "A"}
    return call(f"{base}/api/auth/register/customer", body)[0]


def test_without_redis_a_code_arrives_within_thirty_seconds(open_folder: Path) -> None:
    with everything(open_folder) as service:
        kill_below(service.pid, b"redis-server", signal.SIGKILL)
        assert register(service.base, "ndapewa@example.com") == 201
        wait_until(lambda: bool(call(f"{service.base}/dev/mail.json?to=ndapewa@example.com")[1]))
        # The report may be a second old, and the code may have been quicker.
        wait_until(lambda: ready(service.base) == (200, "down"))


def ready(base: str) -> tuple[int, str]:
    """What /ready answers, and what it says of Redis."""
    status, report = call(f"{base}/ready")
    return status, report["data"]["redis"]


def kill_below(parent: int, program: bytes, number: int) -> None:
    """Sends a signal to every descendant that runs `program`."""
    for pid in below(parent):
        with suppress(OSError):
            if program in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, number)


class Stores:
    """PostgreSQL and Redis beside a process that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "stores"
        self.start()

    def start(self) -> None:
        argv = [sys.executable, "-m", "app.embedded", "--state", str(self.state), "--", "sleep", "600"]
        self.process = subprocess.Popen(argv, cwd=ROOT, start_new_session=True)

    def crash(self) -> None:
        """PostgreSQL stops at once, with nothing written out; then everything of this process goes."""
        kill_below(self.process.pid, b"postgres\0-D", signal.SIGQUIT)
        self.stop()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def stores(open_folder: Path) -> Iterator[Stores]:
    made = Stores(open_folder)
    yield made
    made.stop()


def test_restart_of_postgresql_under_load_loses_nothing(open_folder: Path, stores: Stores) -> None:
    with servers(stores.state) as found:
        urls = {"DATABASE_URL": found.database_url, "REDIS_URL": found.redis_url}
    port, log = free_port(), open_folder / "log"
    variables = {
        **urls,
        "PORT": str(port),
        "DATA_DIR": str(open_folder),
        "RATE_LIMIT_SCALE": "1000",
        "LOG_LEVEL": "error",
    }
    upgrade = [sys.executable, "-m", "flask", "--app", "wsgi", "db", "upgrade"]
    subprocess.run(upgrade, cwd=ROOT, env={**os.environ, **variables}, check=True, capture_output=True)
    base = f"http://127.0.0.1:{port}"
    with started(WEB, log, variables) as process:
        until_ready(base, process, log)
        with _load(base) as acknowledged:
            _outage(base, stores, urls["DATABASE_URL"], acknowledged)
        kept = _addresses(urls["DATABASE_URL"])
    assert len(acknowledged) > 20 and set(acknowledged) <= kept, set(acknowledged) - kept


def _outage(base: str, stores: Stores, url: str, acknowledged: list[str]) -> None:
    wait_until(lambda: len(acknowledged) > 10)
    stores.crash()
    wait_until(lambda: call(f"{base}/ready")[0] == 503)
    assert call(f"{base}/health")[0] == 200
    stores.start()
    _until_accepting(url)
    wait_until(lambda: call(f"{base}/ready")[0] == 200)
    before = len(acknowledged)
    wait_until(lambda: len(acknowledged) > before + 10)


@contextmanager
def _load(base: str) -> Iterator[list[str]]:
    """Registrations by six clients at a time, and those that were acknowledged."""
    acknowledged: list[str] = []
    ended = threading.Event()

    def go(number: int) -> None:
        for turn in count():
            if ended.is_set():
                return
            email = f"load{number}-{turn}@example.com"
            if register(base, email) == 201:
                acknowledged.append(email)
            else:
                ended.wait(0.05)

    threads = [threading.Thread(target=go, args=(number,), daemon=True) for number in range(6)]
    for thread in threads:
        thread.start()
    try:
        yield acknowledged
    finally:
        ended.set()
        for thread in threads:
            thread.join(90)


def _plain(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def _until_accepting(url: str) -> None:
    def accepts() -> bool:
        try:
            psycopg.connect(_plain(url), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    wait_until(accepts)


def _addresses(url: str) -> set[str]:
    with psycopg.connect(_plain(url)) as connection:
        return {row[0] for row in connection.execute("SELECT email FROM account")}
