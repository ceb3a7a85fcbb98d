"""Tells a domain which of its jobs ended dead or uncertain, in the commit that ends them.

A job declared with `ended="stalls.record_failures"` reports such rows to that other job, as `ends`: a list of objects
with `kind`, `state`, `error` and `payload`, up to 500 in one job. So a domain shows how its jobs ended without polling
the outbox.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from app.core.jobs import UnknownKind, get_job
from app.core.outbox.models import JsonObject
from app.core.outbox.writer import enqueue_all

FAILED_STATES = ("dead", "uncertain")
BATCH_SIZE = 500


class FailedRow(NamedTuple):
    """A row that ended dead or uncertain, as the `ended` job gets it."""

    kind: str
    state: str
    error: str
    payload: JsonObject


def notify_failures(failed_rows: Iterable[FailedRow]) -> None:
    """Enqueue, in the open transaction, the `ended` jobs of the rows that failed."""
    rows_by_listener: dict[str, list[JsonObject]] = defaultdict(list)
    for failed_row in failed_rows:
        if listener := _listener(failed_row.kind):
            rows_by_listener[listener].append(failed_row._asdict())
    jobs = [
        (listener, {"ends": rows[start : start + BATCH_SIZE]})
        for listener, rows in rows_by_listener.items()
        for start in range(0, len(rows), BATCH_SIZE)
    ]
    if jobs:
        enqueue_all(jobs)


def _listener(kind: str) -> str | None:
    try:
        return get_job(kind).ended
    except UnknownKind:
        return None
