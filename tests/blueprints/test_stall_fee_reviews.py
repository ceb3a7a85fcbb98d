"""What a person has to look at about a stall fee: amounts, contradictions, silence. Over HTTP, through a live rail."""

import pytest

from app.clients.payrail.mock_server import Fault, MockServer
from tests.blueprints.test_stall_fee import fee, otp
from tests.blueprints.test_stall_fee_live import journal as journal
from tests.blueprints.test_stall_fee_live import payer as payer
from tests.blueprints.test_stall_fee_live import server as server
from tests.blueprints.test_stall_fee_outcomes import IN_PROGRESS, LOST, OTHER, unanswered, wrong_codes
from tests.factories.accounts import account, mails_to
from tests.factories.payouts import scalar, work, write
from tests.factories.stall_payments import call, capture, pass_time, reviews, run_recurring, status_of
from tests.http import Client, data, refusal


@pytest.mark.parametrize("on", ["confirm", "status"])
def test_another_amount_is_a_review_and_not_paid(payer: Client, server: MockServer, on: str) -> None:
    path = fee(payer)
    started = data(payer.post(path))["paymentId"]
    server.faults.set([Fault(do="other_amount", on="any"), *([] if on == "confirm" else [LOST])])
    if on == "status":
        server.faults.set([LOST])
    assert data(otp(payer, path))["status"] == "processing"
    if on == "status":
        capture(server, started)
        server.faults.set([Fault(do="other_amount", on="status")])
    pass_time(60)
    assert data(payer.get(path))["status"] == "processing" and reviews() == [("mismatch", started)]
    assert refusal(payer.post(path, OTHER)) == IN_PROGRESS
    server.faults.set([])
    pass_time(3700)
    assert data(payer.get(path))["status"] == "paid"


@pytest.mark.parametrize("fields", [{"amountMinor": 999999}, {"currency": "ZAR"}])
def test_a_callback_with_another_amount_is_a_review(
    payer: Client, server: MockServer, fields: dict[str, object]
) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    call(payer, started, **fields)
    work()
    assert reviews() == [("mismatch", started)] and data(payer.get(path))["status"] == "processing"


def test_a_callback_about_a_charge_that_is_not_ours_is_a_review(payer: Client) -> None:
    call(payer, "a" * 24)
    work()
    assert reviews() == [("unknown_reference", "a" * 24)]


def test_a_callback_that_the_rail_does_not_confirm_is_a_review(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    ended = wrong_codes(payer, path)
    pass_time(301, server)
    call(payer, ended)
    work()
    assert reviews() == [("contradiction", ended)] and status_of(ended) == "expired"


def test_a_settlement_job_that_was_lost_is_given_anew(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    write("UPDATE outbox SET state = 'dead', done_at = now() WHERE kind = 'applications.settle_payment'")
    capture(server, started)
    run_recurring("applications.watch_payments")
    pass_time(60)
    assert status_of(started) == "paid"
    run_recurring("applications.watch_payments")
    assert scalar("SELECT count(*) FROM outbox WHERE kind = 'applications.settle_payment' AND state = 'ready'") == 0


def test_after_three_days_without_an_outcome_operators_are_told_and_it_is_asked_on(
    payer: Client, server: MockServer
) -> None:
    boss, path = account("admin"), fee(payer)
    started = unanswered(payer, server, path)
    server.faults.set([Fault(do="error", on="status")])
    write("UPDATE stall_payment SET created_at = created_at - interval '73 hours'")
    pass_time(60)
    assert reviews() == [("no_outcome", started)]
    assert any(started in mail["text"] for mail in mails_to(boss.email))
    server.faults.set([])
    capture(server, started)
    pass_time(3700)
    assert status_of(started) == "paid"
