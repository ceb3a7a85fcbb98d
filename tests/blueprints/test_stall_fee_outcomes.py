"""Late, wrong and missing answers of a live rail: no fee is taken twice, and no captured fee is lost."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from app.applications.actions import payments as payments
from app.clients.payrail.disabled import DisabledRail
from mock_rail import Fault, MockServer
from tests.blueprints.test_stall_fee import make_payable_fee, send_code
from tests.blueprints.test_stall_fee_live import journal as journal
from tests.blueprints.test_stall_fee_live import list_captures
from tests.blueprints.test_stall_fee_live import payer as payer
from tests.blueprints.test_stall_fee_live import server as server
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.applications import (
    EMAIL,
    LIST,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import execute_sql, fetch_scalar, run_all_jobs, use_rail
from tests.factories.stall_payments import (
    advance_time,
    capture_charge,
    list_open_reviews,
    load_payment_status,
    run_recurring,
    send_callback,
)
from tests.http import Client, data, read_error
from tests.races import run_concurrently

OTHER_WALLET = {"payrailMsisdn": "081 765 4321"}
LOST_CONFIRMATION = Fault(do="drop", on="confirm", times=1)
IN_PROGRESS = (409, "PAYMENT_IN_PROGRESS")


def make_unanswered_payment(payer: Client, server: MockServer, path: str) -> str:
    """The id of a payment whose confirmation the rail has not answered."""
    payment_id = str(data(payer.post(path))["paymentId"])
    server.faults.set([LOST_CONFIRMATION])
    assert data(send_code(payer, path))["status"] == "processing"
    return payment_id


def end_by_wrong_codes(payer: Client, path: str) -> str:
    """The id of a payment that five wrong codes have ended."""
    payment_id = str(data(payer.post(path))["paymentId"])
    for _ in range(5):
        assert read_error(send_code(payer, path, "000000")) == (422, "OTP_WRONG")
    return payment_id


def test_payment_is_processing_until_the_outcome_is_final(payer: Client, server: MockServer, journal: Path) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    advance_time(21)
    assert data(payer.get(path))["status"] == "processing", "the rail says code_sent, and the confirm may still arrive"
    for body in ({}, OTHER_WALLET):
        assert read_error(payer.post(path, body)) == IN_PROGRESS
    capture_charge(server, payment_id)
    assert send_callback(payer, payment_id).status_code == 200
    run_all_jobs()
    for response in (payer.get(path), payer.post(path), payer.post(path, OTHER_WALLET)):
        assert (data(response)["status"], data(response)["paymentId"]) == ("paid", payment_id)
    assert list_captures(journal) == [("paid", 250000)]


def test_start_asks_the_rail_about_a_payment_without_a_response(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    capture_charge(server, payment_id)
    response = data(payer.post(path, OTHER_WALLET))
    assert (response["status"], response["paymentId"]) == ("paid", payment_id)


def test_fee_is_due_again_after_the_payment_expired_at_the_rail(
    payer: Client, server: MockServer, journal: Path
) -> None:
    path = make_payable_fee(payer)
    make_unanswered_payment(payer, server, path)
    advance_time(301, server)
    fee_data = data(payer.get(path))
    assert (fee_data["status"], fee_data["lastFailure"]) == ("due", "expired")
    data(payer.post(path))
    assert data(send_code(payer, path))["status"] == "paid" and list_captures(journal) == [("paid", 250000)]


def test_callback_of_an_ended_payment_records_its_capture(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = end_by_wrong_codes(payer, path)
    capture_charge(server, payment_id)
    send_callback(payer, payment_id)
    run_all_jobs()
    fee_data = data(payer.get(path))
    assert (fee_data["status"], fee_data["paymentId"]) == ("paid", payment_id)


def test_capture_ends_a_newer_running_payment(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    first_id = end_by_wrong_codes(payer, path)
    second_id = data(payer.post(path))["paymentId"]
    capture_charge(server, first_id)
    send_callback(payer, first_id)
    run_all_jobs()
    assert (load_payment_status(first_id), load_payment_status(second_id)) == ("paid", "expired")
    assert data(send_code(payer, path))["paymentId"] == first_id


def test_late_capture_of_another_fee_is_refunded(payer: Client, server: MockServer, journal: Path) -> None:
    owner = create_organiser_client(payer)
    application = create_approved_application(payer, owner, documentsRequired=[])
    path = f"{LIST}/pay/{find_mailed_token('pay')}"
    payment_id = end_by_wrong_codes(payer, path)
    data(owner.patch(f"{LIST}/{application['id']}", {"decision": "approved", "feeMinor": 300000, "reason": "a corner"}))
    capture_charge(server, payment_id)
    send_callback(payer, payment_id)
    run_all_jobs()
    fee_data = data(payer.get(f"{LIST}/pay/{find_mailed_token('pay')}"))
    assert (fee_data["status"], fee_data["amountMinor"]) == ("due", 300000)
    assert list_open_reviews() == [("second_capture", payment_id)]
    assert ("refunded", 250000) in list_captures(journal)


def test_second_capture_is_reviewed_refunded_and_mailed(payer: Client, server: MockServer, journal: Path) -> None:
    admin = create_account("admin")
    path = make_payable_fee(payer)
    first_id = end_by_wrong_codes(payer, path)
    second_id = data(payer.post(path))["paymentId"]
    assert data(send_code(payer, path))["status"] == "paid"
    capture_charge(server, first_id)
    for event_id in ("evt-1", "evt-2", "evt-1"):
        send_callback(payer, first_id, id=event_id)
    run_all_jobs()
    assert list_open_reviews() == [("second_capture", first_id)]
    assert (load_payment_status(first_id), load_payment_status(second_id)) == ("expired", "paid")
    assert list_captures(journal) == [("paid", 250000)] * 2 + [("refunded", 250000)]
    mails = [mail for mail in list_mails_to(admin.email) if first_id in mail["text"]]
    assert len(mails) == 1 and "second_capture" not in mails[0]["text"]
    assert data(payer.get(path))["paymentId"] == second_id


def test_refund_is_repeated_until_the_rail_confirms_it(payer: Client, server: MockServer, journal: Path) -> None:
    path = make_payable_fee(payer)
    first_id = end_by_wrong_codes(payer, path)
    data(payer.post(path))
    data(send_code(payer, path))
    capture_charge(server, first_id)
    server.faults.set([Fault(do="error", on="refund", times=1)])
    send_callback(payer, first_id)
    run_all_jobs()
    assert fetch_scalar("SELECT refunded_at FROM stall_payment WHERE id = :id", id=first_id) is None
    advance_time(70)
    assert fetch_scalar("SELECT refunded_at FROM stall_payment WHERE id = :id", id=first_id) is not None
    assert list_captures(journal).count(("refunded", 250000)) == 1


def test_refund_waits_while_the_rail_is_disabled(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    first_id = end_by_wrong_codes(payer, path)
    data(payer.post(path))
    data(send_code(payer, path))
    capture_charge(server, first_id)
    server.faults.set([Fault(do="error", on="refund", times=1)])
    send_callback(payer, first_id)
    run_all_jobs()
    execute_sql("UPDATE outbox SET attempts = 39 WHERE kind = 'applications.refund_payment'")
    with use_rail(DisabledRail()):
        for _ in range(3):
            advance_time(70)
    advance_time(70)
    assert fetch_scalar("SELECT refunded_at FROM stall_payment WHERE id = :id", id=first_id) is not None


def make_withdrawable_application(payer: Client) -> tuple[Client, str, str]:
    """A merchant's client, the id of their approved application, and the path of its fee."""
    merchant, owner = (
        create_signed_in_client(payer, create_account("merchant", email=EMAIL)),
        create_organiser_client(payer),
    )
    application = create_application(payer, owner)
    execute_sql(
        "UPDATE merchant_application SET account_id = (SELECT id FROM account WHERE email = :email)", email=EMAIL
    )
    decide_application(owner, application, documentsRequired=[])
    return merchant, application["id"], f"{LIST}/pay/{find_mailed_token('pay')}"


