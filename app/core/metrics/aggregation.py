"""Sums the pages of all processes of a folder, so that any process can answer Prometheus."""

import os
from pathlib import Path

from app.core.metrics.metric_types import Metric
from app.core.metrics.shared_memory import read_series, try_lock

Numbers = dict[str, dict[tuple[str, ...], list[float]]]
"""By the metric's name and the values of its labels."""


def sum_pages(folder: Path) -> Numbers:
    """Return the sums over all processes; of gauges, over running ones. Unknown names and shapes are left out."""
    sums: Numbers = {}
    for path in sorted(folder.glob("*.page")) if folder.is_dir() else ():
        memory, alive = _read_page(path)
        values = memoryview(memory[: len(memory) // 8 * 8]).cast("d")
        for item in read_series(memory):
            metric = Metric.catalogue.get(item.name)
            if metric is None or not _fits(metric, item.width, item.labels) or (item.gauge and not alive):
                continue
            result = sums.setdefault(item.name, {}).setdefault(item.labels, [0.0] * item.width)
            for index in range(item.width):
                result[index] += values[item.at + index]
    return sums


def zero_values() -> Numbers:
    """Return zero for each metric without labels.

    Prometheus sees an increase only between two values: an alert would miss the first one of a counter.
    """
    plain = (item for item in Metric.catalogue.values() if item.stored and not item.labels)
    return {item.name: {(): [0.0] * item.width} for item in plain}


def _fits(metric: Metric, width: int, labels: tuple[str, ...]) -> bool:
    return metric.stored and (metric.width, len(metric.labels)) == (width, len(labels))


def _read_page(path: Path) -> tuple[bytes, bool]:
    """Return the content of a page, and whether a process is writing to it."""
    with path.open("rb") as file:
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0), not try_lock(file.fileno())
