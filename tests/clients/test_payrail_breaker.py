"""The circuit breaker: shared by all processes, and without effect when Redis is down."""

import multiprocessing
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask

from app.clients.payrail import TransferOutcome
from app.clients.payrail.breaker import Breaker, Limits, Permit
from mock_rail import Fault
from tests.clients.rail import client_of, journal_of, read_outcome, send_transfer, serving
from tests.races import run_concurrently
from tests.timing import assert_in_time

FEW = Limits(failures=3)


@pytest.fixture
def breaker(app: Flask) -> Breaker:
    return Breaker(app.extensions["settings"].REDIS_URL, uuid.uuid4().hex, FEW)


def tripped(breaker: Breaker) -> None:
    for _ in range(3):
        breaker.failed(breaker.permit())
    assert breaker.permit() is Permit.NONE


def passes(breaker: Breaker, key: str, seconds: float) -> None:
    """Lets the time of a key pass, which it had."""
    assert seconds - 10 < breaker._redis.pttl(key) / 1000 <= seconds
    breaker._redis.delete(key)


def test_five_failures_in_a_row_open_the_breaker(breaker: Breaker) -> None:
    for _ in range(2):
        breaker.failed(breaker.permit())
    breaker.succeeded(breaker.permit())
    for _ in range(2):
        breaker.failed(breaker.permit())
    assert breaker.permit() is Permit.FREE


def test_half_open_breaker_allows_one_trial_whose_success_closes_it(breaker: Breaker) -> None:
    tripped(breaker)
    passes(breaker, breaker._open, 15)
    permits = run_concurrently(32, lambda _: breaker.permit())
    assert permits.count(Permit.TRIAL) == 1 and permits.count(Permit.NONE) == 31
    breaker.succeeded(Permit.FREE)
    assert breaker.permit() is Permit.NONE, "one that began before says nothing about now"
    breaker.succeeded(Permit.TRIAL)
    assert breaker.permit() is Permit.FREE


@pytest.mark.control
def test_without_the_trial_key_all_callers_would_try(breaker: Breaker, monkeypatch: pytest.MonkeyPatch) -> None:
    tripped(breaker)
    passes(breaker, breaker._open, 15)
    monkeypatch.setattr(breaker._redis, "set", lambda *_, **__: True)
    assert run_concurrently(32, lambda _: breaker.permit()).count(Permit.TRIAL) == 32


def test_failed_trial_opens_the_breaker_again(breaker: Breaker) -> None:
    tripped(breaker)
    passes(breaker, breaker._open, 15)
    breaker.failed(breaker.permit())
    assert breaker.permit() is Permit.NONE


def test_another_trial_is_allowed_when_the_first_dies(breaker: Breaker) -> None:
    tripped(breaker)
    passes(breaker, breaker._open, 15)
    assert breaker.permit() is Permit.TRIAL and breaker.permit() is Permit.NONE
    passes(breaker, breaker._trial, 20)
    assert breaker.permit() is Permit.TRIAL


def elsewhere(url: str, name: str, what: Callable[[Breaker, Permit], None]) -> str:
    """What a process of its own is told when it asks, before it does that with it."""
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe()

    def ask() -> None:
        breaker = Breaker(url, name)
        permit = breaker.permit()
        what(breaker, permit)
        theirs.send(permit.value)

    process = forked.Process(target=ask)
    process.start()
    assert ours.poll(20)
    said: str = ours.recv()
    process.join(90)
    return said


def test_breaker_is_shared_between_processes(app: Flask) -> None:
    url, name = app.extensions["settings"].REDIS_URL, uuid.uuid4().hex
    breaker = Breaker(url, name)
    for _ in range(4):
        breaker.failed(breaker.permit())
    assert elsewhere(url, name, Breaker.failed) == "free"
    assert breaker.permit() is Permit.NONE and elsewhere(url, name, Breaker.failed) == "none"
    breaker._redis.delete(breaker._open)
    assert elsewhere(url, name, lambda *_: None) == "trial"
    assert breaker.permit() is Permit.NONE and elsewhere(url, name, lambda *_: None) == "none"
    breaker.succeeded(Permit.TRIAL)
    assert elsewhere(url, name, Breaker.succeeded) == "free"


def test_rail_that_is_down_is_not_called_until_a_trial_succeeds(app: Flask, tmp_path: Path) -> None:
    with serving(tmp_path / "journal") as server:
        first = client_of(app, server.url, name=server.url, limits=FEW)
        other = client_of(app, server.url, name=server.url, limits=FEW)
        breaker = Breaker(app.extensions["settings"].REDIS_URL, server.url)
        server.faults.set([Fault(do="error", times=3)])
        assert [send_transfer(first, reference=f"t-{number}").value for number in range(3)] == ["unknown"] * 3
        assert read_outcome(other, "t-0") is TransferOutcome.UNKNOWN
        assert len(journal_of(tmp_path / "journal", "request")) == 3, "the other one never called"
        passes(breaker, breaker._open, 15)
        assert read_outcome(other, "t-0") is TransferOutcome.NOT_FOUND
        assert send_transfer(first, reference="t-0") is TransferOutcome.PAID


@pytest.mark.parametrize("do", ["busy", "not_signed"])
def test_refusals_of_the_rail_do_not_open_the_breaker(app: Flask, do: str) -> None:
    with serving() as server:
        server.faults.set([Fault(do="busy", status=429, seconds=9)] if do == "busy" else [])
        rail = client_of(app, server.url, name=server.url, limits=FEW, secret="s" if do == "busy" else "another")
        for _ in range(5):
            read_outcome(rail)
        assert Breaker(app.extensions["settings"].REDIS_URL, server.url, FEW).permit() is Permit.FREE


def test_all_calls_are_allowed_without_redis() -> None:
    lonely = Breaker("redis://127.0.0.1:1/0", "nobody", FEW)
    begun = time.monotonic()
    for _ in range(20):
        assert lonely.permit() is Permit.FREE
        lonely.failed(Permit.FREE)
    assert_in_time(time.monotonic() - begun < 3)
