"""The whole service as on one machine: nginx, gunicorn, PostgreSQL, Redis, workers, a relay, a mail server, a rail."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask import Flask

from app.core.outbox.tuning import Tuning
from mock_rail import MockServer, Options
from tests.deploy.proxy import Proxy, proxy
from tests.deploy.upstreams import Web, listening
from tests.faults.cluster import Cluster, PrivateRedis, Sink, find_pids, kill
from tests.faults.service import free_port
from tests.faults.suite.servers import Database, copied
from tests.leaks.ledger import RUN
from tests.settings import app_for
from tests.waiting import wait_for_exit

KEY, SECRET = "key-of-the-fault-suite", "secret-that-rail-and-faults-share"
WEB_WORKERS, WEB_THREADS, WORKERS = 2, 8, 4
DOOR = """default_type application/octet-stream;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_set_header Host festival.example;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_pass http://event_commerce;
        }}
    }}
"""
"""The rail of these tests does not believe our certificate, so its callbacks come in without TLS."""


@dataclass
class Stack:
    """Its parts, by name; `app` is the program in this process, on the same stores, for seeding and checking."""

    folder: Path
    app: Flask
    database: Database
    redis: PrivateRedis
    sink: Sink
    rail: MockServer
    site: Proxy
    cluster: Cluster
    listener: socket.socket
    pace: Tuning
    variables: dict[str, str]
    ends: ExitStack
    """What has to be undone when the run is over."""
    web: Web = field(init=False)
    folders_of_web: list[Path] = field(default_factory=list)

    @property
    def journal_of_rail(self) -> Path:
        return self.folder / "rail.log"

    @property
    def logs(self) -> list[Path]:
        """Every file that a process of ours writes what it likes to."""
        web = [path for folder in self.folders_of_web for path in folder.glob("web-*.log")]
        found = [*web, *(self.site.folder / "log").iterdir(), self.folder / "log"]
        return [path for path in [*found, self.database.log] if path.is_file()]

    def start_web(self, folder: Path | None = None, **more: str) -> None:
        """gunicorn, which writes its log into that folder."""
        folder = folder or self.site.folder
        self.folders_of_web = [*{*self.folders_of_web, folder}]
        self.web = Web(self.app, folder, self.listener, **{**self.variables, **more})

    def web_workers(self) -> list[int]:
        return [pid for pid, parent in find_pids().items() if parent == self.web.process.pid]

    def stop_web(self) -> None:
        """As `systemctl stop` does: asked first, and killed in the end."""
        if self.web.process.poll() is not None:
            return
        self.web.process.terminate()
        try:
            wait_for_exit(self.web.process)
        except subprocess.TimeoutExpired:
            for pid in [self.web.process.pid, *self.web_workers()]:
                kill(pid)
            self.web.process.wait()


@contextmanager
def stack(folder: Path, data: Path, pace: Tuning, *, relays: int = 1, **variables: str) -> Iterator[Stack]:
    """All of it, on a copy of the migrated data; `variables` are further settings of every process."""
    RUN.add(SECRET)
    with ExitStack() as ends:
        database = copied(data, folder / "state")
        database.start()
        ends.callback(database.stop)
        redis = PrivateRedis(folder)
        ends.callback(redis.kill)
        sink = Sink(folder, 0.01)
        ends.callback(sink.kill)
        door = free_port()
        site = ends.enter_context(proxy(**QUICK, **{"default_type application/octet-stream;": DOOR.format(port=door)}))
        rail = ends.enter_context(_rail(folder, door))
        settings = _settings(site, sink, rail) | variables
        app = app_for(database_url=database.url, redis_url=redis.url, data_dir=folder / "data", **settings)
        listener = ends.enter_context(listening(site.socket))
        cluster = Cluster(app, folder, redis, sink, settings)
        found = Stack(folder, app, database, redis, sink, rail, site, cluster, listener, pace, settings, ends)
        with app.app_context():
            found.start_web()
            ends.callback(found.stop_web)
            ends.callback(cluster.stop)
            cluster.start(pace, workers=WORKERS, relays=relays)
            yield found


QUICK = {"rate=200r/s": "rate=100000r/s"}


def _rail(folder: Path, door: int) -> Any:
    address = f"http://127.0.0.1:{door}/api/payrail/callbacks"
    return MockServer(Options(key=KEY, secret=SECRET, callback_url=address, journal=folder / "rail.log")).running()


def _settings(site: Proxy, sink: Sink, rail: MockServer) -> dict[str, str]:
    return {
        "WEB_WORKERS": str(WEB_WORKERS),
        "WEB_THREADS": str(WEB_THREADS),
        "RATE_LIMIT_SCALE": "10000",
        "PAYRAIL_MODE": "live",
        "PAYRAIL_URL": rail.url,
        "PAYRAIL_KEY": KEY,
        "PAYRAIL_SECRET": SECRET,
        "SMTP_URL": f"smtp://127.0.0.1:{sink.port}",
        "STORAGE_URL": f"file://{site.storage}",
        "BOOTSTRAP_SECRET": "bootstrap-secret-of-the-tests",
    }
