"""The worker process: RQ delivers wakeups, and the rows in PostgreSQL say which jobs are due.

`python -m app.worker` is one worker. It forks for each wakeup, so that a job that crashes its process harms nothing
else, and each wakeup runs a batch of rows, so that forking costs little.
"""

import sys
import time
from contextlib import suppress

import structlog
from flask import Flask, current_app
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.job import Job
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


def run(outbox_id: int, kind: str = "") -> None:
    """Run that row and then other due rows, up to a batch; RQ calls this for each wakeup.

    `kind` is that row's; wakeups of version 1.0 have none.
    """
    try:
        if run_due_jobs(outbox_id, worker=heartbeat.worker_name()):
            get_wakeup_queue().try_notify(outbox_id, kind)
    except (OperationalError, InterfaceError) as error:
        log.warning("worker.no_database", error=type(error.orig).__name__)
    finally:
        telemetry.flush(current_app._get_current_object())  # type: ignore[attr-defined]


class OutboxWorker(Worker):
    """An RQ worker of one application that records heartbeats and never waits long for Redis."""

    max_connection_wait_time = 2.0
    last_beat_at = 0.0

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        super().heartbeat(timeout, pipeline)
        if time.monotonic() - self.last_beat_at < heartbeat.INTERVAL_SECONDS or self.is_horse:
            return
        self.last_beat_at = time.monotonic()
        try:
            heartbeat.record_heartbeat(heartbeat.worker_name())
        except (OperationalError, InterfaceError):
            log.warning("worker.no_database")

    def shutdown(self) -> int:
        """Delete the heartbeat and return the exit code: 0 after a signal to stop, else 1."""
        with suppress(OperationalError, InterfaceError):
            heartbeat.stop(heartbeat.worker_name())
        return 0 if self._shutdown_requested_date else 1

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        # The connections belong to the parent: this process opens its own and closes none of those.
        db.engine.dispose(close=False)
        super().main_work_horse(job, queue)


def serve(app: Flask, worker_class: type[OutboxWorker] = OutboxWorker) -> int:
    """Run one worker until SIGTERM and return the exit code: 1 when Redis failed during a job; start it again then."""
    with app.app_context():
        connection = _connect_redis(app.extensions["settings"].REDIS_URL)
        worker = worker_class(
            [QUEUE],
            connection=connection,
            serializer=JSONSerializer,
            worker_ttl=WORKER_TTL,
            maintenance_interval=MAINTENANCE,
            job_monitoring_interval=MONITORING,
            log_job_description=False,
        )
        # Requests go first: a person waits for a response, but not for a job.
        lower_priority(NICE)
        log.info("worker.start")
        worker.work(logging_level="WARNING")
        return worker.shutdown()


def _connect_redis(redis_url: str) -> Redis:
    """Wait for Redis instead of exiting: a service manager gives up on a process that exits again and again."""
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
