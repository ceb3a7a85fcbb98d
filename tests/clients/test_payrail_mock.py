"""The numbers of the mock rail: the same number always does the same, and every process sees the same rail."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.clients.payrail import BankAccount, Charge, Outcome, Transfer, TransferOutcome, TransferState, Wallet
from app.clients.payrail.disabled import DisabledRail
from app.clients.payrail.errors import PayrailDisabled
from app.clients.payrail.http_rail import HttpRail
from app.core.transaction import TransactionOpen, transaction
from mock_rail import CODE, MockServer, Pace
from tests.clients.rail import client_of, serving

PACE = Pace(slow_answer=0.2)


@pytest.fixture(scope="module")
def server() -> Iterator[MockServer]:
    with serving(pace=PACE, hang=0.0) as server:
        yield server


@pytest.fixture
def rail(app: Flask, server: MockServer) -> HttpRail:
    server.reset()
    return client_of(app, server.url)


@pytest.fixture
def other_process(app: Flask, server: MockServer) -> HttpRail:
    return client_of(app, server.url)


def start_charge(rail: HttpRail, number: str, reference: str = "a-payment") -> Outcome:
    return rail.start_charge(
        Charge(reference=reference, amount_minor=250000, msisdn=f"+26481123{number}", description="Stall fee")
    ).outcome


def send_transfer(rail: HttpRail, number: str, reference: str = "a-transfer") -> TransferState:
    wallet = Wallet(msisdn=f"+26481123{number}")
    return rail.send_transfer(
        Transfer(reference=reference, amount_minor=90000, destination=wallet, description="Payout")
    )


def read_outcome(rail: HttpRail, reference: str = "a-transfer") -> TransferOutcome:
    return rail.transfer_status(reference).outcome


def test_a_wallet_pays_with_the_code_once_and_for_all(rail: HttpRail, other_process: HttpRail) -> None:
    assert start_charge(rail, "4567") is Outcome.CODE_SENT
    assert rail.confirm_charge("a-payment", "000000").outcome is Outcome.WRONG_CODE
    assert rail.confirm_charge("a-payment", CODE).outcome is Outcome.PAID
    assert rail.confirm_charge("a-payment", "000000").outcome is Outcome.PAID
    assert start_charge(rail, "4567") is Outcome.PAID
    assert other_process.charge_status("a-payment").outcome is Outcome.PAID


@pytest.mark.parametrize(
    ("number", "outcome"), [("0001", Outcome.DECLINED), ("0004", Outcome.PAID), ("0005", Outcome.WRONG_CODE)]
)
def test_documented_numbers_do_what_is_documented(rail: HttpRail, number: str, outcome: Outcome) -> None:
    assert start_charge(rail, number) is Outcome.CODE_SENT
    assert rail.confirm_charge("a-payment", CODE).outcome is outcome


def test_0002_commits_and_is_known_as_paid_only_later(rail: HttpRail, server: MockServer) -> None:
    start_charge(rail, "0002")
    assert rail.confirm_charge("a-payment", CODE).outcome is Outcome.UNKNOWN
    assert rail.charge_status("a-payment").outcome is Outcome.UNKNOWN
    server.clock.ahead += 30
    assert rail.charge_status("a-payment").outcome is Outcome.PAID


def test_a_code_expires_after_five_minutes(rail: HttpRail, server: MockServer) -> None:
    start_charge(rail, "4567")
    server.clock.ahead += 300
    assert rail.confirm_charge("a-payment", CODE).outcome is Outcome.EXPIRED
    assert rail.charge_status("a-payment").outcome is Outcome.EXPIRED


def test_0003_answers_late(rail: HttpRail) -> None:
    begun = time.monotonic()
    assert start_charge(rail, "0003") is Outcome.CODE_SENT
    assert time.monotonic() - begun >= 0.2 and Pace().slow_answer == 5


@pytest.mark.parametrize(
    ("number", "outcome"),
    [("4567", "paid"), ("0001", "failed"), ("0002", "unknown"), ("0003", "paid"), ("0004", "paid"), ("0005", "paid")],
)
def test_a_transfer_to_a_documented_number_does_what_is_documented(rail: HttpRail, number: str, outcome: str) -> None:
    assert send_transfer(rail, number).outcome is TransferOutcome(outcome)
    state = rail.transfer_status("a-transfer")
    assert (state.outcome.value, state.amount_minor, state.currency) == (outcome, 90000, "NAD")


def test_a_transfer_may_become_known_or_bounce_later(
    rail: HttpRail, other_process: HttpRail, server: MockServer
) -> None:
    send_transfer(rail, "0002", "unknown-yet")
    send_transfer(rail, "0004", "bounces")
    server.clock.ahead += 60
    assert (read_outcome(rail, "unknown-yet"), read_outcome(rail, "bounces")) == (
        TransferOutcome.PAID,
        TransferOutcome.RETURNED,
    )
    assert other_process.transfer_status("bounces").reason == "bounced"


def test_a_transfer_is_what_was_sent_first_under_its_reference(rail: HttpRail) -> None:
    account = BankAccount(
        account_name="Kapana Corner", account_number="62000990001", bank_name="FNB", branch_code="280172"
    )
    rail.send_transfer(Transfer(reference="a-transfer", amount_minor=100, destination=account, description="Payout"))
    assert send_transfer(rail, "4567").outcome is TransferOutcome.UNKNOWN, "the reference belongs to another amount"
    state = rail.transfer_status("a-transfer")
    assert (state.outcome, state.amount_minor, state.reason) == (TransferOutcome.FAILED, 100, "declined")
    assert "62000990001" not in repr(account) and "Kapana" not in repr(account)


def test_a_reference_that_nobody_sent_is_not_found(rail: HttpRail) -> None:
    assert read_outcome(rail) is TransferOutcome.NOT_FOUND


def test_call_inside_a_transaction_raises(rail: HttpRail) -> None:
    with pytest.raises(TransactionOpen), transaction():
        start_charge(rail, "4567")


def test_an_unknown_reference_is_no_payment(rail: HttpRail) -> None:
    assert rail.confirm_charge("nothing", CODE).outcome is Outcome.UNKNOWN
    assert rail.charge_status("nothing").outcome is Outcome.DECLINED


def test_a_disabled_rail_refuses(app: Flask) -> None:
    with pytest.raises(PayrailDisabled):
        DisabledRail().check()
    assert DisabledRail().charge_status("a-payment").outcome is Outcome.UNKNOWN
    assert DisabledRail().transfer_status("a-transfer").outcome is TransferOutcome.UNKNOWN


def test_a_server_killed_while_it_wrote_starts_again(app: Flask, tmp_path: Path) -> None:
    """A line without its end was written before any response, so the rail does not know that transfer."""
    journal = tmp_path / "journal"
    with serving(journal) as server:
        send_transfer(client_of(app, server.url), "4567")
    complete = journal.read_bytes()
    journal.write_bytes(complete + complete[:40].replace(b"a-transfer", b"b-transfer"))
    with serving(journal) as server:
        rail = client_of(app, server.url)
        assert read_outcome(rail, "a-transfer") is TransferOutcome.PAID
        send_transfer(rail, "4567", "c-transfer")
    assert len(journal.read_bytes().splitlines()) > len(complete.splitlines())
    with serving(journal) as server:
        assert read_outcome(client_of(app, server.url), "c-transfer") is TransferOutcome.PAID
