"""Where benchmarks take place: servers of their own, the service and a bare application side by side."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from flask import Flask
from flask_migrate import upgrade
from sqlalchemy import text

from app import create_app
from app.config import load
from app.core.db import db
from app.embedded import servers
from benchmarks import processes, wrk
from benchmarks.outcome import Run
from benchmarks.registry import Load
from benchmarks.serving import ROOT, Server, beside, serving

BARE = Load("/")


@dataclass
class Stage:
    """What a benchmark may use. The application of this process, whose context is open, is for seeding."""

    app: Flask
    environment: dict[str, str]
    folder: Path
    service: Server
    bare: Server
    before: Server | None
    database: int
    seconds: float
    rounds: int
    clients: int
    patience: float

    def run(self, load: Load, *, on: Server | None = None, clients: int | None = None) -> Run:
        """One round of a load, with the CPU that a request cost the server and PostgreSQL."""
        server = on or self.service
        clock, before, workers = time.monotonic(), self._cpu(server), server.work_done()
        found, requests = self.blow(load, on=server, clients=clients).finish()
        capacity = (time.monotonic() - clock) * (os.cpu_count() or 1)
        mine, database, own, machine = (after - start for start, after in zip(before, self._cpu(server), strict=True))
        done = [seconds - workers.get(worker, 0) for worker, seconds in server.work_done().items()]
        return replace(
            found,
            server_cpu=1000 * mine / requests,
            database_cpu=1000 * database / requests,
            others=max(0.0, (machine - mine - database - own) / capacity),
            busiest=max(done) / (sum(done) or 1),
        )

    def blow(self, load: Load, *, on: Server | None = None, clients: int | None = None, longer: float = 0) -> wrk.Blow:
        """A load that goes on while something else is measured."""
        server = on or self.service
        return wrk.blow(load, server.address, seconds=self.seconds + longer, clients=clients or self.clients)

    def wait_for_quiet(self, share: float) -> None:
        """Waits until others leave all but `share` of the machine alone, as long as there is patience left."""
        while self.patience > 0 and processes.busy_share(for_seconds=0.5) > share:
            self.patience -= 0.5

    @contextmanager
    def another(self, **environment: str) -> Iterator[Server]:
        """The service again, with other settings."""
        log = self.folder / "another.log"
        with serving("wsgi:app", {**self.environment, **environment}, log=log, probe="/health") as server:
            yield server

    def _cpu(self, server: Server) -> tuple[float, float, float, float]:
        used = processes.cpu_seconds
        return used(server.process), used(self.database), processes.own_seconds(), processes.machine_seconds()


@contextmanager
def stage(
    *,
    seconds: float,
    rounds: int,
    clients: int,
    patience: float = 0,
    before: Path | None = None,
    neighbour: bool = False,
) -> Iterator[Stage]:
    """An empty, migrated database that survives crashes, Redis, the service and the bare application.

    `before` is a checkout of another version with the same schema, which is served too. With `neighbour` another
    program keeps one core and the caches busy.
    """
    with _scratch() as folder, servers(folder / "stores") as stores, ExitStack() as stack:
        environment = {
            "APP_ENV": "development",
            "LOG_LEVEL": "warning",
            "RATE_LIMIT_SCALE": "100000",
            "DATABASE_URL": stores.database_url,
            "REDIS_URL": stores.redis_url,
            "DATA_DIR": str(folder / "data"),
        }
        app = create_app(load(environment))
        with app.app_context():
            upgrade(directory=str(ROOT / "migrations"))
            database = processes.parent(db.session.scalar(text("SELECT pg_backend_pid()")))
            db.session.remove()
            with (
                serving("wsgi:app", environment, log=folder / "service.log", probe="/health") as service,
                serving("benchmarks.bare:app", environment, log=folder / "bare.log", probe="/") as bare,
            ):
                other = None
                if before:
                    log = folder / "before.log"
                    other = stack.enter_context(
                        serving("wsgi:app", environment, log=log, probe="/health", checkout=before)
                    )
                if neighbour:
                    stack.enter_context(beside(["-m", "benchmarks.neighbour"], {}, log=folder / "neighbour.log"))
                yield Stage(
                    app, environment, folder, service, bare, other, database, seconds, rounds, clients, patience
                )
            db.engine.dispose()


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that the account of the embedded servers may enter, unlike those of `tempfile`."""
    folder = Path(os.environ.get("DATA_DIR") or ROOT / "var") / "benchmarks" / str(os.getpid())
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def machine() -> str:
    """The machine and the versions that the figures belong to."""
    from importlib.metadata import version
    from platform import python_version

    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        "unknown processor",
    )
    postgres = db.session.scalar(text("SHOW server_version"))
    parts = [f"{name} {version(name)}" for name in ("gunicorn", "flask", "sqlalchemy", "psycopg")]
    return f"{os.cpu_count()} cores ({model}), PostgreSQL {postgres}, Python {python_version()}, {', '.join(parts)}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
