"""Metrics: declared where they are counted, stored in shared memory, summed over all processes of a node on a scrape.

    CALLS = Counter("commerce_rail_calls_total", "Calls to the payment rail.", ("outcome",))
    CALLS.add("paid")

    metric_types.py       Counter, Gauge, Histogram, and ComputedGauge, whose value is computed on a scrape
    store.py              the numbers of this process
    shared_memory.py      their file, which the next process takes over when this one ends
    aggregation.py        the sums over all files of a folder
    prometheus_format.py  the text that Prometheus reads

docs/decisions/metrics-storage.md says why this is not a library.
"""

from app.core.metrics.metric_types import ComputedGauge, Counter, Gauge, Histogram, Metric
from app.core.metrics.store import Store, init_app, store

__all__ = ["Counter", "ComputedGauge", "Gauge", "Histogram", "Metric", "Store", "init_app", "store"]
