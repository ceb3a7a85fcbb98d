"""Paying the stall fee over HTTP."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.clients.payrail.disabled import DisabledRail
from app.clients.payrail.mock import MockRail
from app.clients.payrail.mock_rules import Pace
from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.factories.accounts import deliver, mails_to
from tests.factories.applications import CODE, EMAIL, LIST, approved, link
from tests.factories.events import organiser
from tests.http import Client, data, problems, refusal


def fee(client: Client, **fields: object) -> str:
    """Where the fee of an approved application without documents is paid."""
    approved(client, organiser(client), documentsRequired=[], **fields)
    return f"{LIST}/pay/{link('pay')}"


def otp(client: Client, path: str, code: str = CODE) -> TestResponse:
    return client.post(f"{path}/payrail/verify-otp", {"code": code})


def later(seconds: int) -> None:
    """Makes every payment older."""
    with transaction() as session:
        session.execute(text(f"UPDATE stall_payment SET expires_at = expires_at - interval '{seconds} s'"))


def test_a_fee_is_shown_started_and_paid(client: Client) -> None:
    path = fee(client)
    shown = data(client.get(path))
    assert (shown["amountMinor"], shown["currency"], shown["status"]) == (250000, "NAD", "due")
    assert shown["dueAt"] and shown["payrailMsisdn"].endswith("4567") and "+264" not in shown["payrailMsisdn"]
    started = data(client.post(path))
    assert started["status"] == "otp_required" and 290 <= started["expiresIn"] <= 300
    assert data(client.post(path, {}))["paymentId"] == started["paymentId"]
    done = data(otp(client, path))
    assert done == {"paymentId": started["paymentId"], "status": "paid"}
    for again in (otp(client, path), otp(client, path, "000000"), client.post(path)):
        assert data(again) == done
    assert data(client.get(path))["status"] == "paid"


def test_otp_is_another_name_for_code(client: Client) -> None:
    path = fee(client)
    client.post(path)
    verify = f"{path}/payrail/verify-otp"
    assert problems(client.post(verify, {})) == {"code": "required"}
    assert problems(client.post(verify, {"code": CODE, "otp": "654321"})) == {"otp": "unexpected_value"}
    assert data(client.post(verify, {"otp": CODE}))["status"] == "paid"


def test_five_wrong_codes_end_the_payment_and_the_right_one_no_longer_counts(client: Client) -> None:
    path = fee(client)
    first = data(client.post(path))["paymentId"]
    for left in (4, 3, 2, 1, 0):
        answer = otp(client, path, "000000")
        assert refusal(answer) == (422, "OTP_WRONG") and answer.get_json()["data"]["triesLeft"] == left
    assert refusal(otp(client, path)) == (409, "PAYMENT_EXPIRED")
    assert data(client.get(path))["lastFailure"] == "expired"
    assert data(client.post(path))["paymentId"] != first
    assert data(otp(client, path))["status"] == "paid"


def test_a_code_lives_five_minutes(client: Client) -> None:
    path = fee(client)
    client.post(path)
    later(301)
    assert refusal(otp(client, path)) == (409, "PAYMENT_EXPIRED")
    assert data(client.get(path))["status"] == "due"


def test_a_code_without_a_payment_is_refused(client: Client) -> None:
    assert refusal(otp(client, fee(client))) == (409, "PAYMENT_NOT_STARTED")


def test_a_wallet_gets_three_codes_in_ten_minutes_and_six_a_day(client: Client) -> None:
    path = fee(client)
    for _ in range(3):
        data(client.post(path))
        later(301)
    answer = client.post(path)
    assert refusal(answer) == (429, "RATE_LIMITED") and 0 < int(answer.headers["Retry-After"]) <= 600
    with transaction() as session:
        session.execute(text("UPDATE throttle SET ends_at = now() WHERE key LIKE 'pay-codes:%'"))
    for _ in range(3):
        data(client.post(path))
        later(301)
    with transaction() as session:
        session.execute(text("UPDATE throttle SET ends_at = now() WHERE key LIKE 'pay-codes:%'"))
    answer = client.post(path)
    assert refusal(answer) == (429, "RATE_LIMITED") and int(answer.headers["Retry-After"]) > 3600


def test_another_wallet_starts_anew_and_the_first_code_is_void(client: Client) -> None:
    path = fee(client)
    first = data(client.post(path))["paymentId"]
    second = data(client.post(path, {"payrailMsisdn": "081 765 4321"}))["paymentId"]
    assert second != first and data(otp(client, path))["paymentId"] == second


def test_a_wallet_that_declines_charges_nothing_and_another_can_pay(client: Client) -> None:
    path = fee(client, payrailMsisdn="+264811230001")
    client.post(path)
    assert refusal(otp(client, path)) == (409, "PAYMENT_DECLINED")
    assert data(client.get(path))["lastFailure"] == "declined"
    client.post(path, {"payrailMsisdn": "081 123 4567"})
    assert data(otp(client, path))["status"] == "paid"


def test_an_outcome_that_is_not_known_is_asked_for_and_never_charged_again(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(app.extensions, "payrail", MockRail(Pace(known_after=timedelta(seconds=0.5))))
    path = fee(client, payrailMsisdn="+264811230002")
    started = data(client.post(path))["paymentId"]
    for answer in (otp(client, path), otp(client, path), client.get(path)):
        assert data(answer)["status"] == "processing" and data(answer)["paymentId"] == started
    assert refusal(client.post(path)) == (409, "PAYMENT_IN_PROGRESS")
    with transaction() as session:
        session.execute(text("SELECT pg_sleep(0.6)"))
        enqueue("applications.settle_payment", payment_id=started)
    deliver()
    assert data(client.get(path))["status"] == "paid"
    assert any("receipt" in mail["subject"] for mail in mails_to(EMAIL))


def test_a_payment_left_in_the_middle_waits_until_the_code_has_expired_at_the_rail(client: Client) -> None:
    path = fee(client)
    started = data(client.post(path))["paymentId"]
    with transaction() as session:
        session.execute(text("UPDATE stall_payment SET status = 'processing', tries = 1"))
        enqueue("applications.settle_payment", payment_id=started)
    deliver()
    assert data(client.get(path))["status"] == "processing", "nobody knows whether the code has reached the rail"
    with transaction() as session:
        session.execute(text("UPDATE payrail_mock_charge SET created_at = created_at - interval '301 s'"))
    assert data(client.post(path))["status"] == "otp_required"
    assert data(otp(client, path))["paymentId"] != started


def test_a_start_that_was_cut_off_goes_on_as_the_same_charge(client: Client) -> None:
    path = fee(client)
    started = data(client.post(path))["paymentId"]
    with transaction() as session:
        session.execute(text("UPDATE stall_payment SET status = 'starting', expires_at = NULL"))
    assert refusal(otp(client, path)) == (409, "PAYMENT_NOT_STARTED")
    assert data(client.post(path))["paymentId"] == started


def test_a_start_that_was_cut_off_begins_anew_when_its_code_has_expired_at_the_rail(client: Client) -> None:
    path = fee(client)
    started = data(client.post(path))["paymentId"]
    with transaction() as session:
        session.execute(text("UPDATE stall_payment SET status = 'starting', expires_at = NULL"))
        session.execute(text("UPDATE payrail_mock_charge SET created_at = created_at - interval '301 s'"))
    anew = data(client.post(path))
    assert anew["status"] == "otp_required" and anew["paymentId"] != started
    assert data(otp(client, path))["status"] == "paid"


def test_where_payments_are_off_nothing_is_reserved(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fee(client)
    monkeypatch.setitem(app.extensions, "payrail", DisabledRail())
    assert refusal(client.post(path)) == (503, "PAYRAIL_DISABLED")
    with transaction() as session:
        assert session.execute(text("SELECT count(*) FROM stall_payment")).scalar_one() == 0


def test_without_a_wallet_it_must_be_said_which(client: Client) -> None:
    path = fee(client, payrailMsisdn=None)
    assert problems(client.post(path)) == {"payrailMsisdn": "required"}
    assert data(client.post(path, {"payrailMsisdn": "081 123 4567"}))["status"] == "otp_required"


def test_the_wallet_stands_in_full_in_no_answer_to_the_link(client: Client) -> None:
    path = fee(client)
    for answer in (client.get(path), client.post(path), otp(client, path), client.get(path)):
        assert "811234567" not in answer.get_data(as_text=True)
