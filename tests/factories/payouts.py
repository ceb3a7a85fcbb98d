"""Merchants with earnings for tests, a fake payment rail, and the integrity checks of the ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from threading import Lock
from typing import Any

from flask import Flask, current_app
from sqlalchemy import text

from app.accounts.models import Account
from app.clients.payrail import ChargeState, Outcome, Transfer, TransferOutcome, TransferState
from app.core.db import db
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from app.ledger.commands import list_differences
from app.ledger.settlement_import import Credit, SettlementResult, import_settlement
from tests.factories.accounts import create_signed_in_client
from tests.factories.merchants import create_merchant_account, update_merchant
from tests.http import Client, data

PATH = "/api/merchants/me/payout-requests"
WALLET = "+264811234567"
BANK = {
    "accountName": "Kapana Corner CC",
    "accountNumber": "62001234567",
    "bankName": "Bank Windhoek",
    "branchCode": "482172",
}
_references = count(1)


def import_earnings(merchant: Account, amount: int, **credit_fields: Any) -> SettlementResult:
    """Imports a settlement with earnings of the merchant."""
    fields = {"occurred_at": None, "description": None, "reference": f"S{next(_references)}", **credit_fields}
    return import_settlement([Credit(2, merchant=merchant.id, amount_minor=amount, **fields)])


def create_earning_merchant(
    client: Client, amount: int = 0, *, msisdn: str = WALLET, **details: Any
) -> tuple[Client, Account]:
    """A merchant with a wallet and these earnings: client and account."""
    merchant = create_merchant_account(**details)
    me = create_signed_in_client(client, merchant)
    update_merchant(me, payoutDetails={"msisdn": msisdn, **BANK})
    if amount:
        import_earnings(merchant, amount)
    return me, merchant


def build_payout_body(amount: int = 1000, **fields: Any) -> dict[str, Any]:
    """The body of a request for an immediate payout to the wallet."""
    return {"amountMinor": amount, "destination": "payrail", "mode": "now", **fields}


def request_payout(me: Client, amount: int = 1000, **fields: Any) -> dict[str, Any]:
    """Requests a payout and returns it."""
    return data(me.post(PATH, build_payout_body(amount, **fields)), 201)


def load_payout(me: Client, payout: dict[str, Any]) -> dict[str, Any]:
    return data(me.get(f"{PATH}/{payout['id']}"))


def load_balance(me: Client) -> tuple[int, int]:
    """The available and the held amount, in cents."""
    balance = data(me.get(f"{PATH}/availability"))
    return balance["availableMinor"], balance["heldMinor"]


def age_sign_ins(merchant: Account, span: timedelta = timedelta(days=1)) -> None:
    """Makes the merchant's sign-ins older, so that they no longer confirm the owner."""
    execute_sql(
        "UPDATE account_session SET created_at = created_at - CAST(:span AS interval) WHERE account_id = :id",
        span=span,
        id=merchant.id,
    )


@contextmanager
def destination_hold(app: Flask, *, hours: float) -> Iterator[None]:
    """The application with a hold of this many hours for payouts to new destinations."""
    original = app.extensions["settings"]
    app.extensions["settings"] = replace(original, PAYOUT_NEW_DESTINATION_HOLD=hours)
    try:
        yield
    finally:
        app.extensions["settings"] = original


def fetch_scalar(sql: str, **values: Any) -> Any:
    with transaction() as session:
        return session.execute(text(sql), values).scalar()


def execute_sql(sql: str, **values: Any) -> None:
    with transaction() as session:
        session.execute(text(sql), values)


def run_all_jobs() -> None:
    """Runs due jobs until none is left."""
    while run_due_jobs(worker="test"):
        pass


def advance_time(span: timedelta = timedelta(days=1)) -> None:
    """Moves all times of payouts and jobs into the past, and runs due jobs."""
    execute_sql("UPDATE outbox SET run_at = run_at - CAST(:span AS interval) WHERE state = 'ready'", span=span)
    execute_sql(
        "UPDATE payout SET submitted_at = submitted_at - CAST(:span AS interval),"
        " settled_at = settled_at - CAST(:span AS interval), due_at = due_at - CAST(:span AS interval),"
        " scheduled_for = scheduled_for - CAST(:span AS interval),"
        " held_until = held_until - CAST(:span AS interval), created_at = created_at - CAST(:span AS interval)",
        span=span,
    )
    run_all_jobs()


def assert_ledger_integrity() -> None:
    """Asserts that the ledger and the payouts pass the integrity checks M1 to M7."""
    differences = list(list_differences())
    assert differences == [], differences
    db.session.remove()


@dataclass
class FakeRail:
    """A fake payment rail that records transfers and returns planned outcomes.

    `first` is the outcome of new transfers, `truth` the status of each transfer. `answer`, if set, is returned instead
    of both; accepted transfers stay recorded.
    """

    sent: dict[str, Transfer] = field(default_factory=dict)
    tries: list[str] = field(default_factory=list)
    truth: dict[str, TransferOutcome] = field(default_factory=dict)
    first: TransferOutcome = TransferOutcome.PAID
    answer: TransferOutcome | None = None
    lock: Any = field(default_factory=Lock)

    def check(self) -> None:
        """The rail is always configured."""

    def send_transfer(self, transfer: Transfer) -> TransferState:
        with self.lock:
            self.tries.append(transfer.reference)
            self.sent.setdefault(transfer.reference, transfer)
            self.truth.setdefault(transfer.reference, self.first)
        return TransferState(outcome=self.answer or self.truth[transfer.reference])

    def transfer_status(self, reference: str) -> TransferState:
        if self.answer is not None:
            return TransferState(outcome=self.answer)
        return TransferState(outcome=self.truth.get(reference, TransferOutcome.NOT_FOUND))

    def charge_status(self, reference: str) -> ChargeState:
        return ChargeState(outcome=Outcome.UNKNOWN)


@contextmanager
def use_rail(sink: Any) -> Iterator[Any]:
    """The application with this rail."""
    original = current_app.extensions.get("payrail")
    current_app.extensions["payrail"] = sink
    try:
        yield sink
    finally:
        current_app.extensions["payrail"] = original
