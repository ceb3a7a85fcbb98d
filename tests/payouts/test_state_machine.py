"""A stateful test: merchants settle, ask, cancel, schedule and pause, confirm new destinations or do not, and stop
payouts by the mailed link; the rail pays, fails, bounces or says nothing, in any order. After every step the laws of
money hold, and a model in a few lines agrees with the books."""

import os
from datetime import timedelta
from typing import Any

from flask import Flask, current_app
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from app.accounts.caller import Caller
from app.accounts.errors import ConfirmationRequired
from app.accounts.models import Account
from app.clients.payrail import TransferOutcome
from app.core.clock import utcnow
from app.core.db import db
from app.core.errors import AppError
from app.core.transaction import transaction
from app.ledger.errors import InsufficientFunds
from app.merchants import actions as merchants
from app.merchants.errors import MerchantPaused
from app.merchants.models import Merchant
from app.payouts import actions, queries
from app.payouts.errors import NotCancellable
from app.payouts.models import Payout
from tests.conftest import empty
from tests.factories.accounts import PASSWORD
from tests.factories.merchants import create_merchant_account
from tests.factories.payouts import (
    WALLET,
    FakeRail,
    advance_time,
    assert_ledger_integrity,
    destination_hold,
    fetch_scalar,
    import_earnings,
    run_all_jobs,
    use_rail,
)

EXAMPLES = int(os.environ.get("PAYOUT_LIVES", "6"))
STEPS = 25
AMOUNTS = st.integers(min_value=1, max_value=900)
FINAL = {TransferOutcome.PAID: "paid", TransferOutcome.FAILED: "failed", TransferOutcome.RETURNED: "returned"}
WALLETS = (WALLET, "+264817654321")
LEGS = {"paid": -1, "failed": 0, "cancelled": 0, "returned": 0}


def caller_of(who: Account) -> Caller:
    return Caller(
        id=who.id,
        session_id="",
        email=who.email,
        name=who.name,
        phone=None,
        email_verified=True,
        roles=frozenset(who.roles),
        tier=None,
        title=None,
        version=0,
    )


