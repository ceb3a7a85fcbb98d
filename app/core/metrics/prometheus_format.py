"""Prometheus's text format, version 0.0.4."""

from collections.abc import Iterator
from itertools import accumulate

from app.core.metrics.aggregation import Numbers
from app.core.metrics.metric_types import Histogram, Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def format_metrics(numbers: Numbers) -> str:
    """Return the text of every metric that has a series, sorted by name."""
    lines: list[str] = []
    for name, result in sorted(numbers.items()):
        metric = Metric.catalogue[name]
        lines += [f"# HELP {name} {_escaped(metric.help)}", f"# TYPE {name} {metric.kind}"]
        for labels, values in sorted(result.items()):
            lines += _series(metric, labels, values)
    return "\n".join(lines) + "\n"


def _series(metric: Metric, labels: tuple[str, ...], values: list[float]) -> Iterator[str]:
    items = [f'{name}="{_quoted(value)}"' for name, value in zip(metric.labels, labels, strict=True)]
    if not isinstance(metric, Histogram):
        yield f"{metric.name}{_braced(items)} {_number(values[0])}"
        return
    *counts, total = values
    limits = [*map(_number, metric.buckets), "+Inf"]
    so_far = list(accumulate(counts))
    for limit, count in zip(limits, so_far, strict=True):
        within = _braced([*items, f'le="{limit}"'])
        yield f"{metric.name}_bucket{within} {_number(count)}"
    yield f"{metric.name}_sum{_braced(items)} {_number(total)}"
    yield f"{metric.name}_count{_braced(items)} {_number(so_far[-1])}"


def _braced(items: list[str]) -> str:
    return "{" + ",".join(items) + "}" if items else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _escaped(help: str) -> str:
    return help.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(value: str) -> str:
    return _escaped(value).replace('"', '\\"')
