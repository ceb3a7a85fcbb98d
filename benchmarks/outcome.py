"""What a benchmark found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


class Failed(Exception):
    """The measurement is void: a wrong answer, a broken connection, a server that did not start."""


@dataclass(frozen=True)
class Run:
    """One load for some seconds: requests per second, latencies in ms, CPU ms per request, the share of the machine
    that other programs took meanwhile, and the share of the work that the busiest worker did."""

    rate: float
    p50: float
    p95: float
    p99: float
    server_cpu: float | None = None
    database_cpu: float | None = None
    others: float | None = None
    busiest: float | None = None

    @property
    def cpu(self) -> float:
        """CPU ms per request, PostgreSQL's included."""
        return (self.server_cpu or 0) + (self.database_cpu or 0)


@dataclass(frozen=True)
class Outcome:
    """The figure that the goal is compared with, its least and greatest round, and what was served meanwhile."""

    value: float
    least: float
    most: float
    unit: str
    run: Run | None = None
    note: str = ""


def typical(runs: Sequence[Run]) -> Run:
    """The median of each figure."""

    def middle(name: str) -> float | None:
        known = [value for run in runs if (value := getattr(run, name)) is not None]
        return median(known) if known else None

    return Run(*(middle(name) for name in Run.__dataclass_fields__))  # type: ignore[arg-type]


def of_rounds(values: Sequence[float], unit: str, runs: Sequence[Run] = (), note: str = "") -> Outcome:
    """The median round, with the range."""
    return Outcome(median(values), min(values), max(values), unit, typical(runs) if runs else None, note)
