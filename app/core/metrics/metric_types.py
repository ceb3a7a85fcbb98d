"""The types of metrics, on prometheus-client. Each is declared once under a unique name, in docs/metrics.md as well.

The library's object is created at the first use, because it opens the files of its process.
"""

from dataclasses import dataclass, field
from threading import Lock
from typing import Any, ClassVar

import prometheus_client as prometheus
import structlog

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
REGISTRY = prometheus.CollectorRegistry()
log = structlog.get_logger(__name__)
_creating = Lock()


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric with its name, help text and labels. Label values are few and never personal data."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    _children: dict[tuple[str, ...], Any] = field(default_factory=dict, init=False, repr=False)

    kind: ClassVar[str] = "untyped"
    stored: ClassVar[bool] = True
    catalogue: ClassVar[dict[str, "Metric"]] = {}

    def __post_init__(self) -> None:
        if self.name in Metric.catalogue:
            raise TypeError(f"the metric {self.name} is declared twice")
        Metric.catalogue[self.name] = self

    def create(self) -> Any:
        """Return a new metric of the library."""
        raise NotImplementedError

    def get_child(self, labels: tuple[str, ...] = ()) -> Any:
        """Return the library's series with these label values. Raises OSError if the files cannot be written."""
        child = self._children.get(labels)
        return self._add_child(labels) if child is None else child

    def _add_child(self, labels: tuple[str, ...]) -> Any:
        with _creating:
            parent = self._children.get(())
            if parent is None:
                parent = self._children[()] = self.create()
            child = self._children[labels] = parent.labels(*labels) if labels else parent
            return child

    def _log_failure(self, error: OSError) -> None:
        """A full disk costs a number, and not the request."""
        log.warning("metrics.not_written", metric=self.name, error=type(error).__name__)


@dataclass(frozen=True, eq=False)
class Counter(Metric):
    """A number that only grows, also across the end of a process."""

    kind = "counter"

    def create(self) -> prometheus.Counter:
        return prometheus.Counter(self.name, self.help, self.labels, registry=REGISTRY)

    def add(self, *labels: str, by: float = 1.0) -> None:
        try:
            self.get_child(labels).inc(by)
        except OSError as error:
            self._log_failure(error)


@dataclass(frozen=True, eq=False)
class Gauge(Metric):
    """A current number of a process; the sum over running processes."""

    kind = "gauge"

    def create(self) -> prometheus.Gauge:
        return prometheus.Gauge(self.name, self.help, self.labels, multiprocess_mode="livesum", registry=REGISTRY)

    def set(self, value: float, *labels: str) -> None:
        try:
            self.get_child(labels).set(value)
        except OSError as error:
            self._log_failure(error)

    def add(self, by: float, *labels: str) -> None:
        try:
            self.get_child(labels).inc(by)
        except OSError as error:
            self._log_failure(error)


@dataclass(frozen=True, eq=False)
class Histogram(Metric):
    """Durations in buckets of seconds."""

    buckets: tuple[float, ...] = SECONDS
    kind = "histogram"

    def create(self) -> prometheus.Histogram:
        return prometheus.Histogram(self.name, self.help, self.labels, buckets=self.buckets, registry=REGISTRY)

    def observe(self, seconds: float, *labels: str) -> None:
        try:
            self.get_child(labels).observe(seconds)
        except OSError as error:
            self._log_failure(error)


@dataclass(frozen=True, eq=False)
class ComputedGauge(Metric):
    """A gauge that is computed on a scrape."""

    kind = "gauge"
    stored = False
