"""`flask stall-payments`: what operators see and do."""

from pathlib import Path

from flask import Flask

from app.clients.payrail.mock_server import Fault, MockServer
from tests.blueprints.test_stall_fee import fee, otp
from tests.blueprints.test_stall_fee_live import journal as journal
from tests.blueprints.test_stall_fee_live import payer as payer
from tests.blueprints.test_stall_fee_live import server as server
from tests.blueprints.test_stall_fee_outcomes import unanswered, wrong_codes
from tests.factories.payouts import scalar, work, write
from tests.factories.stall_payments import call, capture, pass_time, reviews, status_of
from tests.http import Client, data


def run(payer: Client, *words: str) -> tuple[int, str]:
    """Exit code and output of a command."""
    done = payer.flask.application.test_cli_runner().invoke(args=["stall-payments", *words])
    return done.exit_code, done.output


def test_a_payment_is_reported_asked_about_and_resolved(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    reference = data(payer.get(path))["reference"]
    for named in (reference, reference.lower(), started):
        code, said = run(payer, "report", named)
        assert code == 0 and started in said and "without a final answer" in said and "1 payments" in said
    assert run(payer, "ask", started) == (
        0,
        "the rail says code_sent; the payment is processing, without a final answer of the rail\n",
    )
    assert run(payer, "resolve", started, "not-taken", "--note", "the rail looked")[1] == "the payment is expired\n"
    assert data(payer.get(path))["status"] == "due"
    code, said = run(payer, "resolve", started, "paid", "--note", "no")
    assert code == 1 and "only a payment without an outcome" in said
    assert run(payer, "ask", "a" * 24) == (1, f"Error: There is no stall payment {'a' * 24}.\n")


def test_an_operator_says_that_it_was_paid(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    server.faults.set([Fault(do="error", on="status")])
    write("UPDATE stall_payment SET created_at = created_at - interval '73 hours'")
    pass_time(60)
    code, said = run(payer, "review")
    assert code == 0 and "no_outcome" in said and started in said and said.endswith("1 open\n")
    assert run(payer, "resolve", started, "paid", "--note", "statement of the rail")[1] == "the payment is paid\n"
    assert reviews() == [] and data(payer.get(path))["status"] == "paid"


def test_money_that_was_taken_twice_and_not_given_back_is_resolved_by_hand(
    payer: Client, server: MockServer, journal: Path
) -> None:
    path = fee(payer)
    first = wrong_codes(payer, path)
    data(payer.post(path))
    data(otp(payer, path))
    capture(server, first)
    server.faults.set([Fault(do="error", on="refund")])
    call(payer, first)
    work()
    assert "taken again and not refunded" in run(payer, "review")[1]
    said = run(payer, "resolve", first, "refunded", "--note", "by hand")[1]
    assert said == "the payment is expired, taken again and refunded\n" and reviews() == []


def test_what_an_operators_word_itself_gives_to_look_at_stays_open(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    server.faults.set([Fault(do="error", on="status")])
    write("UPDATE stall_payment SET created_at = created_at - interval '73 hours'")
    pass_time(60)
    write("UPDATE merchant_application SET status = 'expired'")
    assert reviews() == [("no_outcome", started)]
    assert run(payer, "resolve", started, "paid", "--note", "statement of the rail")[1] == "the payment is paid\n"
    assert reviews() == [("application_closed", started)]


def test_a_review_is_closed_without_changing_anything(app: Flask, payer: Client, server: MockServer) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    call(payer, started, amountMinor=999999)
    work()
    assert run(payer, "seen", started, "--note", "a forged amount") == (0, "1 closed\n")
    assert reviews() == [] and status_of(started) == "processing"
    assert scalar("SELECT note FROM stall_payment_review") == "a forged amount"
