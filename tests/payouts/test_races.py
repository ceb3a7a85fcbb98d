"""Concurrent requests never overspend, pay twice, or both cancel and submit. Controls show it without each guard."""

import os
import sys
from collections import Counter
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.accounts.models import Account
from app.core import idempotency_store
from app.core.db import db
from app.core.jobs import Postpone, Run
from app.core.spreadsheet import Rejected
from app.ledger import sql
from app.payouts import transfers
from app.payouts.jobs import process_payout
from tests.factories.accounts import PASSWORD
from tests.factories.payouts import (
    PATH,
    FakeRail,
    assert_ledger_integrity,
    build_payout_body,
    create_earning_merchant,
    fetch_scalar,
    import_earnings,
    load_balance,
    request_payout,
    use_rail,
)
from tests.http import Client, data
from tests.races import run_concurrently
from tests.unguarded import without_rules

ROUNDS = int(os.environ.get("PAYOUT_ROUNDS", "40"))
CHECKS = ("ck_ledger_purse_available", "ck_ledger_entry_not_negative")
"""The constraints of the database against spending too much."""
CONDITION = """
           AND available_minor + %(available_change)s >= 0 AND held_minor + %(held_change)s >= 0"""
POST_WITHOUT_CONDITION = sql.POST_TRANSACTION.replace(CONDITION, "")
assert POST_WITHOUT_CONDITION != sql.POST_TRANSACTION
ENTRIES = "SELECT coalesce(sum(amount_minor), 0) FROM ledger_entry"


class UncontestedLease:
    """A lease that never expires."""

    def fence(self) -> None: ...
    def hold_in(self, session: Any) -> None: ...
    def progress_in(self, session: Any) -> None: ...
    def done_in(self, session: Any) -> None: ...


def run() -> Run:
    return Run(0, "race", 1, UncontestedLease())


def codes(answers: list[Any]) -> Counter[str]:
    return Counter(response.get_json()["shortMessage"] for response in answers)


def request_concurrently(client: Client) -> tuple[Counter[str], Client]:
    """64 requests, each of a tenth of what there is."""
    me, _ = create_earning_merchant(client, 10_000)
    return codes(run_concurrently(64, lambda _: me.post(PATH, build_payout_body(1000)))), me


def test_of_64_requests_with_money_for_ten_ten_are_accepted(client: Client) -> None:
    found, me = request_concurrently(client)
    # On a machine that is busy otherwise, some may be told to come again.
    assert found["SUCCESS"] == 10 and set(found) <= {"SUCCESS", "INSUFFICIENT_FUNDS", "BUSY"}
    assert load_balance(me) == (0, 10_000)
    assert (
        fetch_scalar("SELECT count(*) FROM payout")
        == fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'payouts.carry'")
        == 10
    )
    assert_ledger_integrity()


@pytest.mark.control
def test_without_the_condition_more_than_the_balance_would_be_spent(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "POST_TRANSACTION", POST_WITHOUT_CONDITION)
    with without_rules(*CHECKS):
        found, _ = request_concurrently(client)
        assert found["SUCCESS"] > 10
        assert fetch_scalar("SELECT min(available_minor) FROM ledger_purse") < 0


def test_database_constraint_alone_prevents_overspending(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "POST_TRANSACTION", POST_WITHOUT_CONDITION)
    app.testing = False
    client = Client(app.test_client())
    try:
        found, me = request_concurrently(client)
    finally:
        app.testing = True
    assert found["SUCCESS"] == 10 and load_balance(me) == (0, 10_000)
    assert_ledger_integrity()


def request_with_one_key(client: Client) -> list[Any]:
    me, _ = create_earning_merchant(client, 100_000)
    return run_concurrently(
        64, lambda _: me.post(PATH, build_payout_body(1000), headers={"Idempotency-Key": "one-key-for-all"})
    )


def test_64_requests_with_one_key_create_one_payout(client: Client) -> None:
    answers = request_with_one_key(client)
    assert set(codes(answers)) <= {"SUCCESS", "IDEMPOTENCY_IN_PROGRESS"}
    assert len({data(response, 201)["id"] for response in answers if response.status_code == 201}) == 1
    assert fetch_scalar("SELECT count(*) FROM payout") == 1
    assert_ledger_integrity()


@pytest.mark.control
def test_without_stored_responses_the_key_of_the_payout_prevents_a_second_one(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency_store, "lock_key", lambda session, place: None)
    app.testing = False
    try:
        answers = request_with_one_key(Client(app.test_client()))
    finally:
        app.testing = True
    assert codes(answers)["SUCCESS"] == len(answers) and fetch_scalar("SELECT count(*) FROM payout") == 1


@pytest.mark.control
def test_without_stored_responses_and_keys_there_would_be_many_payouts(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency_store, "lock_key", lambda session, place: None)
    monkeypatch.setattr(sys.modules["app.blueprints.payouts.routes"], "find_idempotency_key", lambda: None)
    assert codes(request_with_one_key(client))["SUCCESS"] > 1


