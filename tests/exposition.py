"""Reading of Prometheus's text."""

import re

from prometheus_client.parser import text_string_to_metric_families

LABEL = re.compile(r'(\w+)="([^"]*)"')


def read_value(page: str, series: str) -> float:
    """The number of a series, with its labels in any order; 0 when there is none."""
    name, _, labels = series.partition("{")
    wanted = dict(LABEL.findall(labels))
    samples = (sample for family in text_string_to_metric_families(page) for sample in family.samples)
    return next((sample.value for sample in samples if (sample.name, sample.labels) == (name, wanted)), 0.0)
