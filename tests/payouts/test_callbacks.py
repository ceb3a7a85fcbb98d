"""Callbacks are verified, stored once, and only trigger a status check at the rail."""

import json
import os
import random
import time
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.clients.payrail import TransferOutcome
from app.clients.payrail.signing import callback_signature
from tests.factories.payouts import (
    FakeRail,
    assert_ledger_integrity,
    create_earning_merchant,
    fetch_scalar,
    load_balance,
    load_payout,
    request_payout,
    run_all_jobs,
    use_rail,
)
from tests.http import Client, read_error

SECRET = "the-secret-that-rail-and-tests-share"
SEEDS, EVENTS = int(os.environ.get("PAYOUT_CALLBACK_SEEDS", "2")), 100
PATH = "/api/payrail/callbacks"
OUTCOMES = ("accepted", "paid", "failed", "returned")
FINAL_OUTCOMES = (
    TransferOutcome.PAID,
    TransferOutcome.FAILED,
    TransferOutcome.RETURNED,
    TransferOutcome.UNKNOWN,
    TransferOutcome.ACCEPTED,
)


@pytest.fixture(autouse=True)
def secret(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], PAYRAIL_SECRET=SECRET))


def build_event(payout: dict[str, Any], outcome: str = "paid", **fields: Any) -> bytes:
    event = {
        "id": f"evt-{payout['id']}",
        "kind": "transfer",
        "reference": payout["id"],
        "outcome": outcome,
        "amountMinor": payout["amountMinor"],
        "currency": "NAD",
        "at": "2026-11-21T09:00:00.000Z",
    }
    return json.dumps({**event, **fields}).encode()


def send_callback(client: Client, body: bytes, secret: str = SECRET) -> Any:
    timestamp = str(int(time.time()))
    signature = callback_signature(secret, timestamp=timestamp, body=body)
    headers = {"Payrail-Timestamp": timestamp, "Payrail-Signature": signature}
    return client.post(PATH, data=body, content_type="application/json", headers=headers)


def test_callback_triggers_a_status_check(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=TransferOutcome.UNKNOWN)) as sink:
        payout = request_payout(me)
        run_all_jobs()
        sink.answer = None
        assert send_callback(client, build_event(payout, "failed")).status_code == 200
        run_all_jobs()
    assert load_payout(me, payout)["status"] == "paid"
    assert fetch_scalar("SELECT kind FROM payout_review") == "contradiction"
    assert_ledger_integrity()


def test_callback_with_bad_signature_is_not_stored(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    payout = request_payout(me)
    assert read_error(send_callback(client, build_event(payout), "another")) == (401, "CALLBACK_NOT_SIGNED")
    assert read_error(client.post(PATH, data=build_event(payout))) == (401, "CALLBACK_NOT_SIGNED")
    assert fetch_scalar("SELECT count(*) FROM payrail_callback") == 0
    assert read_error(send_callback(client, b"[]")) == (422, "CALLBACK_UNREADABLE")


def test_repeated_event_id_is_ignored(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    payout = request_payout(me)
    for outcome in ("paid", "failed", "paid"):
        assert send_callback(client, build_event(payout, outcome, id="the-same")).status_code == 200
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'payouts.ask'") == 1


@pytest.mark.parametrize(
    ("fields", "kind"),
    [({"amountMinor": 999}, "mismatch"), ({"currency": "ZAR"}, "mismatch"), ({"reference": "x"}, "unknown_reference")],
)
def test_mismatching_callback_creates_a_review_and_changes_nothing(
    client: Client, fields: dict[str, Any], kind: str
) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=TransferOutcome.UNKNOWN)):
        payout = request_payout(me)
        run_all_jobs()
        send_callback(client, build_event(payout, **fields))
        run_all_jobs()
    assert fetch_scalar("SELECT kind FROM payout_review") == kind
    assert load_payout(me, payout)["status"] == "processing" and load_balance(me) == (4000, 1000)
    assert_ledger_integrity()


def test_callback_of_a_charge_enqueues_a_check_of_the_stall_fee(client: Client) -> None:
    event = json.loads(build_event({"id": "a" * 24, "amountMinor": 5}, kind="charge"))
    send_callback(client, json.dumps(event).encode())
    assert (
        fetch_scalar("SELECT payload->>'payment_id' FROM outbox WHERE kind = 'applications.weigh_callback'") == "a" * 24
    )


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_rail_decides_the_final_status_and_not_a_callback(client: Client, seed: int) -> None:
    """A hundred shuffled, duplicated and contradictory events about payouts in every state."""
    rng = random.Random(seed)
    me, _ = create_earning_merchant(client, 100_000)
    with use_rail(FakeRail(answer=TransferOutcome.UNKNOWN)) as sink:
        payouts = [request_payout(me) for _ in range(5)]
        run_all_jobs()
        sink.answer = None
        final_outcomes = dict(zip((payout["id"] for payout in payouts), rng.sample(FINAL_OUTCOMES, 5), strict=True))
        events = [
            build_event(rng.choice(payouts), rng.choice(OUTCOMES), id=f"evt-{rng.randrange(70)}") for _ in range(EVENTS)
        ]
        for number, body in enumerate(events):
            if number == EVENTS // 4:
                sink.truth.update(final_outcomes)
            elif number < EVENTS // 4:
                sink.truth.update(dict.fromkeys(sink.truth, TransferOutcome.UNKNOWN))
            assert send_callback(client, body).status_code == 200
            if rng.random() < 0.2:
                run_all_jobs()
        # Payouts without a callback get a status check.
        fetch_scalar("UPDATE outbox SET run_at = now() WHERE state = 'ready' RETURNING 1")
        run_all_jobs()
    for payout in payouts:
        final_outcome = final_outcomes[payout["id"]]
        settled = final_outcome in (TransferOutcome.UNKNOWN, TransferOutcome.ACCEPTED)
        assert load_payout(me, payout)["status"] == ("processing" if settled else final_outcome.value)
    assert fetch_scalar("SELECT coalesce(sum(amount_minor), 0) FROM ledger_entry") == 0
    assert_ledger_integrity()
