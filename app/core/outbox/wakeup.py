"""The bell: a job in Redis that says there is work. Losing one costs a second, ringing twice costs a query.

Who answers takes whatever is due, most urgent first. So a few waiting bells serve any number of rows, and
further ones would only wake workers for nothing.
"""

import time
from collections.abc import Iterable
from typing import cast

import structlog
from flask import current_app
from rq import Queue
from rq.serializers import JSONSerializer

from app.core.redis import connected

QUEUE, RUN = "outbox", "app.worker.run"
PATIENCE, SILENCE = 0.2, 2.0
ENOUGH = 16
BACKSTOP = 600

log = structlog.get_logger(__name__)


class WakeupQueue:
    """Rings the workers of one Redis. Waits 200 ms at most; after a failure it stays silent for a while."""

    def __init__(self, redis_url: str) -> None:
        self.redis = connected(redis_url, seconds=PATIENCE)
        self.queue = Queue(QUEUE, connection=self.redis, serializer=JSONSerializer)
        self.silent_until = 0.0

    def try_notify(self, outbox_id: int) -> None:
        """Rings if Redis can be reached at once. Never raises: the relay rings for what is missed here."""
        if time.monotonic() < self.silent_until:
            return
        try:
            if self.free_slots():
                self.notify([outbox_id])
        except Exception as error:
            self.silent_until = time.monotonic() + SILENCE
            log.warning("bell.unheard", error=type(error).__name__)

    def notify(self, outbox_ids: Iterable[int]) -> None:
        """One bell for each id. Raises RedisError."""
        with self.redis.pipeline(transaction=False) as pipeline:
            for outbox_id in outbox_ids:
                # The worker sets its own limit for each row; this one only ends a process that hangs.
                self.queue.enqueue_call(
                    RUN, args=(outbox_id,), result_ttl=0, failure_ttl=BACKSTOP, timeout=BACKSTOP, pipeline=pipeline
                )
            pipeline.execute()

    def free_slots(self) -> int:
        """How many more bells would help. Raises RedisError."""
        return max(0, ENOUGH - self.queue.count)


def get_wakeup_queue() -> WakeupQueue:
    """The bell of this application."""
    extensions = current_app.extensions
    if "outbox_bell" not in extensions:
        extensions["outbox_bell"] = WakeupQueue(extensions["settings"].REDIS_URL)
    return cast(WakeupQueue, extensions["outbox_bell"])
