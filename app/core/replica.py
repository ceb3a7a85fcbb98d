"""A streaming replica for reads, and how far behind the primary it is known to be.

A thread reads the primary's write position and the replica's replay position, four times within the allowed
staleness. From these it knows a time: all that was committed before it is on the replica. So only this machine's clock
counts, an idle primary does not look like lag, and no request asks a server. Reads skip a replica that is too far
behind, unreachable or promoted (docs/decisions/replica-reads.md).

    @may_be_stale("events")
    def page(id): …            # up to DATABASE_REPLICA_STALENESS old, but with every change made on this machine

    @as_of_now
    def as_json(event, …): …   # a report: from the replica once it has all that is committed now

Without DATABASE_REPLICA_URL both do nothing. Reads of signed-in callers never go to a stale replica.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import structlog
from flask import Flask, current_app, g
from sqlalchemy import create_engine

from app.config import Settings
from app.core import cache_invalidation
from app.core.connections import dedicated_connection, direct_url, engine_options, to_sqlalchemy_url
from app.core.db import DriverConnection, DriverRow, fetch_row, read_from

NEVER = float("-inf")
CHECKS_PER_STALENESS, MAX_POSITIONS = 4, 64
RETRY_SECONDS, IDLE_SECONDS = 1.0, 30.0
CATCH_UP_SECONDS, POLL_SECONDS = 0.3, 0.02
CONNECT_SECONDS, TCP_TIMEOUT_MS = 2, 2000
# Acknowledged commits are flushed, and a replica gets nothing beyond the flushed position.
FLUSHED_POSITION = "SELECT pg_current_wal_flush_lsn() - '0/0'"
REPLAYED_POSITION = "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() - '0/0'"
log = structlog.get_logger(__name__)


class NotAReplica(Exception):
    """The server behind DATABASE_REPLICA_URL is not a replica, or was promoted."""


class Replica:
    """The replica of one process; thread-safe. Times are seconds of the monotonic clock."""

    def __init__(self, settings: Settings) -> None:
        assert settings.DATABASE_REPLICA_URL
        self.primary_url, self.url = direct_url(settings), settings.DATABASE_REPLICA_URL
        self.staleness = settings.DATABASE_REPLICA_STALENESS
        timeouts = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": TCP_TIMEOUT_MS}
        self.engine = create_engine(to_sqlalchemy_url(self.url), **engine_options(settings, **timeouts))
        self.fresh_until = self.last_read_at = self.failed_at = NEVER
        self.is_needed = threading.Event()
        self.start_lock = threading.Lock()
        self.watcher_pid = 0

    def is_fresh_since(self, since: float) -> bool:
        """Whether it has all that was committed before `since`, and is within the allowed staleness."""
        self._ensure_watching()
        return self.fresh_until >= max(since, self.last_read_at - self.staleness)

    def is_caught_up(self, patience: float = CATCH_UP_SECONDS) -> bool:
        """Whether it has all that is committed now. Asks both servers and waits `patience` seconds for the replica."""
        self._reset_after_fork()
        if time.monotonic() - self.failed_at < RETRY_SECONDS:
            return False
        flushed = fetch_row(FLUSHED_POSITION, ())
        deadline = time.monotonic() + patience
        with read_from(self):
            while time.monotonic() - self.failed_at >= RETRY_SECONDS:
                row = fetch_row(REPLAYED_POSITION, ())
                if not (row and row[0] and flushed):
                    return False
                if row[1] >= flushed[0]:
                    return True
                if time.monotonic() > deadline:
                    return False
                time.sleep(POLL_SECONDS)
        return False

    def mark_unavailable(self) -> None:
        """Send no reads to it until the next successful check."""
        self.fresh_until, self.failed_at = NEVER, time.monotonic()
        self.engine.dispose()

    def _ensure_watching(self) -> None:
        self.last_read_at = time.monotonic()
        self._reset_after_fork()
        if not self.is_needed.is_set():
            self.is_needed.set()
        if self.watcher_pid == os.getpid():
            return
        with self.start_lock:
            if self.watcher_pid != os.getpid():
                self.watcher_pid = os.getpid()
                threading.Thread(target=self._watch, name="replica", daemon=True).start()

    def _reset_after_fork(self) -> None:
        """Forget the connections, the thread and the position of the parent process."""
        if self.watcher_pid not in (0, os.getpid()):
            self.engine.dispose(close=False)
            self.fresh_until, self.watcher_pid = NEVER, 0

    def _watch(self) -> None:
        is_away = False
        while self.watcher_pid == os.getpid():
            if time.monotonic() - self.last_read_at > IDLE_SECONDS:
                self.is_needed.clear()
            self.is_needed.wait()
            try:
                with dedicated_connection(self.primary_url) as primary, dedicated_connection(self.url) as replica:
                    log.info("replica.found")
                    is_away = False
                    self._follow(primary, replica)
            except Exception as error:
                self.fresh_until = NEVER
                if not is_away:
                    log.warning("replica.away", error=type(error).__name__)
                is_away = True
            time.sleep(min(RETRY_SECONDS, self.staleness))

    def _follow(self, primary: DriverConnection, replica: DriverConnection) -> None:
        """Compare the positions of both servers until reads stop. Raises psycopg.Error, NotAReplica."""
        flushed_positions: deque[tuple[float, int]] = deque(maxlen=MAX_POSITIONS)
        while time.monotonic() - self.last_read_at < IDLE_SECONDS:
            checked_at = time.monotonic()
            flushed_positions.append((checked_at, _fetch_one(primary, FLUSHED_POSITION)[0]))
            is_standby, replayed = _fetch_one(replica, REPLAYED_POSITION)
            if not is_standby:
                raise NotAReplica
            while flushed_positions and flushed_positions[0][1] <= replayed:
                self.fresh_until = flushed_positions.popleft()[0]
            time.sleep(self.staleness / CHECKS_PER_STALENESS)


def _fetch_one(connection: DriverConnection, query: str) -> DriverRow:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row


def get_replica() -> Replica | None:
    """Return the replica of this application; None when no setting names one."""
    replica: Replica | None = current_app.extensions["replica"]
    return replica


def init_app(app: Flask, settings: Settings) -> None:
    """Create the replica that the settings name."""
    app.extensions["replica"] = Replica(settings) if settings.DATABASE_REPLICA_URL else None


P = ParamSpec("P")
Result = TypeVar("Result")


def may_be_stale(*topics: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Let a function read slightly old data that includes every change of these topics made on this machine."""

    def is_usable(replica: Replica) -> bool:
        return not g.get("signed_in") and replica.is_fresh_since(cache_invalidation.changed_at(*topics))

    return lambda read: _route(read, is_usable)


def as_of_now(read: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function with large reads use a replica that has all that was committed before the call."""
    return _route(read, lambda replica: replica.is_caught_up())


def _route(read: Callable[P, Result], is_usable: Callable[[Replica], bool]) -> Callable[P, Result]:
    @wraps(read)
    def routed(*args: P.args, **kwargs: P.kwargs) -> Result:
        replica = get_replica()
        if replica is None or not is_usable(replica):
            return read(*args, **kwargs)
        with read_from(replica):
            return read(*args, **kwargs)

    return routed
