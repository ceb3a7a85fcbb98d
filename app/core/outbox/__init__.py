"""Work that leaves a request: `enqueue()` inside `transaction()`, and PostgreSQL never forgets it."""

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
