"""Stall fees that the organiser records: received by bank transfer, or waived."""

from collections import Counter
from datetime import date
from itertools import count
from typing import Any

import pytest
from flask import Flask

from app.applications import payment_outcome, stall_payments
from app.applications.actions import fees
from app.applications.models import Application
from app.core.formatting import format_calendar_day
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to
from tests.factories.applications import (
    CODE,
    EMAIL,
    LIST,
    TRANSFER_DAY,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import fetch_scalar, run_all_jobs
from tests.http import Client, data, read_error
from tests.races import run_concurrently

FEE = 250000
_wallets = count(2_005_000)
TRANSFER = {"amountMinor": FEE, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def approved(client: Client, owner: Client) -> dict[str, Any]:
    return create_approved_application(client, owner, documentsRequired=[])


def receive(owner: Client, application: dict[str, Any], **fields: Any) -> Any:
    return owner.post(f"{LIST}/{application['id']}/fee/received", {**TRANSFER, **fields})


def waive(owner: Client, application: dict[str, Any]) -> Any:
    return owner.post(f"{LIST}/{application['id']}/fee/waive", {"reason": "a school"})


def test_a_received_transfer_settles_the_fee(client: Client, owner: Client, approved: dict[str, Any]) -> None:
    token = find_mailed_token("pay")
    shown = data(receive(owner, approved))
    assert (shown["status"], shown["payment"]["status"]) == ("ready", "paid") and shown["payment"]["paidAt"]
    assert data(client.get(f"{LIST}/pay/{token}"))["status"] == "paid"
    assert read_error(client.post(f"{LIST}/pay/{token}")) == (409, "NOTHING_DUE")
    (mail,) = (mail for mail in list_mails_to(EMAIL) if "Bank transfer" in mail["text"])
    assert f"\n{format_calendar_day(date.fromisoformat(TRANSFER_DAY))}\n" in mail["text"], "not when it was recorded"
    assert [attachment["name"][:12] for attachment in mail["attachments"]] == ["Invoice STL-"]
    assert find_mailed_token("activate")


def test_the_same_transfer_counts_once(owner: Client, approved: dict[str, Any]) -> None:
    first, again = data(receive(owner, approved)), data(receive(owner, approved))
    assert first["version"] == again["version"]
    assert read_error(receive(owner, approved, reference="another")) == (409, "NOTHING_DUE")
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == 1


def test_another_fee_of_the_same_transfer_is_named(client: Client, owner: Client, approved: dict[str, Any]) -> None:
    assert data(receive(owner, approved))["sameTransfer"] == []
    second, third = (
        create_approved_application(client, owner, documentsRequired=[], email=f"stall{number}@example.com")
        for number in range(2)
    )
    for _ in range(2):
        assert data(receive(owner, second, reference="ma-7k2p9qxt"))["sameTransfer"] == [approved["reference"]]
    assert data(receive(owner, third, reference="another"))["sameTransfer"] == []
    stranger = create_organiser_client(client)
    theirs = create_approved_application(client, stranger, documentsRequired=[], email="other@example.com")
    assert data(receive(stranger, theirs))["sameTransfer"] == []


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"amountMinor": 1}, "amountMinor"),
        ({"receivedOn": "2999-01-01"}, "receivedOn"),
        ({"receivedOn": "0001-01-01"}, "receivedOn"),
        ({"reference": ""}, "reference"),
    ],
)
def test_another_amount_or_a_day_outside_the_last_year_is_refused(
    owner: Client, approved: dict[str, Any], fields: dict[str, Any], path: str
) -> None:
    answer = receive(owner, approved, **fields)
    assert read_error(answer) == (422, "VALIDATION_FAILED")
    assert [error["path"] for error in answer.get_json()["data"]["errors"]] == [path]


def test_a_waived_fee_is_not_due(client: Client, owner: Client, approved: dict[str, Any]) -> None:
    token = find_mailed_token("pay")
    shown = data(waive(owner, approved))
    assert (shown["status"], shown["payment"]["status"], shown["payment"]["paidAt"]) == ("ready", "waived", None)
    assert data(waive(owner, approved))["version"] == shown["version"]
    assert data(client.get(f"{LIST}/pay/{token}"))["status"] == "not_required"
    assert read_error(receive(owner, approved)) == (409, "NOTHING_DUE")
    assert find_mailed_token("activate")
    (mail,) = (mail for mail in list_mails_to(EMAIL) if "stall fee waived" in mail["subject"])
    assert "do not need to pay" in mail["text"] and "a school" not in mail["text"]


