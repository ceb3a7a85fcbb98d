"""`python -m mock_rail` as a process, and the settings of the rail."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from flask import Flask

from app.clients.payrail import Rail, TransferOutcome, rail
from app.clients.payrail.disabled import DisabledRail
from app.clients.payrail.http_rail import HttpRail
from app.config import SettingsError
from app.version import __version__
from mock_rail.__main__ import main
from mock_rail.faults import InvalidFault, parse_faults
from tests.clients.rail import KEY, SECRET, client_of, journal_of, read_outcome, send_transfer, serving, wait
from tests.house.sources import ROOT
from tests.http import Client, data
from tests.settings import app_for, settings_for
from tests.timing import assert_in_time

LIVE = {"PAYRAIL_MODE": "live", "PAYRAIL_URL": "http://rail.test", "PAYRAIL_KEY": KEY, "PAYRAIL_SECRET": SECRET}


@contextmanager
def command(*options: str) -> Iterator[subprocess.Popen[str]]:
    call = [sys.executable, "-m", "mock_rail", "--port", "0", *options]
    with subprocess.Popen(call, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_command_serves_a_rail_that_misbehaves_as_told(app: Flask, tmp_path: Path) -> None:
    journal, faults = tmp_path / "rail.log", tmp_path / "faults.json"
    faults.write_text('[{"do": "error", "on": "send", "times": 1}]')
    options = ("--key", KEY, "--secret", SECRET, "--log", str(journal), "--faults", str(faults))
    with command(*options, "--fault", '{"do": "fail", "on": "send", "times": 1}') as process:
        assert process.stdout is not None
        found = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert found
        live = client_of(app, found[0])
        assert [send_transfer(live).value for _ in range(3)] == ["unknown", "unknown", "paid"]
        assert len(journal_of(journal)) == 1
        control = httpx.post(f"{found[0]}/_control/faults", json={"faults": [{"do": "decline"}]})
        assert control.status_code == 200 and send_transfer(live, reference="another") is TransferOutcome.FAILED
        assert httpx.post(f"{found[0]}/_control/faults", json={"faults": [{"do": "x"}]}).status_code == 400
        assert httpx.post(f"{found[0]}/_control/refuse", json={"seconds": 1.5}).status_code == 200
        wait(lambda: not live.client.reachable(1))
        wait(lambda: live.client.reachable(1))
        assert read_outcome(live) is TransferOutcome.PAID


def test_a_fault_that_does_not_exist_stops_the_command() -> None:
    result = CliRunner().invoke(main, ["--fault", "explode"])
    assert result.exit_code == 2 and "no such fault: explode" in result.output


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"on": "send"}', '{"do": "hang", "colour": 1}', '{"do": "hang", "on": "x"}']
)
def test_a_fault_is_read_strictly(text: str) -> None:
    with pytest.raises(InvalidFault):
        parse_faults(text)


@pytest.mark.parametrize(("mode", "kind"), [("mock", HttpRail), ("disabled", DisabledRail), ("live", HttpRail)])
def test_the_mode_chooses_the_rail(app: Flask, mode: str, kind: type[Rail]) -> None:
    ours = app.extensions["settings"]
    chosen = app_for(database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, **{**LIVE, "PAYRAIL_MODE": mode})
    with chosen.app_context():
        assert isinstance(rail(), kind) and rail() is rail()
        assert SECRET not in repr(rail()) and KEY not in repr(rail())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"PAYRAIL_URL": ""}, "PAYRAIL_URL: PAYRAIL_MODE=live needs it."),
        ({"PAYRAIL_SECRET": ""}, "PAYRAIL_SECRET: PAYRAIL_MODE=live needs it."),
        ({"PAYRAIL_KEY": " "}, "PAYRAIL_KEY: PAYRAIL_MODE=live needs it."),
        ({"PAYRAIL_URL": "rail.test"}, "PAYRAIL_URL: must be"),
        ({"PAYRAIL_URL": "https://key:word@rail.test"}, "PAYRAIL_URL: must be"),
        ({"PAYRAIL_TIMEOUT": "16"}, "PAYRAIL_TIMEOUT"),
        ({"PAYRAIL_MODE": "real"}, "PAYRAIL_MODE"),
        ({"APP_ENV": "production"}, "PAYRAIL_URL: production needs https://"),
        ({"APP_ENV": "production", "PAYRAIL_MODE": "mock"}, "refuses it unless PAYRAIL_ALLOW_MOCK=1"),
    ],
)
def test_a_wrong_setting_stops_the_start_with_a_sentence(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingsError) as stopped:
        settings_for(**{"database_url": "postgresql://db", "redis_url": "redis://r", **LIVE, **change})
    assert sentence in str(stopped.value)
    assert SECRET not in str(stopped.value)


def test_mock_in_production_can_be_allowed() -> None:
    allowed = {"APP_ENV": "production", "PAYRAIL_MODE": "mock", "PAYRAIL_ALLOW_MOCK": "1"}
    assert settings_for(database_url="postgresql://db", redis_url="redis://r", **allowed).PAYRAIL_MODE == "mock"


def test_without_the_live_rail_the_service_is_not_ready(app: Flask) -> None:
    ours = app.extensions["settings"]
    with serving() as server:
        settings = {**LIVE, "PAYRAIL_URL": server.url}
        for link, status in (("up", 200), ("down", 503), ("down", 503)):
            live = app_for(database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, **settings)
            answer = Client(live.test_client()).get("/ready")
            said = answer.get_json()["data"]
            assert (answer.status_code, said["payrail"], said["payrailLink"]) == (status, "live", link)
            server.refuse() if link == "up" else None
        server.accept()


def test_readiness_looks_at_the_rail_now_and_then_only(app: Flask) -> None:
    with serving() as server:
        live = client_of(app, server.url)
        assert live.reachable()
        server.refuse()
        assert live.reachable(), "what was found holds five seconds"
        live.reachability.valid_until = 0
        begun = time.monotonic()
        assert not live.reachable()
        assert_in_time(time.monotonic() - begun < 2.5)
        server.accept()
        assert not live.reachable(), "and a second when it was away"


def test_health_does_not_ask_the_rail(app: Flask) -> None:
    ours = app.extensions["settings"]
    live = app_for(database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, **LIVE)
    assert data(Client(live.test_client()).get("/health")) == {"ok": True, "version": __version__}
