"""The commands of `flask stall-payments`."""

from pathlib import Path

from flask import Flask

from mock_rail import Fault, MockServer
from tests.blueprints.test_stall_fee import make_payable_fee, send_code
from tests.blueprints.test_stall_fee_live import journal as journal
from tests.blueprints.test_stall_fee_live import payer as payer
from tests.blueprints.test_stall_fee_live import server as server
from tests.blueprints.test_stall_fee_outcomes import end_by_wrong_codes, make_unanswered_payment
from tests.factories.payouts import execute_sql, fetch_scalar, run_all_jobs
from tests.factories.stall_payments import (
    advance_time,
    capture_charge,
    list_open_reviews,
    load_payment_status,
    send_callback,
)
from tests.http import Client, data


def run(payer: Client, *arguments: str) -> tuple[int, str]:
    """Exit code and output of a command."""
    result = payer.flask.application.test_cli_runner().invoke(args=["stall-payments", *arguments])
    return result.exit_code, result.output


def test_operator_reports_queries_and_resolves_a_payment(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    reference = data(payer.get(path))["reference"]
    for identifier in (reference, reference.lower(), payment_id):
        code, output = run(payer, "report", identifier)
        assert code == 0 and payment_id in output and "without a final answer" in output and "1 payment\n" in output
    assert run(payer, "ask", payment_id) == (
        0,
        "the rail says code_sent; the payment is processing, without a final answer of the rail\n",
    )
    assert run(payer, "resolve", payment_id, "not-taken", "--note", "the rail looked")[1] == "the payment is expired\n"
    assert data(payer.get(path))["status"] == "due"
    code, output = run(payer, "resolve", payment_id, "paid", "--note", "no")
    assert code == 1 and "only a payment without an outcome" in output
    assert run(payer, "ask", "a" * 24) == (1, f"Error: There is no stall payment {'a' * 24}.\n")


def test_operator_resolves_a_payment_as_paid(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    server.faults.set([Fault(do="error", on="status")])
    execute_sql("UPDATE stall_payment SET created_at = created_at - interval '73 hours'")
    advance_time(60)
    code, output = run(payer, "review")
    assert code == 0 and "no_outcome" in output and payment_id in output and output.endswith("1 open\n")
    assert run(payer, "resolve", payment_id, "paid", "--note", "statement of the rail")[1] == "the payment is paid\n"
    assert list_open_reviews() == [] and data(payer.get(path))["status"] == "paid"


def test_operator_resolves_a_second_capture_as_refunded(payer: Client, server: MockServer, journal: Path) -> None:
    path = make_payable_fee(payer)
    first = end_by_wrong_codes(payer, path)
    data(payer.post(path))
    data(send_code(payer, path))
    capture_charge(server, first)
    server.faults.set([Fault(do="error", on="refund")])
    send_callback(payer, first)
    run_all_jobs()
    assert "taken again and not refunded" in run(payer, "review")[1]
    output = run(payer, "resolve", first, "refunded", "--note", "by hand")[1]
    assert output == "the payment is expired, taken again and refunded\n" and list_open_reviews() == []


def test_review_that_a_resolution_adds_stays_open(payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    server.faults.set([Fault(do="error", on="status")])
    execute_sql("UPDATE stall_payment SET created_at = created_at - interval '73 hours'")
    advance_time(60)
    execute_sql("UPDATE merchant_application SET status = 'expired'")
    assert list_open_reviews() == [("no_outcome", payment_id)]
    assert run(payer, "resolve", payment_id, "paid", "--note", "statement of the rail")[1] == "the payment is paid\n"
    assert list_open_reviews() == [("application_closed", payment_id)]


def test_closing_a_review_changes_nothing_else(app: Flask, payer: Client, server: MockServer) -> None:
    path = make_payable_fee(payer)
    payment_id = make_unanswered_payment(payer, server, path)
    send_callback(payer, payment_id, amountMinor=999999)
    run_all_jobs()
    assert run(payer, "seen", payment_id, "--note", "a forged amount") == (0, "1 closed\n")
    assert list_open_reviews() == [] and load_payment_status(payment_id) == "processing"
    assert fetch_scalar("SELECT note FROM stall_payment_review") == "a forged amount"
