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
from tests.factories.payouts import Sink, earner, lawful, money, rail_of, read, requested, scalar, work
from tests.http import Client, refusal

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
    me, _ = earner(client, 5000)
    with rail_of(Sink(answer=TransferOutcome.UNKNOWN)) as sink:
        payout = requested(me)
        work()
        sink.answer = None
        assert send_callback(client, build_event(payout, "failed")).status_code == 200
        work()
    assert read(me, payout)["status"] == "paid"
    assert scalar("SELECT kind FROM payout_review") == "contradiction"
    lawful()


def test_callback_with_bad_signature_is_not_stored(client: Client) -> None:
    me, _ = earner(client, 5000)
    payout = requested(me)
    assert refusal(send_callback(client, build_event(payout), "another")) == (401, "CALLBACK_NOT_SIGNED")
    assert refusal(client.post(PATH, data=build_event(payout))) == (401, "CALLBACK_NOT_SIGNED")
    assert scalar("SELECT count(*) FROM payrail_callback") == 0
    assert refusal(send_callback(client, b"[]")) == (422, "CALLBACK_UNREADABLE")


def test_repeated_event_id_is_ignored(client: Client) -> None:
    me, _ = earner(client, 5000)
    payout = requested(me)
    for outcome in ("paid", "failed", "paid"):
        assert send_callback(client, build_event(payout, outcome, id="the-same")).status_code == 200
    assert scalar("SELECT count(*) FROM outbox WHERE kind = 'payouts.ask'") == 1


@pytest.mark.parametrize(
    ("fields", "kind"),
    [({"amountMinor": 999}, "mismatch"), ({"currency": "ZAR"}, "mismatch"), ({"reference": "x"}, "unknown_reference")],
)
def test_mismatching_callback_creates_a_review_and_changes_nothing(
    client: Client, fields: dict[str, Any], kind: str
) -> None:
    me, _ = earner(client, 5000)
    with rail_of(Sink(answer=TransferOutcome.UNKNOWN)):
        payout = requested(me)
        work()
        send_callback(client, build_event(payout, **fields))
        work()
    assert scalar("SELECT kind FROM payout_review") == kind
    assert read(me, payout)["status"] == "processing" and money(me) == (4000, 1000)
    lawful()


def test_callback_of_a_charge_enqueues_a_check_of_the_stall_fee(client: Client) -> None:
    event = json.loads(build_event({"id": "a" * 24, "amountMinor": 5}, kind="charge"))
    send_callback(client, json.dumps(event).encode())
    assert scalar("SELECT payload->>'payment_id' FROM outbox WHERE kind = 'applications.weigh_callback'") == "a" * 24


@pytest.mark.parametrize("seed", range(SEEDS))
def test_final_status_is_the_rails_whatever_callbacks_say(client: Client, seed: int) -> None:
    """A hundred shuffled, duplicated and contradictory events about payouts in every state."""
    rng = random.Random(seed)
    me, _ = earner(client, 100_000)
    with rail_of(Sink(answer=TransferOutcome.UNKNOWN)) as sink:
        payouts = [requested(me) for _ in range(5)]
        work()
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
                work()
        # Payouts without a callback get a status check.
        scalar("UPDATE outbox SET run_at = now() WHERE state = 'ready' RETURNING 1")
        work()
    for payout in payouts:
        final_outcome = final_outcomes[payout["id"]]
        settled = final_outcome in (TransferOutcome.UNKNOWN, TransferOutcome.ACCEPTED)
        assert read(me, payout)["status"] == ("processing" if settled else final_outcome.value)
    assert scalar("SELECT coalesce(sum(amount_minor), 0) FROM ledger_entry") == 0
    lawful()
