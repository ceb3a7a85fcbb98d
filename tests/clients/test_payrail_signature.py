"""Signatures of requests, as in docs/payrail.md, and secrets that must not be logged."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from flask import Flask

from app.clients.payrail import BankAccount, Outcome, Transfer, TransferOutcome
from app.clients.payrail.breaker import Limits
from app.clients.payrail.signing import callback_signature, request_signature
from mock_rail import CODE, Fault, MockServer
from tests.clients.rail import KEY, SECRET, charge, client_of, read_outcome, send_transfer, serving
from tests.core.logging import logged
from tests.house.sources import ROOT

BODY = b'{"reference":"t-1","amountMinor":100,"currency":"NAD","destination":{"kind":"wallet","msisdn":"+264811234567"},"description":"x"}'  # noqa: E501
Change = dict[str, Any]


@pytest.fixture(scope="module")
def server() -> Iterator[MockServer]:
    with serving() as server:
        yield server


def post(server: MockServer, *, nonce: str, at: float = 0, **change: Any) -> httpx.Response:
    """A signed request, altered after it was signed."""
    timestamp = str(int(time.time() + at))
    about = {"key": KEY, "timestamp": timestamp, "nonce": nonce, "method": "POST", "path": "/v1/transfers"}
    signature = request_signature(SECRET, **about, body=BODY)
    headers = {
        "Payrail-Key": KEY,
        "Payrail-Timestamp": timestamp,
        "Payrail-Nonce": nonce,
        "Payrail-Signature": signature,
        "Idempotency-Key": "t-1",
        **change.get("headers", {}),
    }
    if "claimed" in change:
        headers["Payrail-Timestamp"] = str(int(time.time()) + change["claimed"])
    path, body = change.get("path", "/v1/transfers"), change.get("body", BODY)
    return httpx.post(server.url + path, content=body, headers=headers)


def test_what_is_signed_is_served_once(server: MockServer) -> None:
    assert post(server, nonce="0123456789abcdef").status_code == 200
    again = post(server, nonce="0123456789abcdef")
    assert (again.status_code, again.json()) == (401, {"error": "used_nonce"})


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"body": BODY.replace(b"100", b"900")}, "wrong_signature"),
        ({"path": "/v1/transfers?x=1"}, "wrong_signature"),
        ({"path": "/v1/charges"}, "wrong_signature"),
        ({"headers": {"Payrail-Nonce": "another-nonce-of-ours"}}, "wrong_signature"),
        ({"headers": {"Payrail-Signature": "0" * 64}}, "wrong_signature"),
        ({"headers": {"Payrail-Signature": ""}}, "wrong_signature"),
        ({"headers": {"Payrail-Key": "somebody"}}, "unknown_key"),
        ({"claimed": -200}, "wrong_signature"),
        ({"at": -310}, "stale_timestamp"),
        ({"at": 310}, "stale_timestamp"),
        ({"headers": {"Payrail-Timestamp": ""}}, "stale_timestamp"),
    ],
)
def test_what_was_altered_is_refused(server: MockServer, change: Change, error: str) -> None:
    answer = post(server, nonce=f"altered-{abs(hash(str(change))):020d}", **change)
    assert (answer.status_code, answer.json()) == (401, {"error": error})


@pytest.mark.parametrize(("skew", "outcome"), [(290, "not_found"), (-290, "not_found"), (400, "unknown")])
def test_clocks_may_differ_by_five_minutes(app: Flask, server: MockServer, skew: float, outcome: str) -> None:
    server.signature_check.skew = skew
    try:
        assert read_outcome(client_of(app, server.url), "nothing") is TransferOutcome(outcome)
    finally:
        server.signature_check.skew = 0


def test_the_worked_examples_of_the_page_are_right() -> None:
    page = (ROOT / "docs" / "payrail.md").read_text()
    example = dict(re.findall(r"^(\w+): +`(.*)`$", page, re.M))
    names = ("key", "timestamp", "nonce", "method", "path")
    body = example["body"].encode()
    assert example["request_signature"] == request_signature(
        example["secret"], **{name: example[name] for name in names}, body=body
    )
    assert example["callback_signature"] == callback_signature(
        example["secret"], timestamp=example["timestamp"], body=example["callback"].encode()
    )


def test_nothing_secret_is_logged_even_when_everything_is(app: Flask) -> None:
    account = BankAccount(
        account_name="Tuli Hamutenya", account_number="62000994567", bank_name="FNB", branch_code="280172"
    )
    sending = Transfer(reference="a-transfer", amount_minor=100, destination=account, description="Payout")
    with logged() as lines, serving() as server:
        rail = client_of(app, server.url, total=0.3, limits=Limits(failures=100))
        calls: list[Callable[[], Any]] = [
            lambda: rail.send_transfer(sending),
            lambda: send_transfer(rail, reference="another"),
            lambda: rail.start_charge(charge()),
            lambda: rail.confirm_charge("a-charge", CODE),
        ]
        for do in ("hang", "fail", "garbage", "other_reference", "other_amount"):
            server.faults.set([Fault(do=do, seconds=0.4)])
            for call in calls:
                call()
        server.faults.set([])
        wrong = client_of(app, server.url, secret="another-secret-that-is-wrong")
        assert wrong.start_charge(charge()).outcome is Outcome.UNKNOWN
    assert "payrail" in lines.text
    for secret in (KEY, SECRET, "another-secret", "62000994567", "811234567", "811230", "Tuli", CODE):
        assert secret not in lines.text, secret
