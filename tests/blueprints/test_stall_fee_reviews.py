"""Reviews of stall payments with a live rail: different amounts, contradictions, missing outcomes."""

import pytest

from app.clients.payrail.mock_server import Fault, MockServer
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
from tests.factories.accounts import account, mails_to
from tests.factories.payouts import scalar, work, write
from tests.factories.stall_payments import call, capture, pass_time, reviews, run_recurring, status_of
from tests.http import Client, data, refusal


@pytest.mark.parametrize("operation", ["confirm", "status"])
def test_different_amount_makes_a_review_and_is_not_paid(payer: Client, server: MockServer, operation: str) -> None:
    path = make_payable_fee(payer)
    payment_id = data(payer.post(path))["paymentId"]
    server.faults.set([Fault(do="other_amount", on="any"), *([] if operation == "confirm" else [LOST_CONFIRMATION])])
    if operation == "status":
        server.faults.set([LOST_CONFIRMATION])
    assert data(send_code(payer, path))["status"] == "processing"
    if operation == "status":
        capture(server, payment_id)
        server.faults.set([Fault(do="other_amount", on="status")])
    pass_time(60)
    assert data(payer.get(path))["status"] == "processing" and reviews() == [("mismatch", payment_id)]
    assert refusal(payer.post(path, OTHER_WALLET)) == IN_PROGRESS
    server.faults.set([])
    pass_time(3700)
    assert data(payer.get(path))["status"] == "paid"


@pytest.mark.parametrize("fields", [{"amountMinor": 999999}, {"currency": "ZAR"}])
def test_callback_with_a_different_amount_makes_a_review(
    payer: Client, server: MockServer, fields: dict[str, object]
) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    call(payer, payment_id, **fields)
    work()
    assert reviews() == [("mismatch", payment_id)] and data(payer.get(path))["status"] == "processing"


def test_callback_of_an_unknown_charge_makes_a_review(payer: Client) -> None:
    call(payer, "a" * 24)
    work()
    assert reviews() == [("unknown_reference", "a" * 24)]


def test_unconfirmed_callback_makes_a_review(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = end_by_wrong_codes(payer, path)
    pass_time(301, server)
    call(payer, payment_id)
    work()
    assert reviews() == [("contradiction", payment_id)] and status_of(payment_id) == "expired"


def test_lost_status_check_is_enqueued_again(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    write("UPDATE outbox SET state = 'dead', done_at = now() WHERE kind = 'applications.settle_payment'")
    capture(server, payment_id)
    run_recurring("applications.watch_payments")
    pass_time(60)
    assert status_of(payment_id) == "paid"
    run_recurring("applications.watch_payments")
    assert scalar("SELECT count(*) FROM outbox WHERE kind = 'applications.settle_payment' AND state = 'ready'") == 0


def test_operators_are_mailed_after_three_days_without_an_outcome(payer: Client, server: MockServer) -> None:
    admin, path = account("admin"), make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    server.faults.set([Fault(do="error", on="status")])
    write("UPDATE stall_payment SET created_at = created_at - interval '73 hours'")
    pass_time(60)
    assert reviews() == [("no_outcome", payment_id)]
    assert any(payment_id in mail["text"] for mail in mails_to(admin.email))
    server.faults.set([])
    capture(server, payment_id)
    pass_time(3700)
    assert status_of(payment_id) == "paid"
