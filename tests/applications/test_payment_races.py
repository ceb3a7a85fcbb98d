"""A code during a withdrawal, the end of the event, or a retirement. Controls run without the guards."""

import time
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import false, func, update

from app.applications import erasure, jobs
from app.applications.actions import decisions, payments
from app.applications.models import Application, StallPayment
from app.clients.payrail.http_rail import HttpRail
from app.core.transaction import transaction
from app.merchants.deletion_hooks import MerchantDeletion
from mock_rail import MockServer
from tests.blueprints.test_stall_fee import send_code
from tests.blueprints.test_stall_fee_outcomes import make_withdrawable_application
from tests.factories.applications import LIST
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.factories.stall_payments import list_open_reviews, run_recurring
from tests.http import Client, data
from tests.races import run_concurrently
from tests.waiting import MAX_SECONDS

HOLD_SECONDS = 0.4
EVENT_OVER = "UPDATE event SET ends_at = now() - interval '1 s', starts_at = now() - interval '1 h'"


def mark_processing_without_application(payment_id: str) -> Any:
    """The update to `processing` without the condition on the application."""
    conditions = (
        StallPayment.id == payment_id,
        StallPayment.status == "otp_required",
        StallPayment.expires_at > func.now(),
    )
    statement = update(StallPayment).where(*conditions).values(status="processing", tries=StallPayment.tries + 1)
    return statement.returning(StallPayment.id).execution_options(synchronize_session=False)


def code_during_a_withdrawal(client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The states of application and payment after a code that arrives once the withdrawal has checked the payments."""
    merchant, application_id, path = make_withdrawable_application(client)
    data(client.post(path))
    set_status = Application.set_status

    def set_status_slowly(self: Application, status: str) -> None:
        time.sleep(HOLD_SECONDS)
        set_status(self, status)

    def act(number: int) -> None:
        if number == 0:
            merchant.post(f"{LIST}/{application_id}/withdraw")
        else:
            time.sleep(HOLD_SECONDS / 2)
            send_code(client, path)

    monkeypatch.setattr(Application, "set_status", set_status_slowly)
    run_concurrently(2, act)
    return fetch_scalar("SELECT status FROM merchant_application"), fetch_scalar("SELECT status FROM stall_payment")


def test_code_during_a_withdrawal_charges_nothing(
    app: Flask, client: Client, rail_server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert code_during_a_withdrawal(client, monkeypatch) == ("withdrawn", "expired")
    assert [charge.state for charge in rail_server.store.list_charges()] == ["open"]


@pytest.mark.control
def test_without_the_check_of_the_application_the_code_would_charge(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payments, "mark_processing_sql", mark_processing_without_application)
    monkeypatch.setattr(decisions.stall_payments, "end_open_payment", lambda session, application_id: None)
    assert code_during_a_withdrawal(client, monkeypatch) == ("withdrawn", "paid")


def code_at_the_end_of_the_event(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch, *, confirms_first: bool
) -> tuple[str, str]:
    """The states of application and payment after a code at the same time as the end of the event."""
    _, _, path = make_withdrawable_application(client)
    data(client.post(path))
    confirm = HttpRail.confirm_charge
    confirming, expired = Event(), Event()

    def confirm_after_the_expiry(self: HttpRail, reference: str, code: str) -> Any:
        confirming.set()
        assert expired.wait(MAX_SECONDS)
        return confirm(self, reference, code)

    def send() -> None:
        if not confirms_first:
            time.sleep(HOLD_SECONDS / 2)
        send_code(client, path)

    def expire() -> None:
        if confirms_first:
            assert confirming.wait(MAX_SECONDS)
        execute_sql(EVENT_OVER)
        run_recurring("applications.expire")
        expired.set()

    def act(number: int) -> None:
        with app.app_context():
            (send, expire)[number]()

    monkeypatch.setattr(HttpRail, "confirm_charge", confirm_after_the_expiry)
    run_concurrently(2, act)
    return fetch_scalar("SELECT status FROM merchant_application"), fetch_scalar("SELECT status FROM stall_payment")


@pytest.mark.parametrize("confirms_first", [True, False])
def test_expired_application_is_not_paid_afterwards(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch, confirms_first: bool
) -> None:
    """In either order, an expired application is not paid afterwards."""
    statuses = code_at_the_end_of_the_event(app, client, monkeypatch, confirms_first=confirms_first)
    assert (
        statuses in (("activated", "paid"), ("expired", "paid"), ("expired", "expired")) and list_open_reviews() == []
    )


@pytest.mark.control
def test_without_waiting_for_the_payment_an_expired_application_would_be_paid(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "UNANSWERED_SQL", false())
    statuses = code_at_the_end_of_the_event(app, client, monkeypatch, confirms_first=True)
    assert statuses == ("expired", "paid") and [kind for kind, _ in list_open_reviews()] == ["application_closed"]


def retirement_during_a_code(app: Flask, client: Client) -> str:
    """The state of the application after its account was retired while a code was being checked."""
    _, application_id, path = make_withdrawable_application(client)
    payment_id = data(client.post(path))["paymentId"]
    account_id = fetch_scalar("SELECT account_id FROM merchant_application WHERE id = :id", id=application_id)
    is_marked = Event()

    def act(number: int) -> None:
        with app.app_context():
            if number == 0:
                with transaction() as session:
                    session.execute(payments.mark_processing_sql(payment_id))
                    is_marked.set()
                    time.sleep(HOLD_SECONDS)
            else:
                is_marked.wait(90)
                with transaction() as session:
                    erasure.erase_merchant_applications(session, MerchantDeletion(account_id, retired=True))

    run_concurrently(2, act)
    return str(fetch_scalar("SELECT status FROM merchant_application WHERE id = :id", id=application_id))


def test_retirement_keeps_the_application_of_a_code_in_progress(app: Flask, client: Client) -> None:
    assert retirement_during_a_code(app, client) == "awaiting_payment"
