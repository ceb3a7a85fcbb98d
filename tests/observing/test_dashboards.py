"""The dashboard and the alerts ask for metrics that exist, by labels that they have; every alert has its runbook."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from flask import Flask

from app.core.metrics import Histogram, Metric
from tests.house.sources import ROOT

DASHBOARD = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
RULES = [
    rule
    for group in yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
PROMETHEUS_OWN = {"instance", "job", "le"}
SELECTOR = re.compile(r"(commerce_\w+)(\{[^}]*\})?")


def questions() -> Iterator[tuple[str, str]]:
    for panel in PANELS:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])
    yield from ((rule["alert"], rule["expr"]) for rule in RULES)


def metric_of(name: str) -> Metric | None:
    bare = re.sub(r"_(bucket|sum|count)$", "", name)
    found = Metric.catalogue.get(name) or Metric.catalogue.get(bare)
    return found if name in Metric.catalogue or isinstance(found, Histogram) else None


@pytest.mark.parametrize(("title", "question"), list(questions()))
def test_every_question_is_about_metrics_that_exist(application: Flask, title: str, question: str) -> None:
    """Ours, or the one by which Prometheus itself says whether a node answers."""
    asked = [(metric_of(name), braces) for name, braces in SELECTOR.findall(question)]
    assert (asked or question.startswith("up{")) and all(metric for metric, _ in asked), question
    labels = {label for metric, _ in asked if metric for label in metric.labels}
    for _, braces in asked:
        assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", braces)) <= labels, question
    for given in re.findall(r"\bby \(([^)]*)\)", question):
        assert {part.strip() for part in given.split(",")} <= labels | PROMETHEUS_OWN, question
    assert question.count("(") == question.count(")") and question.count("{") == question.count("}")


def test_a_counter_is_asked_for_its_rate_and_what_is_looked_up_for_its_maximum(application: Flask) -> None:
    """A sum over nodes of what every node tells alike would be that many times too much."""
    for title, question in questions():
        for found in SELECTOR.finditer(question):
            metric, before = metric_of(found[1]), question[: found.start()]
            assert metric
            if metric.kind in ("counter", "histogram"):
                assert before.endswith("rate("), (title, question)
            elif not metric.stored:
                assert not re.search(r"\b(sum|avg)( by \([^)]*\))? ?\($", before), (title, question)


def test_labels_of_legends_are_asked_for() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                assert re.search(rf"by \([^)]*\b{label}\b", target["expr"]), panel["title"]


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    assert DASHBOARD["schemaVersion"] >= 36 and DASHBOARD["uid"] and DASHBOARD["title"]
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    cells: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        own = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not own & cells, f"{panel['title']} lies on another"
        cells |= own
    for panel in PANELS:
        assert panel["type"] in ("timeseries", "stat")
        assert panel["title"] and panel["fieldConfig"]["defaults"]["unit"]
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])


def test_every_metric_is_on_the_dashboard_or_says_why(application: Flask) -> None:
    shown = {
        metric.name
        for _, question in questions()
        for name, _ in SELECTOR.findall(question)
        if (metric := metric_of(name))
    }
    assert set(Metric.catalogue) - shown == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_every_alert_has_a_runbook(rule: dict[str, Any]) -> None:
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(), re.M)
    assert anchor in {heading.lower().replace(" ", "-") for heading in headings}
    assert rule["annotations"]["summary"].endswith(".") and rule["labels"]["severity"] in ("page", "ticket")


def test_every_runbook_has_its_alert() -> None:
    text = (ROOT / "docs/observability.md").read_text()
    alerts = re.findall(r"^### (\w+)$", text.partition("## Alerts")[2], re.M)
    assert alerts == [rule["alert"] for rule in RULES]
