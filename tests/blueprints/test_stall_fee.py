"""Payment of the stall fee over HTTP."""

import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.clients.payrail.disabled import DisabledRail
from app.core.outbox import enqueue
from app.core.transaction import transaction
from mock_rail import MockServer
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.applications import CODE, EMAIL, LIST, create_approved_application, find_mailed_token
from tests.factories.events import create_organiser_client
from tests.http import Client, data, list_problems, read_error


def make_payable_fee(client: Client, **fields: object) -> str:
    """The path for paying the fee of an approved application without documents."""
    create_approved_application(client, create_organiser_client(client), documentsRequired=[], **fields)
    return f"{LIST}/pay/{find_mailed_token('pay')}"


def send_code(client: Client, path: str, code: str = CODE) -> TestResponse:
    return client.post(f"{path}/payrail/verify-otp", {"code": code})


def age_payments(seconds: int) -> None:
    """Makes every payment older."""
    with transaction() as session:
        session.execute(text(f"UPDATE stall_payment SET expires_at = expires_at - interval '{seconds} s'"))


def test_fee_is_shown_started_and_paid(client: Client) -> None:
    path = make_payable_fee(client)
    fee_data = data(client.get(path))
    assert (fee_data["amountMinor"], fee_data["currency"], fee_data["status"]) == (250000, "NAD", "due")
    assert fee_data["dueAt"] and fee_data["payrailMsisdn"].endswith("4567") and "+264" not in fee_data["payrailMsisdn"]
    started = data(client.post(path))
    assert started["status"] == "otp_required" and 290 <= started["expiresIn"] <= 300
    assert data(client.post(path, {}))["paymentId"] == started["paymentId"]
    paid = data(send_code(client, path))
    assert paid == {"paymentId": started["paymentId"], "status": "paid"}
    for repeated in (send_code(client, path), send_code(client, path, "000000"), client.post(path)):
        assert data(repeated) == paid
    assert data(client.get(path))["status"] == "paid"


def test_otp_is_another_name_for_code(client: Client) -> None:
    path = make_payable_fee(client)
    client.post(path)
    verify = f"{path}/payrail/verify-otp"
    assert list_problems(client.post(verify, {})) == {"code": "required"}
    assert list_problems(client.post(verify, {"code": CODE, "otp": "654321"})) == {"otp": "unexpected_value"}
    assert data(client.post(verify, {"otp": CODE}))["status"] == "paid"


def test_five_wrong_codes_end_the_payment(client: Client) -> None:
    path = make_payable_fee(client)
    first = data(client.post(path))["paymentId"]
    for tries_left in (4, 3, 2, 1, 0):
        response = send_code(client, path, "000000")
        assert read_error(response) == (422, "OTP_WRONG") and response.get_json()["data"]["triesLeft"] == tries_left
    assert read_error(send_code(client, path)) == (409, "PAYMENT_EXPIRED")
    assert data(client.get(path))["lastFailure"] == "expired"
    assert data(client.post(path))["paymentId"] != first
    assert data(send_code(client, path))["status"] == "paid"


def test_code_expires_after_five_minutes(client: Client) -> None:
    path = make_payable_fee(client)
    client.post(path)
    age_payments(301)
    assert read_error(send_code(client, path)) == (409, "PAYMENT_EXPIRED")
    assert data(client.get(path))["status"] == "due"


def test_code_without_a_payment_is_refused(client: Client) -> None:
    assert read_error(send_code(client, make_payable_fee(client))) == (409, "PAYMENT_NOT_STARTED")


def test_wallet_gets_three_codes_in_ten_minutes_and_six_a_day(client: Client) -> None:
    path = make_payable_fee(client)
    for _ in range(3):
        data(client.post(path))
        age_payments(301)
    response = client.post(path)
    assert read_error(response) == (429, "RATE_LIMITED") and 0 < int(response.headers["Retry-After"]) <= 600
    with transaction() as session:
        session.execute(text("UPDATE throttle SET ends_at = now() WHERE key LIKE 'pay-codes:%'"))
    for _ in range(3):
        data(client.post(path))
        age_payments(301)
    with transaction() as session:
        session.execute(text("UPDATE throttle SET ends_at = now() WHERE key LIKE 'pay-codes:%'"))
    response = client.post(path)
    assert read_error(response) == (429, "RATE_LIMITED") and int(response.headers["Retry-After"]) > 3600


