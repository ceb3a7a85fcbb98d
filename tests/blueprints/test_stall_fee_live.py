"""Payment of the stall fee by a live rail, over HTTP from end to end."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from flask import Flask

from app import create_app
from app.clients import payrail
from app.config import Settings
from app.core.outbox import enqueue
from app.core.transaction import transaction
from mock_rail import Fault, MockServer
from tests.blueprints.test_stall_fee import make_payable_fee, send_code
from tests.clients.rail import KEY, SECRET, journal_of, serving
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.applications import EMAIL
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.settings import settings_for


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def server(journal: Path) -> Iterator[MockServer]:
    with serving(journal) as server:
        yield server


@pytest.fixture
def payer(app: Flask, server: MockServer) -> Iterator[Client]:
    """A client of an app whose payment rail is `server`."""
    ours = app.extensions["settings"]
    live_app = _make_live_app(ours.DATABASE_URL, ours.REDIS_URL, ours.DATA_DIR)
    settings = _settings_of(ours.DATABASE_URL, ours.REDIS_URL, ours.DATA_DIR, server.url)
    live_app.extensions["settings"] = settings
    payrail.init_app(live_app, settings)
    with live_app.app_context():
        yield Client(live_app.test_client())


@cache
def _make_live_app(database_url: str, redis_url: str, data_dir: Path) -> Flask:
    """The app, which takes half a second to make. Each test gives it new settings and the rail of its own server."""
    app = create_app(_settings_of(database_url, redis_url, data_dir, "http://127.0.0.1:1"))
    app.testing = True
    return app


def _settings_of(database_url: str, redis_url: str, data_dir: Path, rail_url: str) -> Settings:
    return settings_for(
        database_url=database_url,
        redis_url=redis_url,
        data_dir=data_dir,
        PAYRAIL_MODE="live",
        PAYRAIL_URL=rail_url,
        PAYRAIL_KEY=KEY,
        PAYRAIL_SECRET=SECRET,
        PAYRAIL_TIMEOUT="0.8",
    )


def list_captures(journal: Path) -> list[tuple[str, int]]:
    return [(line["state"], line["amount_minor"]) for line in journal_of(journal, "charge_ended")]


def check_outcome(payment_id: str) -> None:
    with transaction():
        enqueue("applications.settle_payment", payment_id=payment_id)
    run_jobs()


def count_receipts() -> int:
    return sum("receipt" in mail["subject"] for mail in list_mails_to(EMAIL))


def test_right_code_works_after_a_wrong_one(payer: Client, journal: Path) -> None:
    path = make_payable_fee(payer)
    assert data(payer.post(path))["status"] == "otp_required"
    response = send_code(payer, path, "000000")
    assert read_error(response) == (422, "OTP_WRONG") and response.get_json()["data"]["triesLeft"] == 4
    assert data(send_code(payer, path))["status"] == "paid"
    assert list_captures(journal) == [("paid", 250000)] and count_receipts() == 1


def test_timeout_is_resolved_by_asking_the_rail(payer: Client, server: MockServer, journal: Path) -> None:
    path = make_payable_fee(payer)
    payment_id = data(payer.post(path))["paymentId"]
    server.faults.set([Fault(do="hang", on="confirm", times=1, seconds=1), Fault(do="error", on="status", times=3)])
    assert data(send_code(payer, path))["status"] == "processing"
    assert read_error(payer.post(path)) == (409, "PAYMENT_IN_PROGRESS")
    for response in (payer.get(path), send_code(payer, path)):
        assert (data(response)["status"], data(response)["paymentId"]) == ("processing", payment_id)
    check_outcome(payment_id)
    assert data(payer.get(path))["status"] == "paid"
    assert list_captures(journal) == [("paid", 250000)] and count_receipts() == 1


def test_simultaneous_right_codes_capture_once(payer: Client, journal: Path) -> None:
    path = make_payable_fee(payer)
    data(payer.post(path))
    statuses = run_concurrently(16, lambda _: data(send_code(payer, path))["status"])
    assert set(statuses) <= {"paid", "processing"} and "paid" in statuses
    assert data(payer.get(path))["status"] == "paid" and list_captures(journal) == [("paid", 250000)]


def test_unavailable_rail_charges_nothing_and_uses_no_try(payer: Client, server: MockServer, journal: Path) -> None:
    path = make_payable_fee(payer)
    server.refuse()
    assert read_error(payer.post(path)) == (503, "PAYRAIL_UNAVAILABLE")
    server.accept()
    assert data(payer.post(path))["triesLeft"] == 5
    server.faults.set([Fault(do="busy", on="confirm", times=1, seconds=60, status=429)])
    response = send_code(payer, path)
    assert read_error(response) == (503, "PAYRAIL_UNAVAILABLE") and response.headers["Retry-After"] == "5"
    assert data(payer.get(path))["triesLeft"] == 5 and list_captures(journal) == []
    assert data(send_code(payer, path))["status"] == "paid" and list_captures(journal) == [("paid", 250000)]


def test_declined_wallet_is_reported(payer: Client, journal: Path) -> None:
    path = make_payable_fee(payer, payrailMsisdn="+264811230001")
    data(payer.post(path))
    assert read_error(send_code(payer, path)) == (409, "PAYMENT_DECLINED")
    assert list_captures(journal) == [("declined", 250000)]
