"""The circuit breaker: one for all threads of all processes, and no obstacle without Redis."""

import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from flask import Flask

from app.clients.payrail import TransferOutcome
from app.clients.payrail.breaker import Breaker, Limits, Permit
from app.clients.payrail.mock_server import Fault
from tests.clients.breaker_process import LIMITS
from tests.clients.rail import client_of, journal_of, sent, serving, told
from tests.house.sources import ROOT
from tests.races import at_once

SOON = Limits(failures=3, open_for=0.3, trial=0.5)


@pytest.fixture
def breaker(app: Flask) -> Breaker:
    return Breaker(app.extensions["settings"].REDIS_URL, uuid.uuid4().hex, SOON)


def tripped(breaker: Breaker) -> None:
    for _ in range(3):
        breaker.failed(breaker.permit())
    assert breaker.permit() is Permit.NONE


def test_failures_in_a_row_open_it_and_a_success_between_does_not_let_them(breaker: Breaker) -> None:
    for _ in range(2):
        breaker.failed(breaker.permit())
    breaker.succeeded(breaker.permit())
    for _ in range(2):
        breaker.failed(breaker.permit())
    assert breaker.permit() is Permit.FREE


def test_after_a_while_exactly_one_tries_and_its_success_closes_it(breaker: Breaker) -> None:
    tripped(breaker)
    time.sleep(0.35)
    permits = at_once(32, lambda _: breaker.permit())
    assert permits.count(Permit.TRIAL) == 1 and permits.count(Permit.NONE) == 31
    breaker.succeeded(Permit.FREE)
    assert breaker.permit() is Permit.NONE, "one that began before says nothing about now"
    breaker.succeeded(Permit.TRIAL)
    assert breaker.permit() is Permit.FREE


def test_without_the_key_that_one_can_set_all_would_try(breaker: Breaker, monkeypatch: pytest.MonkeyPatch) -> None:
    tripped(breaker)
    time.sleep(0.35)
    monkeypatch.setattr(breaker._redis, "set", lambda *_, **__: True)
    assert at_once(32, lambda _: breaker.permit()).count(Permit.TRIAL) == 32


def test_the_one_that_tries_and_fails_opens_it_again(breaker: Breaker) -> None:
    tripped(breaker)
    time.sleep(0.35)
    breaker.failed(breaker.permit())
    assert breaker.permit() is Permit.NONE


def test_when_the_one_that_tries_dies_another_may(breaker: Breaker) -> None:
    tripped(breaker)
    time.sleep(0.35)
    assert breaker.permit() is Permit.TRIAL and breaker.permit() is Permit.NONE
    time.sleep(0.55)
    assert breaker.permit() is Permit.TRIAL


def test_other_processes_see_it_open_and_one_of_them_tries(app: Flask) -> None:
    url, name = app.extensions["settings"].REDIS_URL, uuid.uuid4().hex

    def process(what: str) -> str:
        command = [sys.executable, "-m", "tests.clients.breaker_process", url, name, what]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=20).stdout.split()[
            -1
        ]

    ours = Breaker(url, name, LIMITS)
    for _ in range(4):
        ours.failed(ours.permit())
    assert process("fail") == "free"
    assert ours.permit() is Permit.NONE
    time.sleep(1.05)
    assert process("ask") == "trial"
    assert ours.permit() is Permit.NONE


def test_a_rail_that_is_down_is_left_alone_and_found_again(app: Flask, tmp_path: Path) -> None:
    with serving(tmp_path / "journal") as server:
        first = client_of(app, server.url, name=server.url, limits=SOON)
        other = client_of(app, server.url, name=server.url, limits=SOON)
        server.faults.set([Fault(do="error", times=3)])
        assert [sent(first, reference=f"t-{number}").value for number in range(3)] == ["unknown"] * 3
        assert told(other, "t-0") is TransferOutcome.UNKNOWN
        assert len(journal_of(tmp_path / "journal", "asked")) == 3, "the other one never called"
        time.sleep(0.35)
        assert told(other, "t-0") is TransferOutcome.NOT_FOUND
        assert sent(first, reference="t-0") is TransferOutcome.PAID


@pytest.mark.parametrize("do", ["busy", "not_signed"])
def test_a_rail_that_refuses_is_no_rail_that_is_down(app: Flask, do: str) -> None:
    with serving() as server:
        server.faults.set([Fault(do="busy", status=429, seconds=9)] if do == "busy" else [])
        rail = client_of(app, server.url, name=server.url, limits=SOON, secret="s" if do == "busy" else "another")
        for _ in range(5):
            told(rail)
        assert Breaker(app.extensions["settings"].REDIS_URL, server.url, SOON).permit() is Permit.FREE


def test_without_redis_everybody_may_call() -> None:
    lonely = Breaker("redis://127.0.0.1:1/0", "nobody", SOON)
    begun = time.monotonic()
    for _ in range(20):
        assert lonely.permit() is Permit.FREE
        lonely.failed(Permit.FREE)
    assert time.monotonic() - begun < 1
