"""Prometheus's text of all metrics of a node."""

from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app.core.metrics.metric_types import REGISTRY, Metric
from app.core.metrics.process_slots import get_slots

__all__ = ["CONTENT_TYPE", "Numbers", "format_metrics"]

Numbers = dict[str, dict[tuple[str, ...], float]]
"""Values of computed gauges, by the metric's name and the values of its labels."""


class ComputedCollector(Collector):
    """Passes computed gauges to the library."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, series in self.numbers.items():
            metric = Metric.catalogue[name]
            family = GaugeMetricFamily(name, metric.help, labels=metric.labels)
            for labels, value in series.items():
                family.add_metric(labels, value)
            yield family


def format_metrics(computed: Numbers) -> bytes:
    """Return the sums over all processes, of gauges over running ones, and the computed gauges."""
    _create_metrics_without_labels()
    registry, slots = CollectorRegistry(), get_slots()
    registry.register(ComputedCollector(computed))
    if slots is None:
        return generate_latest(REGISTRY) + generate_latest(registry)
    slots.clear_ended()
    MultiProcessCollector(registry, str(slots.folder))  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def _create_metrics_without_labels() -> None:
    """Prometheus sees an increase only between two values: from nothing to 1 an alert would miss it."""
    for metric in Metric.catalogue.values():
        if metric.stored and not metric.labels:
            metric.get_child()
