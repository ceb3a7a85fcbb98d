"""Metrics: declared where they happen, counted in shared memory, summed over all processes of a node when asked.

    CALLS = Counter("commerce_rail_calls_total", "Calls to the payment rail.", ("outcome",))
    CALLS.add("paid")

    kinds.py    Counter, Gauge, Histogram, and Figure for what is looked up when somebody asks
    store.py    what this process counts
    pages.py    the file it counts in: taken by a lock, and taken over by the next process when this one is gone
    summing.py  all pages of a folder as one
    text.py     the format that Prometheus reads

docs/decisions/metrics-storage.md says why this is not a library.
"""

from app.core.metrics.metric_types import ComputedGauge, Counter, Gauge, Histogram, Metric
from app.core.metrics.store import Store, init_app, store

__all__ = ["Counter", "ComputedGauge", "Gauge", "Histogram", "Metric", "Store", "init_app", "store"]
