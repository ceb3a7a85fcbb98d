"""Metrics: declared where they are counted, and summed over all processes of a node on a scrape.

CALLS = Counter("commerce_rail_calls_total", "Calls to the payment rail.", ("outcome",))
CALLS.add("paid")

metric_types.py    Counter, Gauge, Histogram, and ComputedGauge, whose value is computed on a scrape
process_slots.py   the files of prometheus-client, which the next process takes over when this one ends
exposition.py      the text that Prometheus reads
"""

from app.core.metrics.metric_types import ComputedGauge, Counter, Gauge, Histogram, Metric
from app.core.metrics.process_slots import init

__all__ = ["ComputedGauge", "Counter", "Gauge", "Histogram", "Metric", "init"]
