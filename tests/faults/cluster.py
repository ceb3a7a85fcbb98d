"""Workers, relays, a Redis and an SMTP server of one test, which the test may kill."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from flask import Flask
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import select

from app.core.db import db
from app.core.outbox import Outbox
from app.core.outbox.tuning import Tuning
from app.core.outbox.wakeup import WakeupQueue
from app.embedded.binaries import find_redis
from app.embedded.os_user import Account
from tests.waiting import wait_until

FAST = Tuning(
    lease=4,
    time_limit=3,
    wakeup_interval=0.2,
    expiry_interval=0.4,
    takeover_delay=1.5,
    backoff=0.2,
    backoff_cap=1,
    max_lost=100,
)

PYTHON, NAME = sys.executable, "outbox_faults"


def find_pids() -> dict[int, int]:
    """Every process's parent."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(folder.name)] = int(parent)
    return parents


def below(pid: int) -> list[int]:
    """All living descendants of a process."""
    parents = find_pids()
    found, grown = {pid}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return sorted(found - {pid})


class Sink:
    """The SMTP server of tests.faults.sink; what it noted has gone out."""

    def __init__(self, folder: Path, hold: float) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log, self.hold = folder / "sink.log", hold
        self.log.touch()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [PYTHON, "-m", "tests.faults.sink", str(self.port), str(self.log), str(self.hold)]
        )
        wait_until(self._answers)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def noted(self) -> Counter[str]:
        return Counter(self.log.read_text().split())

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


class PrivateRedis:
    """A Redis that keeps nothing when it is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.url = folder, f"unix://{folder}/redis.sock?db=0"
        program = find_redis(Account(), spare=folder)
        assert program, "these tests need a real redis-server"
        self.argv = [
            str(program),
            "--port",
            "0",
            "--unixsocket",
            f"{folder}/redis.sock",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            str(folder),
        ]
        self.client = Redis.from_url(self.url)
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.argv, stdout=subprocess.DEVNULL)
        wait_until(self._answers)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _answers(self) -> bool:
        with suppress(RedisError):
            return bool(self.client.ping())
        return False


class Cluster:
    """`worker` and `relay` processes that come back when killed; `variables` are further settings of theirs."""

    def __init__(
        self, app: Flask, folder: Path, redis: PrivateRedis, sink: Sink, variables: Mapping[str, str] | None = None
    ) -> None:
        self.app, self.folder, self.redis, self.sink = app, folder, redis, sink
        self.variables = variables or {}
        self.pids = folder / "pids"
        self.nursery: subprocess.Popen[bytes] | None = None

    def start(self, pace: Tuning, *options: str, workers: int = 4, relays: int = 1) -> None:
        settings = self.app.extensions["settings"]
        environment = {
            **os.environ,
            "DATABASE_URL": settings.DATABASE_URL,
            "REDIS_URL": self.redis.url,
            "SECRET_KEY": settings.SECRET_KEY,
            "PAYRAIL_MODE": settings.PAYRAIL_MODE,
            "PAYRAIL_URL": settings.rail_url or "",
            "DATA_DIR": str(self.folder),
            "LOG_LEVEL": "warning",
            "PGAPPNAME": NAME,
            "SMTP_URL": f"smtp://127.0.0.1:{self.sink.port}",
            **self.variables,
        }
        self.pids.unlink(missing_ok=True)
        self.nursery = subprocess.Popen(
            [
                PYTHON,
                "-m",
                "tests.faults.process",
                str(self.pids),
                json.dumps(asdict(pace)),
                str(workers),
                str(relays),
                *options,
            ],
            env=environment,
            stderr=(self.folder / "log").open("ab"),
        )
        wait_until(lambda: len(self.running("")) == workers + relays, 90)

    def running(self, role: str) -> list[int]:
        """The living processes of that role, latest start each."""
        if not self.pids.exists():
            return []
        latest = dict(line.split() for line in self.pids.read_text().splitlines() if line.startswith(role))
        alive = find_pids()
        return [int(pid) for pid in latest.values() if int(pid) in alive]

    def horses(self) -> list[int]:
        """The processes that run jobs at this moment."""
        workers = set(self.running("worker"))
        return [pid for pid, parent in find_pids().items() if parent in workers]

    def stop(self) -> None:
        """Ends everything, orphans too: what lives on would work on the rows of the next test."""
        if self.nursery is None:
            return
        kill(self.nursery.pid, signal.SIGSTOP)
        while alive := below(self.nursery.pid):
            for pid in alive:
                kill(pid)
            time.sleep(0.02)
        self.nursery.kill()
        self.nursery.wait()
        self.nursery = None


@contextmanager
def cluster_of(app: Flask, folder: Path, *, hold: float = 0.03) -> Iterator[Cluster]:
    redis, sink = PrivateRedis(folder), Sink(folder, hold)
    cluster = Cluster(app, folder, redis, sink)
    app.extensions["wakeup_queue"] = WakeupQueue(redis.url)
    try:
        yield cluster
    finally:
        cluster.stop()
        del app.extensions["wakeup_queue"]
        sink.kill()
        redis.kill()


def kill(pid: int, number: int = signal.SIGKILL) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def settled(kinds: str = "faults.%") -> bool:
    """Whether every row of these tests, or of other kinds, has come to its end."""
    open_rows = select(Outbox.id).where(Outbox.kind.like(kinds), Outbox.state.in_(("ready", "leased")))
    with db.engine.connect() as connection:
        return connection.execute(open_rows.limit(1)).first() is None