def test_all_problems_of_a_transfer_are_reported(owner: Client, approved: dict[str, Any]) -> None:
    answer = receive(owner, approved, amountMinor=1, receivedOn="2999-01-01")
    assert [error["path"] for error in answer.get_json()["data"]["errors"]] == ["amountMinor", "receivedOn"]


def test_a_refusal_takes_the_waiver_back(client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner)
    assert data(waive(owner, application))["payment"]["status"] == "waived"
    for decision in ("declined", "submitted", "approved"):
        shown = data(
            owner.patch(
                f"{LIST}/{application['id']}", {"decision": decision, "reason": "a mistake", "declineReason": "Full"}
            )
        )
    assert (shown["status"], shown["payment"]["status"]) == ("awaiting_documents", "due")
    assert data(receive(owner, application))["payment"]["status"] == "paid"


def test_a_refusal_before_the_mails_are_sent_leaves_no_dead_job(client: Client, owner: Client) -> None:
    application = create_application(client, owner)
    for decision in ("approved", "declined"):
        body = {"decision": decision, "reason": "a mistake", "declineReason": "Full"}
        data(owner.patch(f"{LIST}/{application['id']}", body))
    run_all_jobs()
    assert (
        fetch_scalar("SELECT count(*) FROM outbox WHERE state IN ('dead', 'ready') AND kind = 'applications.mail'") == 0
    )


def test_nothing_is_recorded_before_the_approval_or_twice(client: Client, owner: Client) -> None:
    application = create_application(client, owner)
    assert read_error(receive(owner, application)) == read_error(waive(owner, application)) == (409, "NOTHING_DUE")
    decide_application(owner, application, documentsRequired=[])
    pay_stall_fee(client, find_mailed_token("pay"))
    assert read_error(receive(owner, application)) == (409, "NOTHING_DUE")


def test_another_organiser_finds_nothing(client: Client, approved: dict[str, Any]) -> None:
    stranger = create_signed_in_client(client, create_account("organiser"))
    assert read_error(receive(stranger, approved)) == (404, "NOT_FOUND")


def count_settled() -> tuple[int, int]:
    """Fees that were recorded by hand, and payments of the rail that count."""
    paid = fetch_scalar("SELECT count(*) FROM stall_payment WHERE status = 'paid'")
    return fetch_scalar("SELECT count(*) FROM stall_fee_record"), paid


def settle_twice_at_once(app: Flask, client: Client, owner: Client) -> Counter[int]:
    number = next(_wallets)
    application = create_approved_application(
        client, owner, documentsRequired=[], payrailMsisdn=f"+26481{number:07}", email=f"stall{number}@example.com"
    )
    path = f"{LIST}/pay/{find_mailed_token('pay', f'stall{number}@example.com')}"
    data(client.post(path))
    calls = (
        lambda: Client(app.test_client(), owner.headers).post(f"{LIST}/{application['id']}/fee/received", TRANSFER),
        lambda: Client(app.test_client()).post(f"{path}/payrail/verify-otp", {"code": CODE}),
    )
    return Counter(run_concurrently(2, lambda number: calls[number]().status_code))


def test_a_fee_is_received_or_paid(app: Flask, client: Client, owner: Client) -> None:
    for number in range(1, 9):
        codes = settle_twice_at_once(app, client, owner)
        run_all_jobs()
        recorded, paid = count_settled()
        assert recorded + paid == number, codes
        assert fetch_scalar("SELECT count(*) FROM merchant_application WHERE paid_at IS NOT NULL") == number


@pytest.mark.control
def test_without_the_check_a_fee_is_settled_twice(
    app: Flask, client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Application, "payment_due", True)
    monkeypatch.setattr(stall_payments, "end_open_payment", lambda *_: None)
    for module in (fees, payment_outcome):
        monkeypatch.setattr(module, "book_fee", lambda *_: None)
    for _ in range(8):
        settle_twice_at_once(app, client, owner)
    run_all_jobs()
    assert sum(count_settled()) > 8
