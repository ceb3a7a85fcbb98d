"""A code at the moment of a withdrawal, of the end of the event, of a retirement. With the guards off as well."""

import time
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import false, func, update

from app.applications import erasure, jobs
from app.applications.actions import decisions, payments
from app.applications.models import StallPayment
from app.clients.payrail.mock import MockRail
from app.core.transaction import transaction
from app.merchants.deletion_hooks import MerchantDeletion
from tests.blueprints.test_stall_fee import otp
from tests.blueprints.test_stall_fee_outcomes import withdrawable
from tests.factories.applications import LIST
from tests.factories.payouts import scalar, write
from tests.factories.stall_payments import reviews, run_recurring
from tests.http import Client, data
from tests.races import at_once

HELD = 0.4
EVENT_OVER = "UPDATE event SET ends_at = now() - interval '1 s', starts_at = now() - interval '1 h'"


def claim_whatever_the_application(payment_id: str) -> Any:
    """The claim of a payment as it was before it looked at the application."""
    waiting = (
        StallPayment.id == payment_id,
        StallPayment.status == "otp_required",
        StallPayment.expires_at > func.now(),
    )
    taken = update(StallPayment).where(*waiting).values(status="processing", tries=StallPayment.tries + 1)
    return taken.returning(StallPayment.id).execution_options(synchronize_session=False)


def code_during_a_withdrawal(client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The states of application and payment after a code that comes when the withdrawal has looked for payments."""
    merchant, application_id, path = withdrawable(client)
    data(client.post(path))
    moved = decisions.set_status

    def moved_slowly(*arguments: Any) -> None:
        time.sleep(HELD)
        moved(*arguments)

    def act(number: int) -> None:
        if number == 0:
            merchant.post(f"{LIST}/{application_id}/withdraw")
        else:
            time.sleep(HELD / 2)
            otp(client, path)

    monkeypatch.setattr(decisions, "set_status", moved_slowly)
    at_once(2, act)
    return scalar("SELECT status FROM merchant_application"), scalar("SELECT status FROM stall_payment")


def test_a_code_that_comes_during_a_withdrawal_takes_nothing(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert code_during_a_withdrawal(client, monkeypatch) == ("withdrawn", "expired")
    assert scalar("SELECT state FROM payrail_mock_charge") == "open"


@pytest.mark.control
def test_without_a_look_at_the_application_it_would(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payments, "mark_processing_sql", claim_whatever_the_application)
    monkeypatch.setattr(decisions.stall_payments, "end_open_payment", lambda session, application_id: None)
    assert code_during_a_withdrawal(client, monkeypatch) == ("withdrawn", "paid")


def code_at_the_end_of_the_event(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch, *, confirms_first: bool
) -> tuple[str, str]:
    """The states of application and payment after a code and the end of the event at once."""
    _, _, path = withdrawable(client)
    data(client.post(path))
    confirm = MockRail.confirm_charge

    def confirmed_slowly(self: MockRail, reference: str, code: str) -> Any:
        time.sleep(HELD)
        return confirm(self, reference, code)

    def act(number: int) -> None:
        time.sleep(HELD / 2 if confirms_first == (number == 1) else 0)
        with app.app_context():
            if number == 0:
                otp(client, path)
            else:
                write(EVENT_OVER)
                run_recurring("applications.expire")

    monkeypatch.setattr(MockRail, "confirm_charge", confirmed_slowly)
    at_once(2, act)
    return scalar("SELECT status FROM merchant_application"), scalar("SELECT status FROM stall_payment")


@pytest.mark.parametrize("confirms_first", [True, False])
def test_of_a_code_and_the_end_of_the_event_one_counts(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch, confirms_first: bool
) -> None:
    """Whichever comes first: an application that has expired is not paid afterwards."""
    found = code_at_the_end_of_the_event(app, client, monkeypatch, confirms_first=confirms_first)
    assert found in (("ready", "paid"), ("expired", "paid"), ("expired", "expired")) and reviews() == []


@pytest.mark.control
def test_without_waiting_for_the_payment_an_expired_application_is_paid(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "UNANSWERED_SQL", false())
    found = code_at_the_end_of_the_event(app, client, monkeypatch, confirms_first=True)
    assert found == ("expired", "paid") and [kind for kind, _ in reviews()] == ["application_closed"]


def retirement_during_a_code(app: Flask, client: Client) -> str:
    """The state of the application after its account was retired while a code was being claimed."""
    _, application_id, path = withdrawable(client)
    started = data(client.post(path))["paymentId"]
    account_id = scalar("SELECT account_id FROM merchant_application WHERE id = :id", id=application_id)
    claimed = Event()

    def act(number: int) -> None:
        with app.app_context():
            if number == 0:
                with transaction() as session:
                    session.execute(payments.mark_processing_sql(started))
                    claimed.set()
                    time.sleep(HELD)
            else:
                claimed.wait(10)
                with transaction() as session:
                    erasure.erase_merchant_applications(session, MerchantDeletion(account_id, retired=True))

    at_once(2, act)
    return str(scalar("SELECT status FROM merchant_application WHERE id = :id", id=application_id))


def test_a_retired_account_leaves_the_application_whose_code_is_being_claimed(app: Flask, client: Client) -> None:
    assert retirement_during_a_code(app, client) == "awaiting_payment"
