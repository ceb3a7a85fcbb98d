"""Paying the stall fee through a live rail, over HTTP from end to end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.clients.payrail.mock_server import Fault, MockServer
from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.blueprints.test_stall_fee import fee, otp
from tests.clients.rail import KEY, SECRET, journal_of, serving
from tests.factories.accounts import deliver, mails_to
from tests.factories.applications import EMAIL
from tests.http import Client, data, refusal
from tests.races import at_once
from tests.settings import app_for


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def server(journal: Path) -> Iterator[MockServer]:
    with serving(journal) as server:
        yield server


@pytest.fixture
def payer(app: Flask, server: MockServer) -> Iterator[Client]:
    """A client of an application whose rail is that server."""
    ours = app.extensions["settings"]
    live = app_for(
        database_url=ours.DATABASE_URL,
        redis_url=ours.REDIS_URL,
        data_dir=ours.DATA_DIR,
        PAYRAIL_MODE="live",
        PAYRAIL_URL=server.url,
        PAYRAIL_KEY=KEY,
        PAYRAIL_SECRET=SECRET,
        PAYRAIL_TIMEOUT="0.8",
    )
    with live.app_context():
        yield Client(live.test_client())


def captured(journal: Path) -> list[tuple[str, int]]:
    return [(line["state"], line["amount_minor"]) for line in journal_of(journal, "charge_ended")]


def settled(payment_id: str) -> None:
    with transaction():
        enqueue("applications.settle_payment", payment_id=payment_id)
    deliver()


def receipts() -> int:
    return sum("receipt" in mail["subject"] for mail in mails_to(EMAIL))


def test_a_wrong_code_and_the_right_one(payer: Client, journal: Path) -> None:
    path = fee(payer)
    assert data(payer.post(path))["status"] == "otp_required"
    wrong = otp(payer, path, "000000")
    assert refusal(wrong) == (422, "OTP_WRONG") and wrong.get_json()["data"]["triesLeft"] == 4
    assert data(otp(payer, path))["status"] == "paid"
    assert captured(journal) == [("paid", 250000)] and receipts() == 1


def test_a_timeout_after_the_commit_is_settled_by_asking(payer: Client, server: MockServer, journal: Path) -> None:
    path = fee(payer)
    started = data(payer.post(path))["paymentId"]
    server.faults.set([Fault(do="hang", on="confirm", times=1, seconds=1), Fault(do="error", on="status", times=3)])
    assert data(otp(payer, path))["status"] == "processing"
    assert refusal(payer.post(path)) == (409, "PAYMENT_IN_PROGRESS")
    for answer in (payer.get(path), otp(payer, path)):
        assert (data(answer)["status"], data(answer)["paymentId"]) == ("processing", started)
    settled(started)
    assert data(payer.get(path))["status"] == "paid"
    assert captured(journal) == [("paid", 250000)] and receipts() == 1


def test_many_right_codes_at_once_are_one_capture(payer: Client, journal: Path) -> None:
    path = fee(payer)
    data(payer.post(path))
    answers = at_once(16, lambda _: data(otp(payer, path))["status"])
    assert set(answers) <= {"paid", "processing"} and "paid" in answers
    assert data(payer.get(path))["status"] == "paid" and captured(journal) == [("paid", 250000)]


def test_while_the_rail_is_away_nothing_is_charged_and_no_try_is_lost(
    payer: Client, server: MockServer, journal: Path
) -> None:
    path = fee(payer)
    server.refuse()
    assert refusal(payer.post(path)) == (503, "PAYRAIL_UNAVAILABLE")
    server.accept()
    assert data(payer.post(path))["triesLeft"] == 5
    server.faults.set([Fault(do="busy", on="confirm", times=1, seconds=60, status=429)])
    answer = otp(payer, path)
    assert refusal(answer) == (503, "PAYRAIL_UNAVAILABLE") and answer.headers["Retry-After"] == "5"
    assert data(payer.get(path))["triesLeft"] == 5 and captured(journal) == []
    assert data(otp(payer, path))["status"] == "paid" and captured(journal) == [("paid", 250000)]


def test_a_wallet_that_declines_is_told(payer: Client, journal: Path) -> None:
    path = fee(payer, payrailMsisdn="+264811230001")
    data(payer.post(path))
    assert refusal(otp(payer, path)) == (409, "PAYMENT_DECLINED")
    assert captured(journal) == [("declined", 250000)]
