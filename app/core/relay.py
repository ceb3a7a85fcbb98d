"""The relay: it sends wakeups for due jobs, takes back expired leases and enqueues recurring jobs.

Any number of relays may run: each step is a conditional UPDATE or needs an advisory lock. A relay survives an outage:
without PostgreSQL it waits; when Redis is away for 10 s it runs critical jobs itself.
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
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.lease import expire_leases
from app.core.outbox.maintenance import enqueue_recurring
from app.core.outbox.tuning import get_tuning
from app.core.outbox.wakeup import WakeupQueue, get_wakeup_queue, wake_for_due_jobs

DRAIN_THREADS = 2

log = structlog.get_logger(__name__)


@dataclass
class Step:
    """A function that runs every `every` seconds."""

    function: Callable[[], object]
    every: float
    due: float = 0.0

    def run_if_due(self) -> None:
        if time.monotonic() >= self.due:
            self.due = time.monotonic() + self.every
            self.function()


class Relay:
    """The loop of one relay process; `run()` returns soon after `stop` is set."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.stop = threading.Event()
        with app.app_context():
            self.tuning = get_tuning()
            self.wakeup_queue: WakeupQueue = get_wakeup_queue()
        self.steps = [
            Step(self._send_wakeups, self.tuning.wakeup_interval),
            Step(
                lambda: heartbeat.record_heartbeat(heartbeat.RELAY),
                min(heartbeat.INTERVAL_SECONDS, self.tuning.expiry_interval),
            ),
            Step(lambda: expire_leases(self.tuning), self.tuning.expiry_interval),
            Step(enqueue_recurring, self.tuning.wakeup_interval),
        ]
        self.redis_seen_at = time.monotonic()
        self.drain_pool = ThreadPoolExecutor(DRAIN_THREADS, thread_name_prefix="drain")
        self.drain_futures: list[Future[None]] = []

    def run(self) -> None:
        log.info("relay.start")
        while not self.stop.is_set():
            started_at = time.monotonic()
            for step in self.steps:
                self._try(step)
            self.stop.wait(max(0.05, self.tuning.wakeup_interval - (time.monotonic() - started_at)))
        self.drain_pool.shutdown(wait=True)
        log.info("relay.stop")

    def _try(self, step: Step) -> None:
        """Run a step if it is due; a step that fails runs again in its next turn."""
        try:
            with self.app.app_context():
                step.run_if_due()
        except (OperationalError, InterfaceError) as error:
            log.warning("relay.no_database", error=type(error.orig).__name__)
        except Exception:
            log.exception("relay.error")

    def _send_wakeups(self) -> None:
        try:
            wake_for_due_jobs(self.wakeup_queue)
            self.redis_seen_at = time.monotonic()
        except RedisError as error:
            log.warning("relay.no_redis", error=type(error).__name__)
        if self._is_redis_away():
            self._start_draining()

    def _is_redis_away(self) -> bool:
        return time.monotonic() - self.redis_seen_at > self.tuning.takeover_delay

    def _start_draining(self) -> None:
        """Run critical jobs in threads of the relay until Redis is back."""
        self.drain_futures = [future for future in self.drain_futures if not future.done()]
        while len(self.drain_futures) < DRAIN_THREADS:
            self.drain_futures.append(self.drain_pool.submit(self._drain))

    def _drain(self) -> None:
        worker = f"relay:{heartbeat.worker_name()}"
        try:
            with self.app.app_context():
                run_due_jobs(worker=worker, only_critical=True, should_continue=self._should_drain)
        except (OperationalError, InterfaceError) as error:
            log.warning("relay.no_database", error=type(error.orig).__name__)
        except Exception:
            log.exception("relay.error")

    def _should_drain(self) -> bool:
        return self._is_redis_away() and not self.stop.is_set()


def serve(app: Flask) -> None:
    """Run a relay until SIGTERM or SIGINT."""
    relay = Relay(app)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: relay.stop.set())
    relay.run()
