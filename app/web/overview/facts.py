"""What stands on the operations page: readiness, work, money, who lives. Six statements, none grows with the past."""

from dataclasses import dataclass, field
from typing import Any

import psycopg
from flask import current_app
from psycopg.rows import namedtuple_row

from app.config import Settings
from app.core.apart import apart
from app.core.errors import Unavailable
from app.core.metrics.summing import Numbers
from app.core.outbox.heartbeat import FRESH
from app.web import readiness
from app.web.figures import around, scraped, work

MOST = 10
# By ranks, as the workers take it: the index of what is due begins with them.
WAITING = f"""
    SELECT found.* FROM (VALUES (true, false), (false, false), (false, true)) AS rank (critical, bulk)
     CROSS JOIN LATERAL (
           SELECT o.id, o.kind, o.run_at, o.attempts FROM outbox o
            WHERE o.critical = rank.critical AND o.bulk = rank.bulk AND o.state = 'ready' AND o.run_at <= now()
            ORDER BY o.run_at LIMIT {MOST}) AS found
     ORDER BY found.run_at LIMIT {MOST}
"""
ENDED = f"""
    SELECT found.* FROM (VALUES ('dead'), ('uncertain')) AS ended (state)
     CROSS JOIN LATERAL (
           SELECT o.id, o.kind, o.state, o.done_at, o.last_error FROM outbox o
            WHERE o.state = ended.state AND o.done_at IS NOT NULL ORDER BY o.done_at DESC LIMIT {MOST}) AS found
     ORDER BY found.done_at DESC LIMIT {MOST}
"""
LIVING = """
    SELECT name, round(extract(epoch FROM now() - at))::int AS seconds FROM heartbeat
     WHERE at > now() - interval '1 hour' ORDER BY name LIMIT 50
"""


@dataclass(frozen=True)
class Overview:
    """How things stand. `ready` is what `/ready` tells; of what does not answer there is nothing.

    `waiting` are due rows with `id, kind, run_at, attempts`, the oldest first; `ended` those that ended badly with
    `id, kind, state, done_at, last_error`, the newest first; `living` processes with `name` and `seconds`.
    """

    ready: dict[str, Any]
    figures: Numbers
    waiting: list[Any] = field(default_factory=list)
    ended: list[Any] = field(default_factory=list)
    living: list[Any] = field(default_factory=list)

    def figure(self, name: str, *labels: str) -> float | None:
        """One number of `/metrics`."""
        found = self.figures.get(name, {}).get(labels)
        return found[0] if found else None

    @property
    def rows(self) -> dict[str, int]:
        """Rows of work by state."""
        return {labels[0]: int(count) for labels, (count,) in self.figures.get(work.ROWS.name, {}).items()}

    @property
    def oldest(self) -> float:
        return self.figure(work.OLDEST.name) or 0.0

    @property
    def lost(self) -> int:
        """Rows whose holder is gone."""
        return int(self.figure(work.LATE.name) or 0)

    @property
    def money(self) -> tuple[int, int]:
        """Payouts under way, and reviews that wait for a person."""
        return int(self.figure(work.PAYOUTS.name) or 0), int(self.figure(work.REVIEWS.name) or 0)

    @property
    def breaker(self) -> str | None:
        """`closed`, `half_open` or `open`; None but in live mode."""
        state = self.figure(around.BREAKER.name)
        return next((name for name, number in around.STATES.items() if number == state), None)

    @property
    def disk(self) -> tuple[float, float] | None:
        """Free and whole, in bytes."""
        free, size = self.figure(around.FREE.name), self.figure(around.SIZE.name)
        return (free, size) if free is not None and size else None


def overview() -> Overview:
    """How the service stands now; the figures are at most five seconds old."""
    settings: Settings = current_app.extensions["settings"]
    try:
        ready = readiness.report()
    except Unavailable as error:
        ready = error.data
    return Overview(ready, scraped.looked(settings), *_rows(settings.DATABASE_URL))


def lives(seconds: int) -> bool:
    """Whether somebody who was heard of so long ago counts as alive."""
    return seconds <= FRESH


def _rows(url: str) -> list[list[Any]]:
    try:
        with apart(url) as connection, connection.cursor(row_factory=namedtuple_row) as cursor:
            return [list(cursor.execute(item).fetchall()) for item in (WAITING, ENDED, LIVING)]
    except (psycopg.Error, OSError):
        return []