def test_another_wallet_replaces_the_payment(client: Client) -> None:
    path = make_payable_fee(client)
    first = data(client.post(path))["paymentId"]
    second = data(client.post(path, {"payrailMsisdn": "081 765 4321"}))["paymentId"]
    assert second != first and data(send_code(client, path))["paymentId"] == second


def test_after_a_declined_payment_another_wallet_can_pay(client: Client) -> None:
    path = make_payable_fee(client, payrailMsisdn="+264811230001")
    client.post(path)
    assert read_error(send_code(client, path)) == (409, "PAYMENT_DECLINED")
    assert data(client.get(path))["lastFailure"] == "declined"
    client.post(path, {"payrailMsisdn": "081 123 4567"})
    assert data(send_code(client, path))["status"] == "paid"


def test_unknown_outcome_is_queried_and_never_charged_again(client: Client, rail_server: MockServer) -> None:
    path = make_payable_fee(client, payrailMsisdn="+264811230002")
    started = data(client.post(path))["paymentId"]
    for response in (send_code(client, path), send_code(client, path), client.get(path)):
        assert data(response)["status"] == "processing" and data(response)["paymentId"] == started
    assert read_error(client.post(path)) == (409, "PAYMENT_IN_PROGRESS")
    rail_server.clock.ahead += 30
    with transaction():
        enqueue("applications.settle_payment", payment_id=started)
    run_jobs()
    assert data(client.get(path))["status"] == "paid"
    assert any("receipt" in mail["subject"] for mail in list_mails_to(EMAIL))


def test_interrupted_payment_waits_until_its_code_expires_at_the_rail(client: Client, rail_server: MockServer) -> None:
    path = make_payable_fee(client)
    started = data(client.post(path))["paymentId"]
    with transaction() as session:
        session.execute(text("UPDATE stall_payment SET status = 'processing', tries = 1"))
        enqueue("applications.settle_payment", payment_id=started)
    run_jobs()
    assert data(client.get(path))["status"] == "processing", "nobody knows whether the code has reached the rail"
    rail_server.clock.ahead += 301
    assert data(client.post(path))["status"] == "otp_required"
    assert data(send_code(client, path))["paymentId"] != started


def test_interrupted_start_continues_as_the_same_charge(client: Client) -> None:
    path = make_payable_fee(client)
    started = data(client.post(path))["paymentId"]
    with transaction() as session:
        session.execute(text("UPDATE stall_payment SET status = 'starting', expires_at = NULL"))
    assert read_error(send_code(client, path)) == (409, "PAYMENT_NOT_STARTED")
    assert data(client.post(path))["paymentId"] == started


def test_interrupted_start_makes_a_new_payment_after_its_code_expired(client: Client, rail_server: MockServer) -> None:
    path = make_payable_fee(client)
    started = data(client.post(path))["paymentId"]
    with transaction() as session:
        session.execute(text("UPDATE stall_payment SET status = 'starting', expires_at = NULL"))
    rail_server.clock.ahead += 301
    new_payment = data(client.post(path))
    assert new_payment["status"] == "otp_required" and new_payment["paymentId"] != started
    assert data(send_code(client, path))["status"] == "paid"


def test_no_payment_starts_while_the_rail_is_disabled(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_payable_fee(client)
    monkeypatch.setitem(app.extensions, "payrail", DisabledRail())
    assert read_error(client.post(path)) == (503, "PAYRAIL_DISABLED")
    with transaction() as session:
        assert session.execute(text("SELECT count(*) FROM stall_payment")).scalar_one() == 0


def test_wallet_is_required_if_the_application_has_none(client: Client) -> None:
    path = make_payable_fee(client, payrailMsisdn=None)
    assert list_problems(client.post(path)) == {"payrailMsisdn": "required"}
    assert data(client.post(path, {"payrailMsisdn": "081 123 4567"}))["status"] == "otp_required"


def test_no_response_to_the_link_has_the_full_wallet_number(client: Client) -> None:
    path = make_payable_fee(client)
    for response in (client.get(path), client.post(path), send_code(client, path), client.get(path)):
        assert "811234567" not in response.get_data(as_text=True)
