"""PostgreSQL and Redis from wheels, for a start without installing anything and for the tests.

Nothing here imports the rest of the program or Flask.
In production DATABASE_URL and REDIS_URL name real servers.
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
    """Where the running servers are; `owner` tells whether this process started them and will stop them."""

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
    """Running servers whose files are in `state`, with an empty database `database` if there was none.

    The first process starts them and stops them at the end of its block. Others share them meanwhile, and
    lose them with it. `durable=False` is for tests: faster, but a crash of the machine may spoil the data.
    `spare` keeps what root must move because its folders are closed to the account of the servers.
    Enter and leave from one thread: on Linux the servers end with the thread that started them.
    Raises EmbeddedError with a sentence that says what to do.
    """
    state = state.absolute()
    state_dir.ensure_folder(state)
    held = _take_or_reach(state, database)
    if isinstance(held, Path):
        yield _at(held, database, owner=False)
        return
    with _started(state, held, durable=durable, database=database, spare=spare) as run:
        yield _at(run, database, owner=True)


def _take_or_reach(state: Path, database: str) -> int | Path:
    """The lock of a new owner, or the folder of the sockets of servers that another process owns."""
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
def _started(state: Path, held: int, *, durable: bool, database: str, spare: Path) -> Iterator[Path]:
    owner = os.getpid()
    started: list[subprocesses.Child] = []
    place: state_dir.Folders | None = None
    try:
        account = Account.for_state(state)
        place = state_dir.prepare(state, account=account, spare=spare)
        keep = lock.successor(state, mentioning=[place.data, place.run])
        try:
            for server in (redis, postgres):
                started.append(server.start(place, account=account, spare=spare, durable=durable, keep=keep))
                subprocesses.record(started, state / "pids")
        finally:
            os.close(keep)
        redis.wait(started[0], place.run)
        postgres.wait(started[1], place.run, database=database)
        lock.announce(held, place.run)
        yield place.run
    finally:
        if os.getpid() == owner:  # A fork that leaves the block must not end its parent's servers.
            subprocesses.stop(started)
            if started:
                (state / "pids").unlink(missing_ok=True)
            if place:
                state_dir.tidy(place)
            lock.release(held)


def _at(run: Path, database: str, *, owner: bool) -> Servers:
    folder = quote(str(run))
    # libpq would take the port from the caller's PGPORT, so it is named where that says something else.
    port = "" if os.environ.get("PGPORT", "5432") == "5432" else "&port=5432"
    return Servers(
        database_url=f"postgresql+psycopg://postgres@/{quote(database)}?host={folder}{port}",
        redis_url=f"unix://{folder}/redis.sock?db=0",
        owner=owner,
    )
