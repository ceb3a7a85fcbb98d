"""What RQ runs. A job in Redis only says that there is work; the rows in PostgreSQL say which.

`python -m app.worker` is one worker. It forks for each bell, so that a job that takes its process down takes
nothing else with it, and one bell answers for a whole share of rows, so that forking costs little.
"""

import sys
import time
from contextlib import suppress
from typing import Any

import structlog
from flask import Flask, current_app
from redis import Redis
from redis.exceptions import RedisError
from rq import Worker
from rq.serializers import JSONSerializer
from sqlalchemy.exc import InterfaceError, OperationalError

from app.core import telemetry
from app.core.db import db
from app.core.low_priority_executor import lower_priority
from app.core.outbox import heartbeat
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.wakeup import QUEUE, get_wakeup_queue
from app.core.redis import connected
from app.startup import create_app_or_exit

WORKER_TTL, MAINTENANCE, MONITORING = 30, 15, 10
NICE = 10

log = structlog.get_logger(__name__)


def run(outbox_id: int) -> None:
    """Answers a bell: that row, then whatever else is due, up to a share."""
    try:
        if run_due_jobs(outbox_id, worker=heartbeat.worker_name()):
            get_wakeup_queue().try_notify(outbox_id)
    except (OperationalError, InterfaceError) as error:
        log.warning("worker.no_database", error=type(error.orig).__name__)
    finally:
        telemetry.flush(current_app._get_current_object())  # type: ignore[attr-defined]


class OutboxWorker(Worker):
    """An RQ worker that lives in one application, tells that it lives, and never waits long for Redis."""

    max_connection_wait_time = 2.0
    beat_at = 0.0

    def heartbeat(self, *args: Any, **kwargs: Any) -> None:
        super().heartbeat(*args, **kwargs)
        if time.monotonic() - self.beat_at < heartbeat.EVERY or self.is_horse:
            return
        self.beat_at = time.monotonic()
        try:
            heartbeat.record_heartbeat(heartbeat.worker_name())
        except (OperationalError, InterfaceError):
            log.warning("worker.no_database")

    def farewell(self) -> int:
        """The exit code: 0 when it was told to stop."""
        with suppress(OperationalError, InterfaceError):
            heartbeat.stop(heartbeat.worker_name())
        return 0 if self._shutdown_requested_date else 1

    def main_work_horse(self, *args: Any, **kwargs: Any) -> None:
        # The parent's connections are the parent's: this process opens its own and closes none of those.
        db.engine.dispose(close=False)
        super().main_work_horse(*args, **kwargs)


def serve(app: Flask, worker_class: type[OutboxWorker] = OutboxWorker) -> int:
    """Runs one worker until SIGTERM; the exit code. It is 1 when Redis broke off mid-job: start it again."""
    with app.app_context():
        connection = _connected(app.extensions["settings"].REDIS_URL)
        worker = worker_class(
            [QUEUE],
            connection=connection,
            serializer=JSONSerializer,
            worker_ttl=WORKER_TTL,
            maintenance_interval=MAINTENANCE,
            job_monitoring_interval=MONITORING,
            log_job_description=False,
        )
        # Nobody waits for a worker as one waits for an answer.
        lower_priority(NICE)
        log.info("worker.start")
        worker.work(logging_level="WARNING")
        return worker.farewell()


def _connected(redis_url: str) -> Redis:
    """Waits for Redis instead of ending: a service manager gives up on what ends again and again."""
    redis = connected(redis_url)
    while True:
        try:
            redis.ping()
            return redis
        except RedisError as error:
            log.warning("worker.no_redis", error=type(error).__name__)
            time.sleep(1)


if __name__ == "__main__":
    sys.exit(serve(create_app_or_exit()))
