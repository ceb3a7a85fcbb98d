"""The kinds of metrics. Each is declared once, by a name that no other has; docs/metrics.md is made from them."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import ClassVar

from app.core.metrics.store import store

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, eq=False)
class Metric:
    """A name, what it tells, and by what it is told apart. Values of labels are few and never a person's."""

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
        """How many numbers one series is."""
        return 1


@dataclass(frozen=True, eq=False)
class Counter(Metric):
    """Only ever grows; it outlives the process that counts."""

    kind = "counter"

    def add(self, *labels: str, by: float = 1.0) -> None:
        store().add(self, labels, by)


@dataclass(frozen=True, eq=False)
class Gauge(Metric):
    """What a process has at the moment; the sum over those that live."""

    kind = "gauge"

    def set(self, value: float, *labels: str) -> None:
        store().set(self, labels, value)


@dataclass(frozen=True, eq=False)
class Histogram(Metric):
    """How long things take, in buckets of seconds."""

    buckets: tuple[float, ...] = SECONDS
    kind = "histogram"

    def observe(self, seconds: float, *labels: str) -> None:
        store().observe(self, labels, seconds)

    @property
    def width(self) -> int:
        """One number for each bucket, one for what is beyond them, and the sum."""
        return len(self.buckets) + 2

    def place(self, seconds: float) -> int:
        """The bucket of a duration."""
        return bisect_left(self.buckets, seconds)


@dataclass(frozen=True, eq=False)
class ComputedGauge(Metric):
    """What nobody counts: it is looked up when somebody asks."""

    kind = "gauge"
    stored = False