def test_application_with_a_processing_payment_cannot_be_withdrawn(payer: Client, server: MockServer) -> None:
    merchant, application_id, path = make_withdrawable_application(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    assert read_error(merchant.post(f"{LIST}/{application_id}/withdraw")) == IN_PROGRESS
    advance_time(301, server)
    assert data(merchant.post(f"{LIST}/{application_id}/withdraw"))["status"] == "withdrawn"
    assert load_payment_status(payment_id) == "expired"


def test_withdrawal_ends_a_payment_that_waits_for_its_code(payer: Client) -> None:
    merchant, application_id, path = make_withdrawable_application(payer)
    payment_id = data(payer.post(path))["paymentId"]
    assert data(merchant.post(f"{LIST}/{application_id}/withdraw"))["status"] == "withdrawn"
    assert load_payment_status(payment_id) == "expired"


def test_expiry_waits_for_a_payment_that_is_processing(payer: Client, server: MockServer) -> None:
    _, application_id, path = make_withdrawable_application(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    execute_sql("UPDATE event SET ends_at = now() - interval '1 s', starts_at = now() - interval '1 h'")
    run_recurring("applications.expire")
    assert data(payer.get(path))["status"] == "processing"
    capture_charge(server, payment_id)
    advance_time(60)
    run_recurring("applications.expire")
    assert load_payment_status(payment_id) == "paid"
    status = fetch_scalar("SELECT status FROM merchant_application WHERE id = :id", id=application_id)
    assert status == "activated" and list_open_reviews() == []


@pytest.mark.parametrize("closed_status", ["withdrawn", "expired"])
def test_capture_is_recorded_for_an_ended_application(payer: Client, server: MockServer, closed_status: str) -> None:
    admin, path = create_account("admin"), make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    execute_sql("UPDATE merchant_application SET status = :closed", closed=closed_status)
    capture_charge(server, payment_id)
    advance_time(60)
    assert load_payment_status(payment_id) == "paid" and list_open_reviews() == [("application_closed", payment_id)]
    assert fetch_scalar("SELECT paid_at FROM merchant_application") is not None
    assert any(payment_id in mail["text"] for mail in list_mails_to(admin.email))


def test_capture_after_the_deletion_of_the_merchant_makes_a_review(payer: Client, server: MockServer) -> None:
    admin = create_account("admin")
    merchant, _, path = make_withdrawable_application(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    data(merchant.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}))
    assert fetch_scalar("SELECT status FROM merchant_application") == "withdrawn"
    capture_charge(server, payment_id)
    advance_time(60)
    assert load_payment_status(payment_id) == "paid" and list_open_reviews() == [("application_closed", payment_id)]
    assert any(payment_id in mail["text"] for mail in list_mails_to(admin.email))


def send_wrong_codes_at_once(payer: Client) -> Counter[str]:
    """The results of four simultaneous wrong codes, twelve times. One try remains, so the payment goes on."""
    path, codes = make_payable_fee(payer), Counter[str]()
    data(payer.post(path))
    for turn in range(12):
        responses = run_concurrently(
            4,
            lambda n, turn=turn: payer.post(
                f"{path}/payrail/verify-otp", {"code": f"{n:06}"}, environ_base={"REMOTE_ADDR": f"127.9.{turn}.{n}"}
            ),
        )
        codes.update(str(response.get_json()["shortMessage"]) for response in responses)
        execute_sql("UPDATE stall_payment SET tries = 0, answered = 0")
    return codes


def test_simultaneous_wrong_codes_do_not_report_an_expired_payment(payer: Client) -> None:
    codes = send_wrong_codes_at_once(payer)
    assert set(codes) <= {"OTP_WRONG", "SUCCESS"} and codes["OTP_WRONG"] >= 12, codes


@pytest.mark.control
def test_without_a_repeat_the_slower_code_would_not_be_checked(payer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payments, "range", lambda tries: [0], raising=False)
    codes = send_wrong_codes_at_once(payer)
    assert codes["PAYMENT_IN_PROGRESS"] > 0, codes


def test_slower_code_is_still_checked(payer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path, mark_processing, lost_tries = make_payable_fee(payer), payments._mark_processing, iter([False])
    data(payer.post(path))
    monkeypatch.setattr(
        payments, "_mark_processing", lambda *arguments: next(lost_tries, True) and mark_processing(*arguments)
    )
    assert read_error(send_code(payer, path, "000000")) == (422, "OTP_WRONG")


def test_receipt_is_mailed_once(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    capture_charge(server, payment_id)
    for _ in range(3):
        send_callback(payer, payment_id)
    advance_time(int(timedelta(minutes=2).total_seconds()))
    run_jobs()
    assert sum("receipt" in mail["subject"] for mail in list_mails_to(EMAIL)) == 1
