"""Reviews of stall payments with a live rail: different amounts, contradictions, missing outcomes."""

import pytest

from mock_rail import Fault, MockServer
from tests.blueprints.test_stall_fee import make_payable_fee, send_code
from tests.blueprints.test_stall_fee_live import journal as journal
from tests.blueprints.test_stall_fee_live import payer as payer
from tests.blueprints.test_stall_fee_live import server as server
from tests.blueprints.test_stall_fee_outcomes import (
    IN_PROGRESS,
    LOST_CONFIRMATION,
    OTHER_WALLET,
    end_by_wrong_codes,
    make_unanswered_payment,
)
from tests.factories.accounts import create_account, list_mails_to
from tests.factories.payouts import execute_sql, fetch_scalar, run_all_jobs
from tests.factories.stall_payments import (
    advance_time,
    capture_charge,
    list_open_reviews,
    load_payment_status,
    run_recurring,
    send_callback,
)
from tests.http import Client, data, read_error


@pytest.mark.parametrize("operation", ["confirm", "status"])
def test_different_amount_makes_a_review_and_is_not_paid(payer: Client, server: MockServer, operation: str) -> None:
    path = make_payable_fee(payer)
    payment_id = data(payer.post(path))["paymentId"]
    server.faults.set([Fault(do="other_amount", on="any"), *([] if operation == "confirm" else [LOST_CONFIRMATION])])
    if operation == "status":
        server.faults.set([LOST_CONFIRMATION])
    assert data(send_code(payer, path))["status"] == "processing"
    if operation == "status":
        capture_charge(server, payment_id)
        server.faults.set([Fault(do="other_amount", on="status")])
    advance_time(60)
    assert data(payer.get(path))["status"] == "processing" and list_open_reviews() == [("mismatch", payment_id)]
    assert read_error(payer.post(path, OTHER_WALLET)) == IN_PROGRESS
    server.faults.set([])
    advance_time(3700)
    assert data(payer.get(path))["status"] == "paid"


@pytest.mark.parametrize("fields", [{"amountMinor": 999999}, {"currency": "ZAR"}])
def test_callback_with_a_different_amount_makes_a_review(
    payer: Client, server: MockServer, fields: dict[str, object]
) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    send_callback(payer, payment_id, **fields)
    run_all_jobs()
    assert list_open_reviews() == [("mismatch", payment_id)] and data(payer.get(path))["status"] == "processing"


def test_callback_of_an_unknown_charge_makes_a_review(payer: Client) -> None:
    send_callback(payer, "a" * 24)
    run_all_jobs()
    assert list_open_reviews() == [("unknown_reference", "a" * 24)]


def test_unconfirmed_callback_makes_a_review(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = end_by_wrong_codes(payer, path)
    advance_time(301, server)
    send_callback(payer, payment_id)
    run_all_jobs()
    assert list_open_reviews() == [("contradiction", payment_id)] and load_payment_status(payment_id) == "expired"


def test_lost_status_check_is_enqueued_again(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    execute_sql("UPDATE outbox SET state = 'dead', done_at = now() WHERE kind = 'applications.settle_payment'")
    capture_charge(server, payment_id)
    run_recurring("applications.watch_payments")
    advance_time(60)
    assert load_payment_status(payment_id) == "paid"
    run_recurring("applications.watch_payments")
    assert (
        fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'applications.settle_payment' AND state = 'ready'") == 0
    )


def test_operators_are_mailed_after_three_days_without_an_outcome(payer: Client, server: MockServer) -> None:
    admin, path = create_account("admin"), make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    server.faults.set([Fault(do="error", on="status")])
    execute_sql("UPDATE stall_payment SET created_at = created_at - interval '73 hours'")
    advance_time(60)
    assert list_open_reviews() == [("no_outcome", payment_id)]
    assert any(payment_id in mail["text"] for mail in list_mails_to(admin.email))
    server.faults.set([])
    capture_charge(server, payment_id)
    advance_time(3700)
    assert load_payment_status(payment_id) == "paid"
