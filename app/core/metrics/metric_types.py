"""The types of metrics. Each metric is declared once under a unique name; docs/metrics.md is generated from them."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import ClassVar

from app.core.metrics.store import store

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric with its name, help text and labels. Label values are few and never personal data."""

    name: str
    help: str
    labels: tuple[str, ...] = ()

    kind: ClassVar[str] = "untyped"
    stored: ClassVar[bool] = True
    catalogue: ClassVar[dict[str, "Metric"]] = {}

    def __post_init__(self) -> None:
        if self.name in Metric.catalogue:
            raise TypeError(f"the metric {self.name} is declared twice")
        Metric.catalogue[self.name] = self

    @property
    def width(self) -> int:
        """Return how many numbers one series has."""
        return 1


@dataclass(frozen=True, eq=False)
class Counter(Metric):
    """A number that only grows, also across the end of a process."""

    kind = "counter"

    def add(self, *labels: str, by: float = 1.0) -> None:
        store().add(self, labels, by)


@dataclass(frozen=True, eq=False)
class Gauge(Metric):
    """A current number of a process; the sum over running processes."""

    kind = "gauge"

    def set(self, value: float, *labels: str) -> None:
        store().set(self, labels, value)


@dataclass(frozen=True, eq=False)
class Histogram(Metric):
    """Durations in buckets of seconds."""

    buckets: tuple[float, ...] = SECONDS
    kind = "histogram"

    def observe(self, seconds: float, *labels: str) -> None:
        store().observe(self, labels, seconds)

    @property
    def width(self) -> int:
        """Return one number for each bucket, one beyond the last, and the sum."""
        return len(self.buckets) + 2

    def place(self, seconds: float) -> int:
        """Return the index of a duration's bucket."""
        return bisect_left(self.buckets, seconds)


@dataclass(frozen=True, eq=False)
class ComputedGauge(Metric):
    """A gauge that is computed on a scrape."""

    kind = "gauge"
    stored = False
