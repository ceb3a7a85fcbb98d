"""The data of the operations page. It takes six statements, and the number of finished rows does not slow them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import psycopg
from flask import current_app
from psycopg.rows import class_row

from app.config import Settings
from app.core.connections import dedicated_connection
from app.core.errors import Unavailable
from app.core.metrics.exposition import Numbers
from app.core.outbox.heartbeat import FRESH_SECONDS
from app.web import readiness
from app.web.metrics_endpoint import database_metrics, infrastructure_metrics, response

MAX_ROWS = 10
# One query per priority, as in the lease: the index of due rows begins with `critical` and `bulk`.
DUE_ROWS_SQL = f"""
    SELECT due_row.* FROM (VALUES (true, false), (false, false), (false, true)) AS rank (critical, bulk)
     CROSS JOIN LATERAL (
           SELECT o.id, o.kind, o.run_at, o.attempts FROM outbox o
            WHERE o.critical = rank.critical AND o.bulk = rank.bulk AND o.state = 'ready' AND o.run_at <= now()
            ORDER BY o.run_at LIMIT {MAX_ROWS}) AS due_row
     ORDER BY due_row.run_at LIMIT {MAX_ROWS}
"""
FAILED_ROWS_SQL = f"""
    SELECT failed_row.* FROM (VALUES ('dead'), ('uncertain')) AS failed (state)
     CROSS JOIN LATERAL (
           SELECT o.id, o.kind, o.state, o.done_at, o.last_error FROM outbox o
            WHERE o.state = failed.state AND o.done_at IS NOT NULL ORDER BY o.done_at DESC LIMIT {MAX_ROWS}) AS failed_row
     ORDER BY failed_row.done_at DESC LIMIT {MAX_ROWS}
"""
PROCESSES_SQL = """
    SELECT name, round(extract(epoch FROM now() - at))::int AS seconds FROM heartbeat
     WHERE at > now() - interval '1 hour' ORDER BY name LIMIT 50
"""


class DueRow(NamedTuple):
    """A job that waits for a worker."""

    id: int
    kind: str
    run_at: datetime
    attempts: int


class FailedRow(NamedTuple):
    """A job that failed for good (`dead`), or that may have taken effect (`uncertain`)."""

    id: int
    kind: str
    state: str
    done_at: datetime
    last_error: str | None


class ProcessHeartbeat(NamedTuple):
    """A process, and the seconds since its last heartbeat."""

    name: str
    seconds: int


class OverviewRows(NamedTuple):
    """The rows of the page: due ones oldest first, failed ones newest first. Empty if the database does not answer."""

    due_rows: list[DueRow]
    failed_rows: list[FailedRow]
    processes: list[ProcessHeartbeat]


@dataclass(frozen=True)
class ServiceOverview:
    """The state of the service. `ready` is the data of `/ready`; values of a service that is down are missing."""

    ready: Mapping[str, object]
    metric_values: Numbers
    due_rows: list[DueRow] = field(default_factory=list)
    failed_rows: list[FailedRow] = field(default_factory=list)
    processes: list[ProcessHeartbeat] = field(default_factory=list)

    def get_metric(self, name: str, *labels: str) -> float | None:
        """The value of one metric of `/metrics`, or None."""
        return self.metric_values.get(name, {}).get(labels)

    @property
    def count_by_state(self) -> dict[str, int]:
        """Rows of the outbox per state."""
        return {
            labels[0]: int(count)
            for labels, count in self.metric_values.get(database_metrics.OUTBOX_ROWS.name, {}).items()
        }

    @property
    def oldest_due_seconds(self) -> float:
        return self.get_metric(database_metrics.OLDEST_DUE_SECONDS.name) or 0.0

    @property
    def expired_lease_count(self) -> int:
        """Rows whose lease has expired; the relay releases them."""
        return int(self.get_metric(database_metrics.EXPIRED_LEASES.name) or 0)

    @property
    def money(self) -> tuple[int, int]:
        """The numbers of payouts in processing and of open reviews."""
        return int(self.get_metric(database_metrics.PAYOUTS_PROCESSING.name) or 0), int(
            self.get_metric(database_metrics.OPEN_REVIEWS.name) or 0
        )

    @property
    def breaker(self) -> str | None:
        """`closed`, `half_open` or `open`; None without a rail."""
        state = self.get_metric(infrastructure_metrics.BREAKER_STATE.name)
        return next(
            (name for name, number in infrastructure_metrics.BREAKER_STATE_NUMBERS.items() if number == state), None
        )

    @property
    def disk(self) -> tuple[float, float] | None:
        """Free and total bytes."""
        free, size = (
            self.get_metric(infrastructure_metrics.DISK_FREE.name),
            self.get_metric(infrastructure_metrics.DISK_SIZE.name),
        )
        return (free, size) if free is not None and size else None


def load_overview() -> ServiceOverview:
    """Return the current state of the service; metrics are at most five seconds old."""
    settings: Settings = current_app.extensions["settings"]
    ready: Mapping[str, object]
    try:
        ready = readiness.require_ready()
    except Unavailable as error:
        ready = error.data
    return ServiceOverview(ready, response.get_computed_metrics(settings), *_load_rows(settings.DATABASE_URL))


def is_alive(seconds: int) -> bool:
    """Whether a process counts as alive whose last heartbeat is so many seconds old."""
    return seconds <= FRESH_SECONDS


def _load_rows(url: str) -> OverviewRows:
    try:
        with dedicated_connection(url) as connection:
            with connection.cursor(row_factory=class_row(DueRow)) as cursor:
                due_rows = cursor.execute(DUE_ROWS_SQL).fetchall()
            with connection.cursor(row_factory=class_row(FailedRow)) as cursor:
                failed_rows = cursor.execute(FAILED_ROWS_SQL).fetchall()
            with connection.cursor(row_factory=class_row(ProcessHeartbeat)) as cursor:
                processes = cursor.execute(PROCESSES_SQL).fetchall()
    except (psycopg.Error, OSError):
        return OverviewRows([], [], [])
    return OverviewRows(due_rows, failed_rows, processes)
