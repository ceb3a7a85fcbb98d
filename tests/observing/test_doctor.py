"""`flask doctor`: the environment and the machine, each thing broken in turn, and the command itself."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask

from app.config import Settings
from app.core.outbox import heartbeat
from app.doctor import commands, host_checks
from app.doctor import settings_checks as environment
from app.doctor.results import FAIL, OK, WARN
from tests.observing.ward import STRONG, found

# The environment


def test_sound_settings_are_ok(settings: Settings) -> None:
    assert {finding.state for finding in environment.run_checks(settings)} == {OK}


@pytest.mark.parametrize(
    ("wrong", "about", "state", "says"),
    [
        ({"SECRET_KEY": "a" * 64}, "secrets", FAIL, "SECRET_KEY can be guessed"),
        ({"BOOTSTRAP_SECRET": "letmein"}, "secrets", FAIL, "BOOTSTRAP_SECRET can be guessed"),
        ({"METRICS_TOKEN": STRONG}, "secrets", FAIL, "used for two purposes"),
        ({"PUBLIC_BASE_URL": "https://localhost"}, "address", FAIL, "works only on this machine"),
        ({"PUBLIC_BASE_URL": "http://tickets.example.com"}, "address", FAIL, "not https"),
        ({"TRUSTED_HOSTS": ["other.example.com"]}, "address", FAIL, "all our links get 400"),
        ({"PROXY_HOPS": 0}, "proxy", WARN, "look like one"),
        ({"MAIL_FROM": "Event <no-reply@localhost>"}, "sender", FAIL, "most servers refuse"),
        ({"APP_ENV": "development"}, "settings", WARN, "anybody may read all mail"),
    ],
)
def test_what_the_environment_gets_wrong(
    settings: Settings, wrong: dict[str, Any], about: str, state: str, says: str
) -> None:
    assert says in found(environment, replace(settings, **wrong), about, state)


# The machine


@pytest.mark.parametrize(("free", "state"), [(50, OK), (5, WARN), (1, FAIL)])
def test_the_disk(settings: Settings, monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    usage = SimpleNamespace(total=100 * 1024**3, free=free * 1024**3)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    assert f"{free}.0 GiB ({free} %) are free" in found(host_checks, settings, "disk", state)


def test_a_folder_that_is_on_no_disk(settings: Settings) -> None:
    settings = replace(settings, DATA_DIR=Path("/proc/data"))
    assert "without room for files" in found(host_checks, settings, "disk", FAIL)


@pytest.mark.parametrize(
    ("mode", "state", "says"),
    [
        (0o700, OK, "belongs to this user"),
        (0o755, WARN, "may read"),
        (0o777, FAIL, "may write"),
    ],
)
def test_permissions_of_the_data(settings: Settings, tmp_path: Path, mode: int, state: str, says: str) -> None:
    tmp_path.chmod(mode)
    assert says in found(host_checks, replace(settings, DATA_DIR=tmp_path), "data", state)


def test_folders_that_are_not_there(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    wrong = replace(settings, DATA_DIR=tmp_path / "gone", METRICS_DIR=tmp_path / "file" / "metrics")
    assert "does not exist" in found(host_checks, wrong, "data", FAIL)
    assert "each process counts alone" in found(host_checks, wrong, "metrics", WARN)
    unwritable = replace(settings, METRICS_DIR=Path("/proc/metrics"))
    assert "not writable" in found(host_checks, unwritable, "metrics", WARN)


# The command


def test_the_command_fails_when_something_has_failed(app: Flask) -> None:
    run = app.test_cli_runner().invoke(args=["doctor"])
    assert run.exit_code == 1
    assert "FAIL  workers   No worker is alive" in run.output
    assert "→ Start one or more" in run.output


def test_the_command_succeeds_with_warnings(app: Flask) -> None:
    heartbeat.record_heartbeat(heartbeat.RELAY)
    heartbeat.record_heartbeat("worker:a:1")
    run = app.test_cli_runner().invoke(args=["doctor", "--json"])
    answer = json.loads(run.output)
    assert (run.exit_code, answer["ok"]) == (0, True), run.output
    assert {finding["state"] for finding in answer["findings"]} == {OK, WARN}
    assert {finding["about"] for finding in answer["findings"]} >= {
        "settings",
        "secrets",
        "address",
        "data",
        "disk",
        "metrics",
        "database",
        "schema",
        "clock",
        "redis",
        "relay",
        "workers",
        "queue",
        "storage",
        "mail",
        "sms",
        "push",
        "rail",
    }


def test_a_check_that_breaks_is_told_and_the_others_go_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(folder: Path) -> None:
        raise RuntimeError("canary")

    monkeypatch.setattr(shutil, "disk_usage", explode)
    made = list(commands.run_all_checks(settings))
    assert "The check itself failed: RuntimeError" in next(it.says for it in made if it.about == "host_checks")
    assert any(it.about == "database" for it in made)


def test_settings_that_start_nothing_are_told_one_by_one(tmp_path: Path) -> None:
    environment = {**os.environ, "APP_ENV": "production", "DATA_DIR": str(tmp_path), "SECRET_KEY": "short"}
    environment |= {"DATABASE_URL": "mysql://x", "REDIS_URL": ""}
    run = subprocess.run(
        [sys.executable, "-m", "app.doctor", "--json"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1, run.stderr
    told = [finding["says"].split(":")[0] for finding in json.loads(run.stdout)["findings"]]
    assert {"SECRET_KEY", "DATABASE_URL", "REDIS_URL", "PAYRAIL_MODE"} <= set(told)
