"""Callbacks of the rail: signature, timestamp and format."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.clients.payrail.callbacks import CallbackEvent, parse_callback
from app.clients.payrail.errors import CallbackNotSigned, CallbackUnreadable
from app.clients.payrail.interface import Outcome, TransferOutcome
from app.clients.payrail.signing import callback_signature
from tests.settings import app_for

SECRET = "the-secret-that-rail-and-tests-share"
EVENT = {
    "id": "evt-1",
    "kind": "transfer",
    "reference": "a-transfer",
    "outcome": "paid",
    "amountMinor": 90000,
    "currency": "NAD",
    "at": "2026-11-21T09:00:00.000Z",
}


@pytest.fixture(scope="module")
def live_app(application: Flask) -> Flask:
    """An application with a secret. Making one takes half a second, and no test here changes it."""
    settings = application.extensions["settings"]
    return app_for(database_url=settings.DATABASE_URL, redis_url=settings.REDIS_URL, PAYRAIL_SECRET=SECRET)


@pytest.fixture
def live(live_app: Flask) -> Iterator[Flask]:
    with live_app.app_context():
        yield live_app


def signed(body: bytes, *, at: float | None = None, secret: str = SECRET) -> dict[str, str]:
    timestamp = str(int(time.time() if at is None else at))
    signature = callback_signature(secret, timestamp=timestamp, body=body)
    return {"Payrail-Timestamp": timestamp, "Payrail-Signature": signature}


def said(**fields: Any) -> bytes:
    return json.dumps({**EVENT, **fields}).encode()


def test_signed_event_is_parsed(live: Flask) -> None:
    event = parse_callback(signed(said()), said())
    assert event == CallbackEvent(
        event_id="evt-1",
        kind="transfer",
        reference="a-transfer",
        outcome=TransferOutcome.PAID,
        amount_minor=90000,
        currency="NAD",
        at=event.at,
    )
    charge = said(kind="charge", outcome="declined")
    assert parse_callback(signed(charge), charge).outcome is Outcome.DECLINED
    assert event.at.isoformat() == "2026-11-21T09:00:00+00:00"


@pytest.mark.parametrize("seconds", [-290, 290])
def test_timestamp_may_differ_by_five_minutes(live: Flask, seconds: int) -> None:
    assert parse_callback(signed(said(), at=time.time() + seconds), said())


@pytest.mark.parametrize("seconds", [-310, 310, 1e6])
def test_timestamp_may_not_differ_by_more(live: Flask, seconds: float) -> None:
    with pytest.raises(CallbackNotSigned):
        parse_callback(signed(said(), at=time.time() + seconds), said())


@pytest.mark.parametrize(
    "change",
    [
        {"Payrail-Signature": ""},
        {"Payrail-Timestamp": ""},
        {"Payrail-Signature": "é" * 64},
        {"Payrail-Timestamp": "²³"},
        {"Payrail-Timestamp": "-5"},
        {"Payrail-Timestamp": "9" * 400},
        {"Payrail-Signature": signed(said(), secret="another")["Payrail-Signature"]},
        {"Payrail-Timestamp": str(int(time.time()) - 20)},
    ],
)
def test_altered_signature_is_401(live: Flask, change: dict[str, str]) -> None:
    with pytest.raises(CallbackNotSigned) as refused:
        parse_callback({**signed(said()), **change}, said())
    assert refused.value.status == 401


def test_altered_body_is_401(live: Flask) -> None:
    with pytest.raises(CallbackNotSigned):
        parse_callback(signed(said()), said(amountMinor=1))


def test_callbacks_are_refused_without_a_secret(app: Flask) -> None:
    with pytest.raises(CallbackNotSigned):
        parse_callback(signed(said(), secret=""), said())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 5000,
        b'{"id":1}',
        said() + b"x",
        said()[:-1] + b',"id":"evt-2"}',
        said(amountMinor=0),
        said(amountMinor=1.5),
        said(amountMinor="100"),
        said(amountMinor=True),
        said(amountMinor=2**53),
        said(outcome="unknown"),
        said(outcome="code_sent"),
        said(kind="refund"),
        said(kind=["charge"]),
        said(id=""),
        said(id="e" * 81),
        said(reference="a\nb"),
        said(at="yesterday"),
        said(at="2026-11-21T09:00:00"),
        said(currency="NADX"),
        said(amountMinor=float("nan")),
        said(pad="x" * 70000),
    ],
)
def test_signed_body_that_is_no_event_is_422(live: Flask, body: bytes) -> None:
    with pytest.raises(CallbackUnreadable) as refused:
        parse_callback(signed(body), body)
    assert refused.value.status == 422