def test_key_never_expires_and_belongs_to_its_body(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    first = me.post(PATH, build_payout_body(1000, idempotencyKey="a-key-for-ever"))
    fetch_scalar("UPDATE idempotency_key SET expires_at = expires_at - interval '10 years' RETURNING 1")
    again = me.post(PATH, build_payout_body(1000), headers={"Idempotency-Key": "a-key-for-ever"})
    assert again.headers["Idempotent-Replayed"] == "true"
    assert data(again, 201) == data(first, 201)
    other = me.post(PATH, build_payout_body(2000, idempotencyKey="a-key-for-ever"))
    assert codes([other]) == {"IDEMPOTENCY_KEY_REUSED": 1}
    assert me.post(PATH, build_payout_body(0, idempotencyKey="not-used-up-by-this")).status_code == 422
    assert me.post(PATH, build_payout_body(9000, idempotencyKey="not-used-up-by-this")).status_code == 409
    assert me.post(PATH, build_payout_body(1000, idempotencyKey="not-used-up-by-this")).status_code == 201


def cancel_against_submit(app: Flask, me: Client, payout_id: str) -> str:
    """Whether the cancellation or the worker won."""

    def act(number: int) -> Any:
        if number:
            return me.post(f"{PATH}/{payout_id}/cancel").status_code
        with app.app_context():
            try:
                process_payout(run(), payout_id=payout_id)
            except Postpone:
                return "late"
            return "carried"

    _, cancelled = run_concurrently(2, act)
    return "cancelled" if cancelled == 200 else "paid"


def test_cancel_and_submit_never_both_succeed(app: Flask, client: Client) -> None:
    me, _ = create_earning_merchant(client, 1000 * ROUNDS)
    with use_rail(FakeRail()) as sink:
        ids = [request_payout(me)["id"] for _ in range(ROUNDS)]
        outcomes = Counter(cancel_against_submit(app, me, payout_id) for payout_id in ids)
    assert sum(outcomes.values()) == ROUNDS and set(outcomes) <= {"cancelled", "paid"}
    assert len(sink.tries) == len(set(sink.tries)) == outcomes["paid"]
    assert fetch_scalar("SELECT count(*) FROM payout WHERE status = 'paid'") == outcomes["paid"]
    assert fetch_scalar("SELECT count(*) FROM payout WHERE status = 'cancelled'") == outcomes["cancelled"]
    assert fetch_scalar(ENTRIES) == 0 and load_balance(me) == (1000 * outcomes["cancelled"], 0)
    assert_ledger_integrity()


@pytest.mark.control
def test_without_the_condition_the_history_prevents_submitting_a_cancelled_payout(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, _ = create_earning_merchant(client, 1000)
    payout = request_payout(me)

    def update_stale_row(session: Any, payout_id: str, wanted: str, **_: Any) -> Any:
        """Acts on what it saw before somebody else was quicker."""
        cancelled = run_concurrently(1, lambda _: me.post(f"{PATH}/{payout_id}/cancel").status_code)
        assert cancelled == [200]
        session.execute(text("UPDATE payout SET status = :wanted WHERE id = :id"), {"id": payout_id, "wanted": wanted})

    monkeypatch.setattr(transfers, "update_status", update_stale_row)
    with use_rail(FakeRail()) as sink, pytest.raises(IntegrityError, match="ck_payout_event_edge"):
        process_payout(run(), payout_id=payout["id"])
    assert sink.tries == []
    db.session.remove()
    assert_ledger_integrity()


def test_concurrent_deletion_and_settlement_leave_no_money_behind(app: Flask, client: Client) -> None:
    """Either they are gone and the file is refused, or the money is there and they stay."""
    for _ in range(8):
        me, merchant = create_earning_merchant(client)

        def act(number: int, me: Client = me, merchant: Account = merchant) -> Any:
            if number:
                return me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"})
            with app.app_context():
                try:
                    return import_earnings(merchant, 300).booked_count
                except Rejected:
                    return 0

        booked, left = run_concurrently(2, act)
        assert booked == (0 if left.status_code == 200 else 1)
    assert_ledger_integrity()


def test_concurrent_settlements_requests_and_outcomes_keep_all_rules(app: Flask, client: Client) -> None:
    me, merchant = create_earning_merchant(client, 5000)

    def act(number: int) -> Any:
        with app.app_context():
            if number % 4 == 0:
                return import_earnings(merchant, 300).booked_count
            if number % 4 == 1:
                return me.post(PATH, build_payout_body(700)).status_code
            from_app = app.extensions["payrail"]
            assert from_app is sink
            for payout_id in fetch_scalar(
                "SELECT coalesce(array_agg(id), '{}') FROM payout WHERE status = 'requested'"
            ):
                try:
                    process_payout(run(), payout_id=payout_id)
                except Postpone:
                    continue
            return None

    with use_rail(FakeRail()) as sink:
        run_concurrently(16, act)
    assert_ledger_integrity()
