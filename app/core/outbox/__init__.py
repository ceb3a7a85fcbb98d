"""Jobs outside the request: `enqueue()` inside `transaction()` stores them in PostgreSQL."""

from app.core.outbox.models import Heartbeat, Outbox, OutboxAttempt, Tick
from app.core.outbox.writer import EnqueueOutsideTransaction, Work, cancel, enqueue, enqueue_all, enqueue_many, job_spec

__all__ = [
    "EnqueueOutsideTransaction",
    "Heartbeat",
    "Outbox",
    "OutboxAttempt",
    "Tick",
    "Work",
    "cancel",
    "enqueue",
    "enqueue_all",
    "enqueue_many",
    "job_spec",
]
