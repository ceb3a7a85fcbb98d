"""PostgreSQL as in production (fsync on), in a folder of its own, to be crashed and started again."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from flask_migrate import upgrade

from app.core.db import db
from app.embedded import SPARE, postgres, state_dir, subprocesses
from app.embedded.os_user import Account
from tests.faults.service import ROOT
from tests.settings import app_for
from tests.waiting import wait_for_exit

NOWHERE_REDIS = "redis://127.0.0.1:1/0"


class Database:
    """One server; start it in a thread that lives on, for it ends with that thread."""

    def __init__(self, state: Path) -> None:
        self.state = state_dir.ensure_folder(state)
        self.account = Account.for_state(state)
        self.place = state_dir.prepare(state, account=self.account, spare=SPARE)
        self._keep = os.open(os.devnull, os.O_RDONLY)
        self.child: subprocesses.Child | None = None

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@/app?host={quote(str(self.place.run))}"

    @property
    def plain_url(self) -> str:
        return self.url.replace("+psycopg", "")

    def start(self) -> None:
        """Returns once it answers; the recovery after a crash is in it."""
        self.begin()
        assert self.child is not None
        postgres.wait(self.child, self.place.run, database="app")

    def begin(self) -> None:
        """Starts it and does not wait."""
        self.child = postgres.start(self.place, account=self.account, spare=SPARE, durable=True, keep=self._keep)

    def crash(self) -> None:
        """It stops at once, with nothing written out that was not written before."""
        assert self.child is not None
        self.child.process.send_signal(signal.SIGQUIT)
        wait_for_exit(self.child.process)

    def stop(self) -> None:
        if self.child is not None:
            subprocesses.stop([self.child])
            self.child = None

    @property
    def log(self) -> Path:
        return self.state / "log" / "postgres.log"

    def running(self) -> bool:
        return self.child is not None and self.child.process.poll() is None

    def accepts(self) -> bool:
        return postgres.reach(self.place.run, database="app")


@contextmanager
def template(folder: Path) -> Iterator[Path]:
    """The data of a server with all migrations, made once for many runs."""
    made = Database(folder / "template")
    made.start()
    try:
        app = app_for(database_url=made.url, redis_url=NOWHERE_REDIS)
        with app.app_context():
            upgrade(directory=str(ROOT / "migrations"))
            db.engine.dispose()
    finally:
        made.stop()
    try:
        yield made.place.data / "postgres"
    finally:
        shutil.rmtree(made.place.data, ignore_errors=True)


def copied(source: Path, state: Path) -> Database:
    """A server on a copy of that data, not started."""
    found = Database(state)
    target = found.place.data / "postgres"
    target.rmdir()
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
    return found
