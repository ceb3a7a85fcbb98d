"""The mock rail: the same numbers always do the same, and every process sees the same rail."""

import time
from datetime import timedelta

import pytest
from flask import Flask

from app.clients.payrail import BankAccount, Charge, Outcome, Transfer, TransferOutcome, TransferState, Wallet
from app.clients.payrail.disabled import DisabledRail
from app.clients.payrail.errors import PayrailDisabled
from app.clients.payrail.mock import MockRail
from app.clients.payrail.mock_rules import CODE, Pace
from app.core.transaction import TransactionOpen, transaction

PACE = Pace(late=timedelta(seconds=0.2), known_after=timedelta(seconds=0.5), bounces_after=timedelta(seconds=0.5))
RAIL = MockRail(PACE)


def started(number: str, reference: str = "a-payment") -> Outcome:
    return RAIL.start_charge(
        Charge(reference=reference, amount_minor=250000, msisdn=f"+26481123{number}", description="Stall fee")
    ).outcome


def sent(number: str, reference: str = "a-transfer") -> TransferState:
    wallet = Wallet(msisdn=f"+26481123{number}")
    return RAIL.send_transfer(
        Transfer(reference=reference, amount_minor=90000, destination=wallet, description="Payout")
    )


def told(reference: str = "a-transfer") -> TransferOutcome:
    return MockRail().transfer_status(reference).outcome


def test_a_wallet_pays_with_the_code_once_and_for_all(app: Flask) -> None:
    assert started("4567") is Outcome.CODE_SENT
    assert RAIL.confirm_charge("a-payment", "000000").outcome is Outcome.WRONG_CODE
    assert RAIL.confirm_charge("a-payment", CODE).outcome is Outcome.PAID
    assert RAIL.confirm_charge("a-payment", "000000").outcome is Outcome.PAID
    assert started("4567") is Outcome.PAID
    assert MockRail().charge_status("a-payment").outcome is Outcome.PAID


@pytest.mark.parametrize(
    ("number", "outcome"), [("0001", Outcome.DECLINED), ("0004", Outcome.PAID), ("0005", Outcome.WRONG_CODE)]
)
def test_documented_numbers_do_what_is_documented(app: Flask, number: str, outcome: Outcome) -> None:
    assert started(number) is Outcome.CODE_SENT
    assert RAIL.confirm_charge("a-payment", CODE).outcome is outcome


def test_0002_commits_and_is_known_as_paid_only_later(app: Flask) -> None:
    started("0002")
    assert RAIL.confirm_charge("a-payment", CODE).outcome is Outcome.UNKNOWN
    assert RAIL.charge_status("a-payment").outcome is Outcome.UNKNOWN
    time.sleep(0.6)
    assert RAIL.charge_status("a-payment").outcome is Outcome.PAID
    assert Pace().known_after == timedelta(seconds=30)


def test_0003_answers_late(app: Flask) -> None:
    begun = time.monotonic()
    assert started("0003") is Outcome.CODE_SENT
    assert time.monotonic() - begun >= 0.2 and Pace().late == timedelta(seconds=5)


@pytest.mark.parametrize(
    ("number", "outcome"),
    [("4567", "paid"), ("0001", "failed"), ("0002", "unknown"), ("0003", "paid"), ("0004", "paid"), ("0005", "paid")],
)
def test_a_transfer_to_a_documented_number_does_what_is_documented(app: Flask, number: str, outcome: str) -> None:
    state = sent(number)
    assert state.outcome is TransferOutcome(outcome)
    assert (state.amount_minor, state.currency) == (90000, "NAD")
    assert told() is state.outcome


def test_a_transfer_may_become_known_or_bounce_later(app: Flask) -> None:
    sent("0002", "unknown-yet")
    sent("0004", "bounces")
    time.sleep(0.6)
    assert (told("unknown-yet"), told("bounces")) == (TransferOutcome.PAID, TransferOutcome.RETURNED)
    assert MockRail().transfer_status("bounces").reason == "bounced"
    assert Pace().bounces_after == timedelta(seconds=60)


def test_a_transfer_is_what_was_sent_first_under_its_reference(app: Flask) -> None:
    account = BankAccount(
        account_name="Kapana Corner", account_number="62000990001", bank_name="FNB", branch_code="280172"
    )
    RAIL.send_transfer(Transfer(reference="a-transfer", amount_minor=100, destination=account, description="Payout"))
    state = sent("4567")
    assert (state.outcome, state.amount_minor, state.reason) == (TransferOutcome.FAILED, 100, "declined")
    assert "62000990001" not in repr(account) and "Kapana" not in repr(account)


def test_a_reference_that_nobody_sent_is_not_found(app: Flask) -> None:
    assert told() is TransferOutcome.NOT_FOUND


def test_call_inside_a_transaction_raises(app: Flask) -> None:
    with pytest.raises(TransactionOpen), transaction():
        started("4567")


def test_an_unknown_reference_is_no_payment(app: Flask) -> None:
    assert RAIL.confirm_charge("nothing", CODE).outcome is Outcome.DECLINED
    assert RAIL.charge_status("nothing").outcome is Outcome.DECLINED


def test_a_disabled_rail_refuses(app: Flask) -> None:
    with pytest.raises(PayrailDisabled):
        DisabledRail().check()
    assert DisabledRail().charge_status("a-payment").outcome is Outcome.UNKNOWN
    assert DisabledRail().transfer_status("a-transfer").outcome is TransferOutcome.UNKNOWN
