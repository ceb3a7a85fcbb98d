"""The model of one stall payment: whatever the rail answers, calls back or forgets, and whenever applicant and event
end, all money at the rail is in our books or in a review, and nothing is taken twice by us."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from flask import Flask, current_app
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from app.clients.payrail import Outcome
from app.core.db import db
from mock_rail import CODE
from tests.blueprints.test_stall_fee_outcomes import make_withdrawable_application
from tests.clients.rail import SECRET
from tests.conftest import empty
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client
from tests.factories.applications import LIST
from tests.factories.payouts import assert_ledger_integrity, execute_sql, fetch_scalar, run_all_jobs, use_rail
from tests.factories.stall_payments import advance_time, run_recurring, send_callback
from tests.http import Client
from tests.models.charges import ANSWERS, START_ANSWERS, TAKEN, Died, ModelRail, Truth
from tests.models.profile import model_settings

ANSWERED = st.sampled_from(ANSWERS)
WALLETS = (None, "+264811234567", "+264817654321")
BOOKED = """
    SELECT count(*) FROM stall_payment p JOIN merchant_application a ON a.id = p.application_id
     WHERE p.id = :id AND p.status = 'paid' AND p.amount_minor = :amount AND a.paid_at IS NOT NULL"""
OTHER_AMOUNT = "SELECT count(*) FROM stall_payment_review WHERE reference = :id AND kind = 'mismatch'"
SENT_BACK = """
    SELECT count(*) FROM stall_payment p JOIN stall_fee_refund f USING (application_id)
     WHERE p.id = :id AND p.status = 'paid' AND f.status = 'refunded' AND f.method = 'rail'"""
REFUND = """
    (SELECT a.paid_at IS NOT NULL AS paid, f.status, f.method
       FROM merchant_application a LEFT JOIN stall_fee_refund f ON f.application_id = a.id) refund"""
NOT_CREDITED = """
    SELECT count(*) FROM stall_fee_refund f LEFT JOIN stall_fee_credit_note c USING (application_id)
     WHERE coalesce(-c.total_minor, 0) <> CASE f.status WHEN 'refunded' THEN f.amount_minor ELSE 0 END"""
REVIEWED = "SELECT count(*) FROM stall_payment_review WHERE reference = :id AND resolved_at IS NULL"
WALLETS_LEFT = "SELECT count(*) FROM stall_payment WHERE msisdn <> '' AND (tries = answered OR status = 'paid')"
LEFT = """
    SELECT count(*) FROM stall_payment WHERE tries > answered AND status <> 'paid'
       AND id NOT IN (SELECT reference FROM stall_payment_review WHERE kind = 'mismatch')"""


class StallPayment(RuleBasedStateMachine):
    """One application, its fee, and the rail."""

    def __init__(self) -> None:
        super().__init__()
        app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
        empty(app)
        self.around = use_rail(ModelRail())
        self.rail: ModelRail = self.around.__enter__()
        self.client = Client(app.test_client())
        self.addresses = (f"127.{n // 250 % 250}.{n % 250}.9" for n in count(1))
        self.merchant, self.application_id, self.path = make_withdrawable_application(self.client)
        self.organiser = create_signed_in_client(self.client, create_account("admin"))
        self.callbacks_come = True
        self.deleted = False
        self.event_is_over = False
        self.confirmations = 0

    def teardown(self) -> None:
        try:
            self._settle_everything()
            self._all_money_is_known()
        finally:
            self.around.__exit__(None, None, None)

    @rule(wallet=st.sampled_from(WALLETS), right=st.sampled_from([True, True, True, False]), answer=ANSWERED)
    def pay(self, wallet: str | None, right: bool, answer: str) -> None:
        """Start and code, one after the other: without it most runs take no money at all."""
        self.start(wallet, "at_once")
        self.confirm(right, answer)

    @initialize(wallet=st.sampled_from(WALLETS), answer=ANSWERED)
    def begin(self, wallet: str | None, answer: str) -> None:
        self.pay(wallet, True, answer)

    @rule(wallet=st.sampled_from(WALLETS), answer=st.sampled_from(START_ANSWERS))
    def start(self, wallet: str | None, answer: str) -> None:
        execute_sql("DELETE FROM throttle")
        self.rail.start_answer = answer
        waiting = self._may_be_taken()
        before = len(self.rail.charges)
        answered = self._post(self.path, {"payrailMsisdn": wallet} if wallet else {})
        assert answered.status_code in (200, 402, 409, 410, 503), answered.get_data(as_text=True)
        self.rail.start_answer = "at_once"
        if waiting or self.event_is_over:
            assert len(self.rail.charges) == before, "a new charge while the last may be taken, or after the event"

    @rule(right=st.booleans(), answer=ANSWERED)
    def confirm(self, right: bool, answer: str) -> None:
        self.rail.answer = answer
        self.confirmations += 1
        before = dict(self.rail.charges)
        with suppress(Died):
            answered = self._post(f"{self.path}/payrail/verify-otp", {"code": CODE if right else "000000"})
            assert answered.status_code in (200, 409, 410, 422, 503), answered.get_data(as_text=True)
        self.rail.answer = "at_once"
        db.session.remove()
        assert not self.event_is_over or self.rail.charges == before, "a code was taken after the event"

    @precondition(lambda self: self.rail.list(lambda truth: truth.pending))
    @rule(data=st.data(), taken=st.booleans())
    def end_late(self, data: Any, taken: bool) -> None:
        """What the rail had begun, it ends now."""
        reference = data.draw(st.sampled_from(self.rail.list(lambda truth: truth.pending)))
        self.rail.capture(reference) if taken else self.rail.decline(reference)

    @precondition(lambda self: self.rail.list(_is_over))
    @rule(data=st.data())
    def take_what_was_over(self, data: Any) -> None:
        """The rail breaks its word."""
        self.rail.capture(data.draw(st.sampled_from(self.rail.list(_is_over))), against=True)

    @precondition(lambda self: self.rail.callbacks)
    @rule(data=st.data(), times=st.integers(1, 2), keep=st.booleans(), forged=st.booleans())
    def call_back(self, data: Any, times: int, keep: bool, forged: bool) -> None:
        """A callback comes: in any order, once or twice, and perhaps again much later."""
        number = data.draw(st.integers(0, len(self.rail.callbacks) - 1))
        reference, outcome, amount = self.rail.callbacks[number] if keep else self.rail.callbacks.pop(number)
        for _ in range(times):
            assert self._call(reference, outcome, amount, number) == 200
        if forged:
            answer = send_callback(self.client, reference, "paid", "another-secret")
            assert answer.status_code == 401

    @rule(silent=st.booleans(), refunds=st.booleans(), callbacks_come=st.booleans())
    def the_rail_will(self, silent: bool, refunds: bool, callbacks_come: bool) -> None:
        self.rail.silent, self.rail.refunds, self.callbacks_come = silent, refunds, callbacks_come

    @rule(by_transfer=st.booleans())
    def refund(self, by_transfer: bool) -> None:
        """The organiser sends the fee back, as often as they like; by transfer only what the rail has refused."""
        body = {"reason": "They fell ill", **({"reference": "RF-1"} if by_transfer else {})}
        paid, status, method = (
            fetch_scalar(f"SELECT {column} FROM {REFUND}") for column in ("paid", "status", "method")
        )
        answer = self.organiser.post(f"{LIST}/{self.application_id}/fee/refund", body)
        expected = 200 if paid else 409
        if paid and status is None and by_transfer:
            expected = 422
        elif paid and status not in (None, "refused") and by_transfer != (method == "transfer"):
            expected = 409
        assert answer.status_code == expected, answer.get_data(as_text=True)

    @rule()
    def do_what_is_due(self) -> None:
        run_all_jobs()

    @rule(seconds=st.sampled_from([21, 61, 301, 4000]))
    def pass_time(self, seconds: int) -> None:
        if seconds > 300:
            self.rail.expire_codes()
        advance_time(seconds)

    @rule()
    def lose_the_jobs(self) -> None:
        """Their processes died too often."""
        execute_sql(
            "UPDATE outbox SET state = 'dead', done_at = now()"
            " WHERE kind IN ('applications.settle_payment', 'applications.refund_fee') AND state = 'ready'"
        )

    @rule()
    def watch(self) -> None:
        run_recurring("applications.watch_payments")

    @precondition(lambda self: self.confirmations > 1 or self._may_be_taken())
    @rule()
    def delete_the_business(self) -> None:
        body = {"currentPassword": PASSWORD, "confirmation": "DELETE"}
        answer = self.merchant.post("/api/merchants/me/delete", body)
        assert answer.status_code == (401 if self.deleted else 200), answer.get_data(as_text=True)
        self.deleted = True
        assert self._status() in ("withdrawn", "expired", "activated")

    @precondition(lambda self: len(self.rail.charges) > 1 or self.rail.list(lambda truth: truth.pending))
    @rule()
    def withdraw(self) -> None:
        waiting, before = self._may_be_taken(), self._status()
        answer = self.merchant.post(f"{LIST}/{self.application_id}/withdraw")
        assert answer.status_code in ((401,) if self.deleted else (200, 409)), answer.get_data(as_text=True)
        assert not waiting or answer.status_code != 200 or before == "withdrawn"

    @precondition(lambda self: len(self.rail.charges) > 1 or self.rail.list(lambda truth: truth.pending))
    @rule()
    def let_the_event_end(self) -> None:
        waiting, before = self._may_be_taken(), self._status()
        self.event_is_over = True
        execute_sql("UPDATE event SET ends_at = now() - interval '1 s', starts_at = now() - interval '1 h'")
        run_recurring("applications.expire")
        paid = fetch_scalar("SELECT paid_at IS NOT NULL FROM merchant_application")
        assert not waiting or paid or self._status() == before

    @precondition(lambda self: self.confirmations > 1)
    @rule()
    def call_the_event_off(self) -> None:
        execute_sql("UPDATE event SET visibility = 'cancelled'")
        self.event_is_over = True

    @invariant()
    def the_page_asks_for_no_money_that_may_be_taken(self) -> None:
        answer = self.client.get(self.path, environ_base={"REMOTE_ADDR": next(self.addresses)})
        assert answer.status_code in (200, 410), answer.get_data(as_text=True)
        if answer.status_code == 200 and self._may_be_taken():
            assert answer.get_json()["data"]["status"] in ("processing", "paid")

    @invariant()
    def we_take_the_fee_once(self) -> None:
        """But for what the rail takes against its word."""
        taken = self.rail.list(lambda truth: truth.outcome in TAKEN and not truth.against)
        assert len(taken) <= 1, f"taken {len(taken)} times"

    def _settle_everything(self) -> None:
        """The rail keeps its promises: it answers, and ends what it has begun. Its callbacks come or are lost, but for
        those about what it took against its word: nothing else tells of that."""
        self.rail.silent = False
        for reference in self.rail.list(lambda truth: truth.pending):
            self.rail.capture(reference)
        for number, (reference, outcome, amount) in enumerate(self.rail.callbacks):
            if self.callbacks_come or self.rail.charges[reference].against:
                assert self._call(reference, outcome, amount, number) == 200
        self.rail.expire_codes()
        for _ in range(3):
            run_recurring("applications.watch_payments")
            advance_time(4000)
        run_recurring("retention.erase")

    def _all_money_is_known(self) -> None:
        for reference in self.rail.list(lambda truth: truth.outcome in TAKEN):
            truth = self.rail.charges[reference]
            booked = fetch_scalar(BOOKED, id=reference, amount=truth.taken_minor)
            reviewed = fetch_scalar(REVIEWED, id=reference)
            assert booked or reviewed, f"{reference} was taken, and nobody knows"
            asked_back = reference in self.rail.asked_back or fetch_scalar(OTHER_AMOUNT, id=reference)
            assert booked or asked_back, f"{reference} was taken again, and nobody asked for it back"
            if truth.outcome is Outcome.REFUNDED:
                assert reviewed or fetch_scalar(SENT_BACK, id=reference)
        assert fetch_scalar("SELECT count(*) FROM stall_payment WHERE status = 'paid'") <= 1
        known = fetch_scalar("SELECT id FROM stall_payment WHERE status = 'paid'")
        assert known is None or self.rail.charges[known].outcome in TAKEN, "paid here, and not taken there"
        assert fetch_scalar("SELECT count(*) FROM stall_fee_refund WHERE status = 'requested'") == 0
        assert fetch_scalar(NOT_CREDITED) == 0, "a refund without its credit note, or a credit note without a refund"
        assert_ledger_integrity()
        assert fetch_scalar(LEFT) == 0, "the rail has told all, and a payment waits"
        if self.deleted:
            assert fetch_scalar(WALLETS_LEFT) == 0, "the merchant has gone, and their wallet is kept"

    def _may_be_taken(self) -> list[str]:
        """Charges whose confirmation has reached the rail, and that it has not given up, as it has told so far."""
        return self.rail.list(lambda truth: truth.pending or (truth.outcome is Outcome.PAID and not truth.against))

    def _call(self, reference: str, outcome: str, amount: int, number: int) -> int:
        event_id = f"evt-{reference}-{outcome}-{number % 3}"
        return int(send_callback(self.client, reference, outcome, id=event_id, amountMinor=amount).status_code)

    def _post(self, path: str, body: Any) -> Any:
        return self.client.post(path, body, environ_base={"REMOTE_ADDR": next(self.addresses)})

    def _status(self) -> str:
        return str(fetch_scalar("SELECT status FROM merchant_application"))


def _is_over(truth: Truth) -> bool:
    return truth.outcome in (Outcome.DECLINED, Outcome.EXPIRED)


@pytest.fixture(autouse=True)
def secret(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], PAYRAIL_SECRET=SECRET))
    yield


def test_no_order_of_events_loses_the_fee_or_takes_it_twice(app: Flask) -> None:
    run_state_machine_as_test(StallPayment, settings=model_settings())
