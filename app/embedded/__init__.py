"""PostgreSQL and Redis from Python packages, for development and tests; production names real servers in its settings.

It imports neither Flask nor the rest of the program.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from app.embedded import lock, postgres, redis, state_dir, subprocesses
from app.embedded.errors import EmbeddedError
from app.embedded.os_user import Account

__all__ = ["EmbeddedError", "Servers", "servers"]

SPARE = Path("/var/lib/event-commerce")
PATIENCE = 90.0


@dataclass(frozen=True)
class Servers:
    """The URLs of the running servers; `owner` is true in the process that started them and will stop them."""

    database_url: str
    redis_url: str
    owner: bool


@contextmanager
def servers(
    state: Path,
    *,
    durable: bool = True,
    database: str = "app",
    spare: Path = SPARE,
) -> Iterator[Servers]:
    """Run servers with their files in `state`, and create the database `database` if it is missing.

    The first process starts them and stops them at the end of its block; other processes share them until then.
    `durable=False` is for tests: faster, but a crash of the machine may damage the data. `spare` is a folder for files
    that the servers' OS user could not read in `state` when root starts them. Enter and leave the block in one thread:
    on Linux the servers end with the thread that started them. Raises EmbeddedError, which says what to do.
    """
    state = state.absolute()
    state_dir.ensure_folder(state)
    lock_or_sockets = _lock_or_connect(state, database)
    if isinstance(lock_or_sockets, Path):
        yield _build_urls(lock_or_sockets, database, owner=False)
        return
    with _run_servers(state, lock_or_sockets, durable=durable, database=database, spare=spare) as run:
        yield _build_urls(run, database, owner=True)


def _lock_or_connect(state: Path, database: str) -> int | Path:
    """Return the lock of a new owner, or the socket folder of the servers of another process."""
    deadline = time.monotonic() + PATIENCE
    while (descriptor := lock.take(state / "lock")) is None:
        run = lock.announced(state / "lock")
        if run and redis.reach(run) and postgres.reach(run, database=database):
            return run
        if time.monotonic() > deadline:
            raise EmbeddedError(f"Another process holds {state / 'lock'}, but its servers do not answer.")
        time.sleep(0.05)
    return descriptor


@contextmanager
def _run_servers(state: Path, lock_descriptor: int, *, durable: bool, database: str, spare: Path) -> Iterator[Path]:
    owner = os.getpid()
    children: list[subprocesses.Child] = []
    folders: state_dir.Folders | None = None
    try:
        account = Account.for_state(state)
        folders = state_dir.prepare(state, account=account, spare=spare)
        keep = lock.successor(state, mentioning=[folders.data, folders.run])
        try:
            for server in (redis, postgres):
                children.append(server.start(folders, account=account, spare=spare, durable=durable, keep=keep))
                subprocesses.record(children, state / "pids")
        finally:
            os.close(keep)
        redis.wait(children[0], folders.run)
        postgres.wait(children[1], folders.run, database=database)
        lock.announce(lock_descriptor, folders.run)
        yield folders.run
    finally:
        if os.getpid() == owner:  # A fork that leaves the block must not end its parent's servers.
            subprocesses.stop(children)
            if children:
                (state / "pids").unlink(missing_ok=True)
            if folders:
                state_dir.tidy(folders)
            lock.release(lock_descriptor)


def _build_urls(run: Path, database: str, *, owner: bool) -> Servers:
    folder = quote(str(run))
    # libpq would take the port from the caller's PGPORT, so it is named where that says something else.
    port = "" if os.environ.get("PGPORT", "5432") == "5432" else "&port=5432"
    return Servers(
        database_url=f"postgresql+psycopg://postgres@/{quote(database)}?host={folder}{port}",
        redis_url=f"unix://{folder}/redis.sock?db=0",
        owner=owner,
    )
