"""The process that rings for due work, takes back what its holder lost, and starts recurring work.

Any number of relays may run: each step is a conditional UPDATE or stands behind an advisory lock. A relay
outlives its stores: without PostgreSQL it waits; when Redis is away for 10 s it runs critical rows itself.
"""

import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import structlog
from flask import Flask
from redis.exceptions import RedisError
from sqlalchemy.exc import InterfaceError, OperationalError

from app.core.outbox import heartbeat
from app.core.outbox.dispatch import wake_for_due_jobs
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.lease_expiry import expire_leases
from app.core.outbox.scheduler import enqueue_recurring
from app.core.outbox.tuning import get_tuning
from app.core.outbox.wakeup import WakeupQueue, get_wakeup_queue

DRAINERS = 2

log = structlog.get_logger(__name__)


@dataclass
class Step:
    """Something to do every so often."""

    do: Callable[[], object]
    every: float
    due: float = 0.0

    def go(self) -> None:
        if time.monotonic() >= self.due:
            self.due = time.monotonic() + self.every
            self.do()


class Relay:
    """`run()` returns soon after `stop` is set."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.stop = threading.Event()
        with app.app_context():
            self.pace = get_tuning()
            self.bell: WakeupQueue = get_wakeup_queue()
        self.steps = [
            Step(self._ring, self.pace.ring),
            Step(lambda: heartbeat.record_heartbeat(heartbeat.RELAY), min(heartbeat.EVERY, self.pace.reap)),
            Step(lambda: expire_leases(self.pace), self.pace.reap),
            Step(enqueue_recurring, self.pace.ring),
        ]
        self.heard_at = time.monotonic()
        self.drainers = ThreadPoolExecutor(DRAINERS, thread_name_prefix="drain")
        self.draining: list[Future[None]] = []

    def run(self) -> None:
        log.info("relay.start")
        while not self.stop.is_set():
            began = time.monotonic()
            for step in self.steps:
                self._try(step)
            self.stop.wait(max(0.05, self.pace.ring - (time.monotonic() - began)))
        self.drainers.shutdown(wait=True)
        log.info("relay.stop")

    def _try(self, step: Step) -> None:
        """A step that fails is tried again on its next turn; the relay itself goes on."""
        try:
            with self.app.app_context():
                step.go()
        except (OperationalError, InterfaceError) as error:
            log.warning("relay.no_database", error=type(error.orig).__name__)
        except Exception:
            log.exception("relay.error")

    def _ring(self) -> None:
        try:
            wake_for_due_jobs(self.bell)
            self.heard_at = time.monotonic()
        except RedisError as error:
            log.warning("relay.no_redis", error=type(error).__name__)
        if self._deaf():
            self._drain()

    def _deaf(self) -> bool:
        return time.monotonic() - self.heard_at > self.pace.drain_after

    def _drain(self) -> None:
        self.draining = [item for item in self.draining if not item.done()]
        while len(self.draining) < DRAINERS:
            self.draining.append(self.drainers.submit(self._work))

    def _work(self) -> None:
        try:
            with self.app.app_context():
                run_due_jobs(worker=f"relay:{heartbeat.worker_name()}", only_critical=True, go_on=self._go_on)
        except (OperationalError, InterfaceError) as error:
            log.warning("relay.no_database", error=type(error.orig).__name__)
        except Exception:
            log.exception("relay.error")

    def _go_on(self) -> bool:
        return self._deaf() and not self.stop.is_set()


def serve(app: Flask) -> None:
    """Runs a relay until SIGTERM or SIGINT."""
    relay = Relay(app)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: relay.stop.set())
    relay.run()
