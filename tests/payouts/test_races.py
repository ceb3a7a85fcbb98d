"""Many at the same moment: never more than there is, never twice, never both. Each with its guard off as well."""

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
from tests.factories.payouts import PATH, Sink, earner, lawful, money, rail_of, requested, scalar, settled, wish
from tests.http import Client, data
from tests.races import at_once
from tests.unguarded import without

ROUNDS = int(os.environ.get("PAYOUT_ROUNDS", "40"))
CHECKS = ("ck_ledger_purse_available", "ck_ledger_entry_not_negative")
"""The constraints of the database against spending too much."""
CONDITION = """
           AND available_minor + %(available_change)s >= 0 AND held_minor + %(held_change)s >= 0"""
POST_WITHOUT_CONDITION = sql.POST_TRANSACTION.replace(CONDITION, "")
assert POST_WITHOUT_CONDITION != sql.POST_TRANSACTION
ENTRIES = "SELECT coalesce(sum(amount_minor), 0) FROM ledger_entry"


class Loose:
    """A lease that nobody takes away."""

    def fence(self) -> None: ...
    def hold_in(self, session: Any) -> None: ...
    def done_in(self, session: Any) -> None: ...


def run() -> Run:
    return Run(0, "race", 1, Loose())


def codes(answers: list[Any]) -> Counter[str]:
    return Counter(response.get_json()["shortMessage"] for response in answers)


def spend_at_once(client: Client) -> tuple[Counter[str], Client]:
    """64 requests, each of a tenth of what there is."""
    me, _ = earner(client, 10_000)
    return codes(at_once(64, lambda _: me.post(PATH, wish(1000)))), me


def test_of_sixty_four_requests_against_money_for_ten_ten_are_taken(client: Client) -> None:
    found, me = spend_at_once(client)
    # On a machine that is busy otherwise, some may be told to come again.
    assert found["SUCCESS"] == 10 and set(found) <= {"SUCCESS", "INSUFFICIENT_FUNDS", "BUSY"}
    assert money(me) == (0, 10_000)
    assert (
        scalar("SELECT count(*) FROM payout")
        == scalar("SELECT count(*) FROM outbox WHERE kind = 'payouts.carry'")
        == 10
    )
    lawful()


@pytest.mark.control
def test_without_the_condition_more_would_be_spent(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "POST_TRANSACTION", POST_WITHOUT_CONDITION)
    with without(*CHECKS):
        found, _ = spend_at_once(client)
        assert found["SUCCESS"] > 10
        assert scalar("SELECT min(available_minor) FROM ledger_purse") < 0


def test_the_database_alone_refuses_to_spend_more(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "POST_TRANSACTION", POST_WITHOUT_CONDITION)
    app.testing = False
    client = Client(app.test_client())
    try:
        found, me = spend_at_once(client)
    finally:
        app.testing = True
    assert found["SUCCESS"] == 10 and money(me) == (0, 10_000)
    lawful()


def ask_with_one_key(client: Client) -> list[Any]:
    me, _ = earner(client, 100_000)
    return at_once(64, lambda _: me.post(PATH, wish(1000), headers={"Idempotency-Key": "one-key-for-all"}))


def test_sixty_four_times_one_key_is_one_payout(client: Client) -> None:
    answers = ask_with_one_key(client)
    assert set(codes(answers)) <= {"SUCCESS", "IDEMPOTENCY_IN_PROGRESS"}
    assert len({data(response, 201)["id"] for response in answers if response.status_code == 201}) == 1
    assert scalar("SELECT count(*) FROM payout") == 1
    lawful()


@pytest.mark.control
def test_without_the_kept_answer_the_key_of_the_payout_refuses_a_second(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency_store, "lock_key", lambda session, place: None)
    app.testing = False
    try:
        answers = ask_with_one_key(Client(app.test_client()))
    finally:
        app.testing = True
    assert codes(answers)["SUCCESS"] == scalar("SELECT count(*) FROM payout") == 1


@pytest.mark.control
def test_without_kept_answers_and_keys_there_would_be_sixty_four(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency_store, "lock_key", lambda session, place: None)
    monkeypatch.setattr(sys.modules["app.blueprints.payouts.routes"], "find_idempotency_key", lambda: None)
    assert codes(ask_with_one_key(client))["SUCCESS"] > 1