class Lives(RuleBasedStateMachine):
    """Two merchants, one rail."""

    payouts = Bundle("payouts")

    def __init__(self) -> None:
        super().__init__()
        empty(current_app._get_current_object())  # type: ignore[attr-defined]
        self.around = use_rail(FakeRail())
        self.sink = self.around.__enter__()
        self.callers = [caller_of(create_merchant_account()) for _ in range(2)]
        self.available = [0, 0]
        self.paused = [False, False]
        self.made: dict[str, tuple[int, int]] = {}
        self.wallets: dict[str, str] = {}
        self.new: set[str] = set()
        self.rest = destination_hold(current_app._get_current_object(), hours=12)  # type: ignore[attr-defined]
        self.rest.__enter__()

    def teardown(self) -> None:
        self.rest.__exit__(None, None, None)
        self.around.__exit__(None, None, None)

    @rule(who=st.integers(0, 1), amount=AMOUNTS)
    def settle(self, who: int, amount: int) -> None:
        import_earnings(self._account(who), amount)
        self.available[who] += amount

    @rule(
        target=payouts,
        who=st.integers(0, 1),
        amount=AMOUNTS,
        days=st.none() | st.integers(1, 3),
        wallet=st.sampled_from(WALLETS),
        password=st.sampled_from([PASSWORD, PASSWORD, None]),
    )
    def request(self, who: int, amount: int, days: int | None, wallet: str, password: str | None) -> Any:
        known = any(self._status(item) == "paid" for item in self._to(who, wallet))
        when = {"mode": "now"} if days is None else {"mode": "schedule", "scheduled_for": utcnow() + timedelta(days)}
        try:
            made = actions.request_payout(
                caller=self.callers[who],
                amount_minor=amount,
                destination="payrail",
                payrail_msisdn=wallet,
                password=password,
                **when,
            )
        except ConfirmationRequired:
            assert not (known or password or self.paused[who]) and amount <= self.available[who]
            return None
        except InsufficientFunds as error:
            assert not self.paused[who] and amount > self.available[who] == error.data["availableMinor"]
            return None
        except MerchantPaused:
            assert self.paused[who]
            return None
        assert not self.paused[who] and amount <= self.available[who] and (known or password)
        assert (made.held_until is None) == known
        self.available[who] -= amount
        self.made[made.id], self.wallets[made.id] = (who, amount), wallet
        if not known:
            self.new.add(made.id)
        return made.id

    @rule(payout=payouts)
    def cancel(self, payout: str | None) -> None:
        if payout is None:
            return
        who, amount = self.made[payout]
        before = self._status(payout)
        try:
            actions.cancel_payout(caller=self.callers[who], id=payout)
        except NotCancellable:
            assert before not in ("requested", "scheduled", "cancelled")
            return
        if before != "cancelled":
            self.available[who] += amount

    @rule(payout=payouts)
    def stop_by_the_link(self, payout: str | None) -> None:
        """It ends with all others to its destination that were new and have not left."""
        if payout is None:
            return
        who, _ = self.made[payout]
        rest = [item for item in self._to(who, self.wallets[payout]) if item == payout or item in self.new]
        rest = [item for item in rest if self._status(item) in ("requested", "scheduled")]
        assert actions.stop_payouts(payout) == len(rest)
        for item in rest:
            self.available[who] += self.made[item][1]
            assert self._status(item) == "cancelled"

    @rule(payout=payouts)
    def cancel_anothers(self, payout: str | None) -> None:
        if payout is not None:
            try:
                actions.cancel_payout(caller=self.callers[1 - self.made[payout][0]], id=payout)
            except AppError as error:
                assert error.code == "NOT_FOUND"

    @rule(outcome=st.sampled_from(TransferOutcome), silent=st.booleans())
    def the_rail_will(self, outcome: TransferOutcome, silent: bool) -> None:
        self.sink.first = TransferOutcome.ACCEPTED if outcome is TransferOutcome.NOT_FOUND else outcome
        self.sink.answer = TransferOutcome.UNKNOWN if silent else None

    @precondition(lambda self: self.sink.sent)
    @rule(data=st.data(), outcome=st.sampled_from(list(FINAL)))
    def the_rail_decides(self, data: Any, outcome: TransferOutcome) -> None:
        """Only what a rail can do: end what has not ended, and bounce what was paid."""
        payout = data.draw(st.sampled_from(sorted(self.sink.sent)))
        now = self.sink.truth[payout]
        if now not in FINAL or (now is TransferOutcome.PAID and outcome is TransferOutcome.RETURNED):
            self.sink.truth[payout] = outcome

    @rule(days=st.sampled_from([0, 0, 1, 4]))
    def time_passes(self, days: int) -> None:
        before = {payout: self._status(payout) for payout in self.made}
        advance_time(timedelta(days=days)) if days else run_all_jobs()
        for payout, (who, amount) in self.made.items():
            gave_back = self._status(payout) in ("failed", "returned") and before[payout] not in ("failed", "returned")
            self.available[who] += amount if gave_back else 0

    @rule(who=st.integers(0, 1))
    def pause(self, who: int) -> None:
        merchants.pause_merchant(caller=self.callers[who])
        self.paused[who] = True

    @rule(who=st.integers(0, 1))
    def resume(self, who: int) -> None:
        with transaction() as session:
            row = session.get(Merchant, self.callers[who].id)
            if row is not None:
                row.status = "active"
        self.paused[who] = False

    @invariant()
    def the_laws_hold(self) -> None:
        assert_ledger_integrity()

    @invariant()
    def balances_are_the_models(self) -> None:
        for who, caller in enumerate(self.callers):
            assert queries.load_availability(caller)["available_minor"] == self.available[who]

    @invariant()
    def ends_are_the_rails(self) -> None:
        assert len(self.sink.tries) == len(set(self.sink.tries))
        for payout, (_, amount) in self.made.items():
            status = self._status(payout)
            if status in ("paid", "returned"):
                assert payout in self.sink.sent
            if status in LEGS:
                net = fetch_scalar(
                    "SELECT coalesce(sum(e.amount_minor), 0) FROM ledger_entry e JOIN ledger_transaction t"
                    " ON t.id = transaction_id WHERE t.reference = :id AND account LIKE 'merchant%'",
                    id=payout,
                )
                assert net == LEGS[status] * amount

    def _to(self, who: int, wallet: str) -> list[str]:
        return [item for item, to in self.wallets.items() if to == wallet and self.made[item][0] == who]

    def _status(self, payout: str) -> str:
        db.session.remove()
        return str(db.session.get_one(Payout, payout).status)

    def _account(self, who: int) -> Account:
        return db.session.get_one(Account, self.callers[who].id)


def test_rules_of_money_hold_in_any_sequence(app: Flask) -> None:
    run_state_machine_as_test(
        Lives,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
