"""A streaming replica that reads may go to, and how far it is known to follow.

A thread asks the primary how far it has written and the replica how far it has replayed, four times within the allowed
staleness. What it knows is a moment: all that was committed before it stands on the replica. So no clock but this
machine's counts, an idle primary is no lag, and no request asks anybody. A replica that is too far behind, away or
promoted is simply not read from (docs/decisions/replica-reads.md).
"""

import os
import threading
import time
from collections import deque
from typing import Any

import psycopg
import structlog
from flask import Flask, current_app
from sqlalchemy import create_engine

from app.config import Settings
from app.core.db import fetch_row, read_from
from app.core.dedicated_connection import dedicated_connection
from app.core.engine_options import direct_url, engine_options, to_sqlalchemy_url

NEVER = float("-inf")
LOOKS, REMEMBERED = 4, 64
AGAIN, IDLE, PATIENCE, BETWEEN = 1.0, 30.0, 0.3, 0.02
# What was acknowledged is flushed, and nothing else is sent to a replica.
WRITTEN = "SELECT pg_current_wal_flush_lsn() - '0/0'"
REPLAYED = "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() - '0/0'"
# Anyone who does not acknowledge for so long is away (milliseconds).
SILENCE = 2000
log = structlog.get_logger(__name__)


class NotAReplica(Exception):
    """The server behind DATABASE_REPLICA_URL is no replica, or no longer one."""


class Replica:
    """The replica of one process. Any thread may ask."""

    def __init__(self, settings: Settings) -> None:
        assert settings.DATABASE_REPLICA_URL
        self.urls = direct_url(settings), settings.DATABASE_REPLICA_URL
        self.staleness = settings.DATABASE_REPLICA_STALENESS
        words = {"connect_timeout": 2, "tcp_user_timeout": SILENCE}
        self.engine = create_engine(to_sqlalchemy_url(self.urls[1]), **engine_options(settings, **words))
        self.shown_at = self.asked_at = self.lost_at = NEVER
        self.wanted = threading.Event()
        self.starting = threading.Lock()
        self.watched_by = 0

    def is_fresh_since(self, since: float) -> bool:
        """Whether it shows all that was committed before `since` (of this machine's monotonic clock), and is no older
        than allowed."""
        self._ensure_watching()
        return self.shown_at >= max(since, self.asked_at - self.staleness)

    def is_caught_up(self, patience: float = PATIENCE) -> bool:
        """Whether it shows all that is committed now. Asks both servers, and waits a moment for the replica."""
        self._reset_after_fork()
        if time.monotonic() - self.lost_at < AGAIN:
            return False
        written = fetch_row(WRITTEN, ())
        until = time.monotonic() + patience
        with read_from(self):
            while time.monotonic() - self.lost_at >= AGAIN:
                row = fetch_row(REPLAYED, ())
                if not (row and row[0] and written):
                    return False
                if row[1] >= written[0]:
                    return True
                if time.monotonic() > until:
                    return False
                time.sleep(BETWEEN)
        return False

    def mark_unavailable(self) -> None:
        """It did not answer: nobody asks it until it has been looked at again."""
        self.shown_at, self.lost_at = NEVER, time.monotonic()
        self.engine.dispose()

    def _ensure_watching(self) -> None:
        self.asked_at = time.monotonic()
        self._reset_after_fork()
        if not self.wanted.is_set():
            self.wanted.set()
        if self.watched_by == os.getpid():
            return
        with self.starting:
            if self.watched_by != os.getpid():
                self.watched_by = os.getpid()
                threading.Thread(target=self._watch, name="replica", daemon=True).start()

    def _reset_after_fork(self) -> None:
        """After a fork: connections and the thread are the parent's, and what it knew is no longer looked after."""
        if self.watched_by not in (0, os.getpid()):
            self.engine.dispose(close=False)
            self.shown_at, self.watched_by = NEVER, 0

    def _watch(self) -> None:
        away = False
        while self.watched_by == os.getpid():
            if time.monotonic() - self.asked_at > IDLE:
                self.wanted.clear()
            self.wanted.wait()
            try:
                with dedicated_connection(self.urls[0]) as primary, dedicated_connection(self.urls[1]) as replica:
                    log.info("replica.found")
                    away = False
                    self._follow(primary, replica)
            except Exception as error:
                self.shown_at = NEVER
                if not away:
                    log.warning("replica.away", error=type(error).__name__)
                away = True
            time.sleep(min(AGAIN, self.staleness))

    def _follow(self, primary: "psycopg.Connection[Any]", replica: "psycopg.Connection[Any]") -> None:
        """Looks again and again, while anybody asks. Raises psycopg.Error, NotFollowing."""
        written: deque[tuple[float, int]] = deque(maxlen=REMEMBERED)
        while time.monotonic() - self.asked_at < IDLE:
            at = time.monotonic()
            written.append((at, _one(primary, WRITTEN)[0]))
            standby, replayed = _one(replica, REPLAYED)
            if not standby:
                raise NotAReplica
            while written and written[0][1] <= replayed:
                self.shown_at = written.popleft()[0]
            time.sleep(self.staleness / LOOKS)


def _one(connection: "psycopg.Connection[Any]", query: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(query).fetchone()
    assert row is not None
    return row


def get_replica() -> Replica | None:
    """The replica that the settings name."""
    replica: Replica | None = current_app.extensions["replica"]
    return replica


def init_app(app: Flask, settings: Settings) -> None:
    app.extensions["replica"] = Replica(settings) if settings.DATABASE_REPLICA_URL else None
