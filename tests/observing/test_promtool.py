"""What Prometheus itself says of the alerts and of every question of the dashboard. Debian: the package prometheus."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.house.sources import ROOT
from tests.observing.test_dashboards import PANELS, RULES

WHOLE = bool(os.environ.get("CI"))
RULES_FILE = ROOT / "deploy/prometheus/alerts.yml"
CASES = Path(__file__).with_name("alerts.yml")
pytestmark = pytest.mark.skipif(not shutil.which("promtool") and not WHOLE, reason="promtool is not installed")


def promtool(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True)


def sound(*words: object) -> None:
    run = promtool(*words)
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_alert_fires_when_it_should_and_not_on_a_healthy_day() -> None:
    sound("check", "rules", RULES_FILE)
    sound("test", "rules", CASES)


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    cases = [case for group in yaml.safe_load(CASES.read_text())["tests"] for case in group["alert_rule_test"]]
    for rings in (True, False):
        assert {case["alertname"] for case in cases if bool(case["exp_alerts"]) is rings} == {
            rule["alert"] for rule in RULES
        }


def test_rules_that_never_fire_would_be_noticed(tmp_path: Path) -> None:
    """The negative control: every alert with a question that finds nothing."""
    broken = yaml.safe_load(RULES_FILE.read_text())
    for rule in broken["groups"][0]["rules"]:
        rule["expr"] = "vector(0) > 1"
    (tmp_path / "broken.yml").write_text(yaml.safe_dump(broken))
    (tmp_path / "cases.yml").write_text(
        yaml.safe_dump({**yaml.safe_load(CASES.read_text()), "rule_files": ["broken.yml"]})
    )
    run = promtool("test", "rules", tmp_path / "cases.yml")
    told = set(re.findall(r"alertname: (\w+)", run.stdout + run.stderr))
    assert run.returncode != 0 and told == {rule["alert"] for rule in RULES}


def test_prometheus_reads_every_question_of_the_dashboard(tmp_path: Path) -> None:
    """As rules that record, for there is no Grafana here; what it puts in for the interval stands in for it."""
    asked = [target["expr"].replace("$__rate_interval", "1m") for panel in PANELS for target in panel["targets"]]
    assert asked and not any("$" in item for item in asked)
    rules = [{"record": f"panel:question:{number}", "expr": item} for number, item in enumerate(asked)]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    sound("check", "rules", tmp_path / "rules.yml")


def test_the_documented_settings_of_prometheus_are_some(tmp_path: Path) -> None:
    text = (ROOT / "docs/observability.md").read_text()
    documented = re.search(r"```yaml\n(scrape_configs.*?)```", text, re.S)
    assert documented
    (tmp_path / "token").write_text("told by nobody")
    settings = documented[1].replace("/etc/prometheus/event-commerce.token", str(tmp_path / "token"))
    assert "/etc/prometheus/event-commerce-alerts.yml" in settings
    settings = settings.replace("/etc/prometheus/event-commerce-alerts.yml", json.dumps(str(RULES_FILE))[1:-1])
    (tmp_path / "prometheus.yml").write_text(settings)
    sound("check", "config", tmp_path / "prometheus.yml")
