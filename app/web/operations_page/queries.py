"""What stands on the operations page: readiness, work, money, who lives. Six statements, none grows with the past."""

from dataclasses import dataclass, field
from typing import Any

import psycopg
from flask import current_app
from psycopg.rows import namedtuple_row

from app.config import Settings
from app.core.dedicated_connection import dedicated_connection
from app.core.errors import Unavailable
from app.core.metrics.aggregation import Numbers
from app.core.outbox.heartbeat import FRESH
from app.web import readiness
from app.web.metrics_endpoint import database_metrics, endpoint, infrastructure_metrics

MAX_ROWS = 10
# By ranks, as the workers take it: the index of what is due begins with them.
DUE_ROWS_SQL = f"""
    SELECT found.* FROM (VALUES (true, false), (false, false), (false, true)) AS rank (critical, bulk)
     CROSS JOIN LATERAL (
           SELECT o.id, o.kind, o.run_at, o.attempts FROM outbox o
            WHERE o.critical = rank.critical AND o.bulk = rank.bulk AND o.state = 'ready' AND o.run_at <= now()
            ORDER BY o.run_at LIMIT {MAX_ROWS}) AS found
     ORDER BY found.run_at LIMIT {MAX_ROWS}
"""
FAILED_ROWS_SQL = f"""
    SELECT found.* FROM (VALUES ('dead'), ('uncertain')) AS ended (state)
     CROSS JOIN LATERAL (
           SELECT o.id, o.kind, o.state, o.done_at, o.last_error FROM outbox o
            WHERE o.state = ended.state AND o.done_at IS NOT NULL ORDER BY o.done_at DESC LIMIT {MAX_ROWS}) AS found
     ORDER BY found.done_at DESC LIMIT {MAX_ROWS}
"""
PROCESSES_SQL = """
    SELECT name, round(extract(epoch FROM now() - at))::int AS seconds FROM heartbeat
     WHERE at > now() - interval '1 hour' ORDER BY name LIMIT 50
"""


@dataclass(frozen=True)
class ServiceOverview:
    """How things stand. `ready` is what `/ready` tells; of what does not answer there is nothing.

    `waiting` are due rows with `id, kind, run_at, attempts`, the oldest first; `ended` those that ended badly with
    `id, kind, state, done_at, last_error`, the newest first; `living` processes with `name` and `seconds`.
    """

    ready: dict[str, Any]
    metric_values: Numbers
    waiting: list[Any] = field(default_factory=list)
    ended: list[Any] = field(default_factory=list)
    living: list[Any] = field(default_factory=list)

    def get_metric(self, name: str, *labels: str) -> float | None:
        """One number of `/metrics`."""
        values = self.metric_values.get(name, {}).get(labels)
        return values[0] if values else None

    @property
    def rows(self) -> dict[str, int]:
        """Rows of work by state."""
        return {
            labels[0]: int(count)
            for labels, (count,) in self.metric_values.get(database_metrics.OUTBOX_ROWS.name, {}).items()
        }

    @property
    def oldest(self) -> float:
        return self.get_metric(database_metrics.OLDEST_DUE_SECONDS.name) or 0.0

    @property
    def lost(self) -> int:
        """Rows whose holder is gone."""
        return int(self.get_metric(database_metrics.EXPIRED_LEASES.name) or 0)

    @property
    def money(self) -> tuple[int, int]:
        """Payouts under way, and reviews that wait for a person."""
        return int(self.get_metric(database_metrics.PAYOUTS_PROCESSING.name) or 0), int(
            self.get_metric(database_metrics.OPEN_REVIEWS.name) or 0
        )

    @property
    def breaker(self) -> str | None:
        """`closed`, `half_open` or `open`; None but in live mode."""
        state = self.get_metric(infrastructure_metrics.BREAKER_STATE.name)
        return next(
            (name for name, number in infrastructure_metrics.BREAKER_STATE_NUMBERS.items() if number == state), None
        )

    @property
    def disk(self) -> tuple[float, float] | None:
        """Free and whole, in bytes."""
        free, size = (
            self.get_metric(infrastructure_metrics.DISK_FREE.name),
            self.get_metric(infrastructure_metrics.DISK_SIZE.name),
        )
        return (free, size) if free is not None and size else None


def load_overview() -> ServiceOverview:
    """How the service stands now; the figures are at most five seconds old."""
    settings: Settings = current_app.extensions["settings"]
    try:
        ready = readiness.require_ready()
    except Unavailable as error:
        ready = error.data
    return ServiceOverview(ready, endpoint.get_computed_metrics(settings), *_load_rows(settings.DATABASE_URL))


def is_alive(seconds: int) -> bool:
    """Whether somebody who was heard of so long ago counts as alive."""
    return seconds <= FRESH


def _load_rows(url: str) -> list[list[Any]]:
    try:
        with dedicated_connection(url) as connection, connection.cursor(row_factory=namedtuple_row) as cursor:
            return [
                list(cursor.execute(statement).fetchall())
                for statement in (DUE_ROWS_SQL, FAILED_ROWS_SQL, PROCESSES_SQL)
            ]
    except (psycopg.Error, OSError):
        return []
