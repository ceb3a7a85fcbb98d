"""Callbacks are hints: signed, counted once, and never believed: the rail is asked, and what it says counts."""

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
WORDS = ("accepted", "paid", "failed", "returned")
TRUTHS = (
    TransferOutcome.PAID,
    TransferOutcome.FAILED,
    TransferOutcome.RETURNED,
    TransferOutcome.UNKNOWN,
    TransferOutcome.ACCEPTED,
)


@pytest.fixture(autouse=True)
def secret(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], PAYRAIL_SECRET=SECRET))


def said(payout: dict[str, Any], outcome: str = "paid", **fields: Any) -> bytes:
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


def call(client: Client, body: bytes, secret: str = SECRET) -> Any:
    timestamp = str(int(time.time()))
    signature = callback_signature(secret, timestamp=timestamp, body=body)
    headers = {"Payrail-Timestamp": timestamp, "Payrail-Signature": signature}
    return client.post(PATH, data=body, content_type="application/json", headers=headers)


def test_a_callback_makes_us_ask_at_once(client: Client) -> None:
    me, _ = earner(client, 5000)
    with rail_of(Sink(answer=TransferOutcome.UNKNOWN)) as sink:
        made = requested(me)
        work()
        sink.answer = None
        assert call(client, said(made, "failed")).status_code == 200
        work()
    assert read(me, made)["status"] == "paid"
    assert scalar("SELECT kind FROM payout_review") == "contradiction"
    lawful()


def test_a_bad_signature_leaves_no_row(client: Client) -> None:
    me, _ = earner(client, 5000)
    made = requested(me)
    assert refusal(call(client, said(made), "another")) == (401, "CALLBACK_NOT_SIGNED")
    assert refusal(client.post(PATH, data=said(made))) == (401, "CALLBACK_NOT_SIGNED")
    assert scalar("SELECT count(*) FROM payrail_callback") == 0
    assert refusal(call(client, b"[]")) == (422, "CALLBACK_UNREADABLE")


def test_an_event_counts_once(client: Client) -> None:
    me, _ = earner(client, 5000)
    made = requested(me)
    for outcome in ("paid", "failed", "paid"):
        assert call(client, said(made, outcome, id="the-same")).status_code == 200
    assert scalar("SELECT count(*) FROM outbox WHERE kind = 'payouts.ask'") == 1


@pytest.mark.parametrize(
    ("fields", "kind"),
    [({"amountMinor": 999}, "mismatch"), ({"currency": "ZAR"}, "mismatch"), ({"reference": "x"}, "unknown_reference")],
)
def test_what_does_not_match_is_looked_at_and_changes_nothing(
    client: Client, fields: dict[str, Any], kind: str
) -> None:
    me, _ = earner(client, 5000)
    with rail_of(Sink(answer=TransferOutcome.UNKNOWN)):
        made = requested(me)
        work()
        call(client, said(made, **fields))
        work()
    assert scalar("SELECT kind FROM payout_review") == kind
    assert read(me, made)["status"] == "processing" and money(me) == (4000, 1000)
    lawful()


def test_a_callback_for_a_charge_has_the_stall_fee_asked_for(client: Client) -> None:
    event = json.loads(said({"id": "a" * 24, "amountMinor": 5}, kind="charge"))
    call(client, json.dumps(event).encode())
    assert scalar("SELECT payload->>'payment_id' FROM outbox WHERE kind = 'applications.weigh_callback'") == "a" * 24


@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_is_said_the_end_is_the_rails_truth(client: Client, seed: int) -> None:
    """A hundred shuffled, duplicated and contradictory events about payouts in every state."""
    chance = random.Random(seed)
    me, _ = earner(client, 100_000)
    with rail_of(Sink(answer=TransferOutcome.UNKNOWN)) as sink:
        payouts = [requested(me) for _ in range(5)]
        work()
        sink.answer = None
        truths = dict(zip((payout["id"] for payout in payouts), chance.sample(TRUTHS, 5), strict=True))
        events = [
            said(chance.choice(payouts), chance.choice(WORDS), id=f"evt-{chance.randrange(70)}") for _ in range(EVENTS)
        ]
        for number, body in enumerate(events):
            if number == EVENTS // 4:
                sink.truth.update(truths)
            elif number < EVENTS // 4:
                sink.truth.update(dict.fromkeys(sink.truth, TransferOutcome.UNKNOWN))
            assert call(client, body).status_code == 200
            if chance.random() < 0.2:
                work()
        # Anyone who was never spoken of is found by asking.
        scalar("UPDATE outbox SET run_at = now() WHERE state = 'ready' RETURNING 1")
        work()
    for made in payouts:
        truth = truths[made["id"]]
        settled = truth in (TransferOutcome.UNKNOWN, TransferOutcome.ACCEPTED)
        assert read(me, made)["status"] == ("processing" if settled else truth.value)
    assert scalar("SELECT coalesce(sum(amount_minor), 0) FROM ledger_entry") == 0
    lawful()