def test_a_key_is_kept_for_ever_and_for_its_body_alone(client: Client) -> None:
    me, _ = earner(client, 5000)
    first = me.post(PATH, wish(1000, idempotencyKey="a-key-for-ever"))
    scalar("UPDATE idempotency_key SET expires_at = expires_at - interval '10 years' RETURNING 1")
    again = me.post(PATH, wish(1000), headers={"Idempotency-Key": "a-key-for-ever"})
    assert again.headers["Idempotent-Replayed"] == "true"
    assert data(again, 201) == data(first, 201)
    other = me.post(PATH, wish(2000, idempotencyKey="a-key-for-ever"))
    assert codes([other]) == {"IDEMPOTENCY_KEY_REUSED": 1}
    assert me.post(PATH, wish(0, idempotencyKey="not-used-up-by-this")).status_code == 422
    assert me.post(PATH, wish(9000, idempotencyKey="not-used-up-by-this")).status_code == 409
    assert me.post(PATH, wish(1000, idempotencyKey="not-used-up-by-this")).status_code == 201


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

    _, cancelled = at_once(2, act)
    return "cancelled" if cancelled == 200 else "paid"


def test_cancel_and_submit_never_both_win(app: Flask, client: Client) -> None:
    me, _ = earner(client, 1000 * ROUNDS)
    with rail_of(Sink()) as sink:
        ids = [requested(me)["id"] for _ in range(ROUNDS)]
        outcomes = Counter(cancel_against_submit(app, me, payout_id) for payout_id in ids)
    assert sum(outcomes.values()) == ROUNDS and set(outcomes) <= {"cancelled", "paid"}
    assert len(sink.tries) == len(set(sink.tries)) == outcomes["paid"]
    assert scalar("SELECT count(*) FROM payout WHERE status = 'paid'") == outcomes["paid"]
    assert scalar("SELECT count(*) FROM payout WHERE status = 'cancelled'") == outcomes["cancelled"]
    assert scalar(ENTRIES) == 0 and money(me) == (1000 * outcomes["cancelled"], 0)
    lawful()


@pytest.mark.control
def test_without_the_condition_the_history_refuses_a_cancelled_payout_to_leave(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, _ = earner(client, 1000)
    made = requested(me)

    def looked(session: Any, payout_id: str, wanted: str, **_: Any) -> Any:
        """Acts on what it saw before somebody else was quicker."""
        cancelled = at_once(1, lambda _: me.post(f"{PATH}/{payout_id}/cancel").status_code)
        assert cancelled == [200]
        session.execute(text("UPDATE payout SET status = :wanted WHERE id = :id"), {"id": payout_id, "wanted": wanted})

    monkeypatch.setattr(transfers, "update_status", looked)
    with rail_of(Sink()) as sink, pytest.raises(IntegrityError, match="ck_payout_event_edge"):
        process_payout(run(), payout_id=made["id"])
    assert sink.tries == []
    db.session.remove()
    lawful()


def test_a_merchant_who_goes_and_a_settlement_that_comes_leave_no_money_behind(app: Flask, client: Client) -> None:
    """Either they are gone and the file is refused, or the money is there and they stay."""
    for _ in range(8):
        me, who = earner(client)

        def act(number: int, me: Client = me, who: Account = who) -> Any:
            if number:
                return me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"})
            with app.app_context():
                try:
                    return settled(who, 300).booked_count
                except Rejected:
                    return 0

        booked, left = at_once(2, act)
        assert booked == (0 if left.status_code == 200 else 1)
    lawful()


def test_settlements_requests_and_ends_at_once_keep_every_law(app: Flask, client: Client) -> None:
    me, who = earner(client, 5000)

    def act(number: int) -> Any:
        with app.app_context():
            if number % 4 == 0:
                return settled(who, 300).booked_count
            if number % 4 == 1:
                return me.post(PATH, wish(700)).status_code
            from_app = app.extensions["payrail"]
            assert from_app is sink
            for payout_id in scalar("SELECT coalesce(array_agg(id), '{}') FROM payout WHERE status = 'requested'"):
                try:
                    process_payout(run(), payout_id=payout_id)
                except Postpone:
                    continue
            return None

    with rail_of(Sink()) as sink:
        at_once(16, act)
    lawful()
