"""Wakeups: RQ jobs in Redis that tell workers about due rows. A lost one costs a second, a needless one a query.

A worker that gets a wakeup runs whatever is due, most urgent first. So a few waiting wakeups serve any number of rows.
The relay calls `wake_for_due_jobs` every second.
"""

import time
from collections.abc import Iterable
from typing import cast

import structlog
from flask import current_app
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import text

from app.core.db import db
from app.core.redis import connected

EXTENSION = "wakeup_queue"
QUEUE, RUN = "outbox", "app.worker.run"
REDIS_TIMEOUT_SECONDS, PAUSE_SECONDS = 0.2, 2.0
MAX_WAITING, FULL_PAUSE_SECONDS = 16, 0.1
RQ_TIMEOUT_SECONDS = 600
log = structlog.get_logger(__name__)


class WakeupQueue:
    """Sends wakeups by one Redis. It waits 200 ms at most and pauses for 2 s after a failure.

    A full queue is asked for its length again after 0.1 s: while workers are behind, most writes send nothing to Redis.
    """

    def __init__(self, redis_url: str) -> None:
        self.redis = connected(redis_url, seconds=REDIS_TIMEOUT_SECONDS)
        self.queue = Queue(QUEUE, connection=self.redis, serializer=JSONSerializer)
        self.is_full = False
        self.paused_until = 0.0

    def try_notify(self, outbox_id: int, kind: str) -> None:
        """Send a wakeup if Redis answers in time. It never raises: the relay sends what is missed here."""
        if time.monotonic() < self.paused_until:
            return
        try:
            if not self.is_full or self.free_slots():
                self.is_full = self.notify([(outbox_id, kind)]) >= MAX_WAITING
            if self.is_full:
                self.paused_until = time.monotonic() + FULL_PAUSE_SECONDS
        except Exception as error:
            self.paused_until = time.monotonic() + PAUSE_SECONDS
            log.warning("wakeup.redis_unavailable", error=type(error).__name__)

    def notify(self, due: Iterable[tuple[int, str]]) -> int:
        """Send one wakeup for each id and kind of a row, and return how many wait then.

        `rq info` and rq-dashboard show both. Raises RedisError.
        """
        with self.redis.pipeline(transaction=False) as pipeline:
            for outbox_id, kind in due:
                # The worker limits each row itself; this timeout only ends a process that hangs.
                self.queue.enqueue_call(
                    RUN,
                    args=(outbox_id, kind),
                    description=f"{kind} {outbox_id}",
                    meta={"kind": kind, "outbox_id": outbox_id},
                    result_ttl=0,
                    failure_ttl=RQ_TIMEOUT_SECONDS,
                    timeout=RQ_TIMEOUT_SECONDS,
                    pipeline=pipeline,
                )
            pipeline.llen(self.queue.key)
            return int(pipeline.execute()[-1])

    def free_slots(self) -> int:
        """Return how many more wakeups the queue takes. Raises RedisError."""
        return max(0, MAX_WAITING - self.queue.count)


def get_wakeup_queue() -> WakeupQueue:
    """Return the wakeup queue of this application."""
    extensions = current_app.extensions
    if EXTENSION not in extensions:
        extensions[EXTENSION] = WakeupQueue(extensions["settings"].REDIS_URL)
    return cast(WakeupQueue, extensions[EXTENSION])


DUE = text("""
    SELECT id, kind FROM outbox WHERE state = 'ready' AND run_at <= now() AND critical = :critical AND bulk = :bulk
    ORDER BY run_at LIMIT :limit
""")
PRIORITIES = ((True, False), (False, False), (False, True))
"""(critical, bulk) in order: critical rows, ordinary rows, bulk rows."""


def wake_for_due_jobs(wakeup_queue: WakeupQueue) -> int:
    """Send a wakeup for each due row, as far as the queue has room, and return how many. Raises RedisError.

    No wakeup is recorded: a worker takes whatever is due, so a wakeup that Redis lost is replaced a second later.
    """
    room = wakeup_queue.free_slots()
    due: list[tuple[int, str]] = []
    for critical, bulk in PRIORITIES:
        rows = db.session.execute(DUE, {"critical": critical, "bulk": bulk, "limit": room - len(due)})
        due += [(outbox_id, kind) for outbox_id, kind in rows]
    if due:
        wakeup_queue.notify(due)
    return len(due)
