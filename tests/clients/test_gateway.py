"""SMS and push over HTTP: requests to the gateway, and the outcome for each response."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.clients import dev_mailbox
from app.clients import http_gateway as client
from app.clients.message import PermanentAddressError
from app.clients.push import Push
from app.clients.push import send as send_push
from app.clients.sms import Sms
from app.clients.sms import send as send_sms
from app.core.jobs import Ambiguous, LostLease, Permanent, Transient
from app.core.transaction import TransactionOpen, transaction
from tests.clients.gateway_server import Gateway, gateway
from tests.clients.mails import configure, no_fence
from tests.races import run_concurrently

SMS = Sms(to="+264811234567", text="Gates open at 16:00 — ǃgâi tsēs", key="campaign:1:sms", sender="Windhoek Lights")
PUSH = Push(
    token="device-1",
    platform="ios",
    title="Gates open",
    text="At 16:00",
    key="campaign:1:push",
    href="https://events.example/x",
)


@pytest.fixture
def other_side() -> Iterator[Gateway]:
    with gateway() as started:
        yield started


@pytest.fixture(autouse=True)
def sending(app: Flask, other_side: Gateway, tmp_path: Path) -> Iterator[None]:
    before = app.extensions["settings"]
    configure(app, SMS_URL=other_side.url(), PUSH_URL=other_side.url("push:s%40cret", "/push"), DATA_DIR=tmp_path)
    yield
    client._get_connection.cache_clear()
    app.extensions["settings"] = before


def test_a_text_message_goes_out_as_documented(other_side: Gateway) -> None:
    assert send_sms(SMS, fence=no_fence) == "provider-1"
    (asked,) = other_side.asked
    assert asked.path == "/v1/messages"
    assert asked.said == {
        "id": "campaign:1:sms",
        "to": "+264811234567",
        "text": SMS.text,
        "sender": "Windhoek Lights",
    }
    assert asked.headers["idempotency-key"] == "campaign:1:sms"
    assert asked.headers["authorization"] == "Bearer token"
    assert asked.headers["host"] == f"127.0.0.1:{other_side.port}"


def test_a_push_message_goes_out_as_documented(other_side: Gateway) -> None:
    assert send_push(PUSH, fence=no_fence) == "provider-1"
    (asked,) = other_side.asked
    assert asked.path == "/push"
    assert asked.said == {
        "id": "campaign:1:push",
        "token": "device-1",
        "platform": "ios",
        "title": "Gates open",
        "text": "At 16:00",
        "href": "https://events.example/x",
        "imageUrl": None,
    }
    assert asked.headers["authorization"] == "Basic " + b64encode(b"push:s@cret").decode()


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (400, Permanent),
        (422, Permanent),
        (413, Permanent),
        (410, PermanentAddressError),
        (404, Transient),
        (405, Transient),
        (401, Transient),
        (403, Transient),
        (408, Transient),
        (429, Transient),
        (500, Transient),
        (503, Transient),
        (301, Transient),
        (307, Transient),
        (502, Ambiguous),
        (504, Ambiguous),
    ],
)
def test_an_answer_has_its_verdict(other_side: Gateway, status: int, verdict: type[Exception]) -> None:
    other_side.next(status=status, body=b'{"error": "no such number"}')
    with pytest.raises(verdict, match=f"{status}: no such number") as refused:
        send_sms(SMS, fence=no_fence)
    assert type(refused.value) is verdict and len(other_side.asked) == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"OK", b"[]", b'{"reference": 7}', b'{"reference": ""}', b'{"reference": "a\\u0000b"}', b"\xff", b"[" * 9000],
)
def test_a_taken_message_without_a_name_keeps_ours(other_side: Gateway, body: bytes) -> None:
    other_side.next(status=202, body=body)
    assert send_sms(SMS, fence=no_fence) == SMS.key


def test_a_reference_has_an_end(other_side: Gateway) -> None:
    other_side.next(body=b'{"reference": "' + b"x" * 5000 + b'"}')
    assert send_sms(SMS, fence=no_fence) == "x" * 200


def test_nobody_there_is_no_message(app: Flask) -> None:
    configure(app, SMS_URL="http://127.0.0.1:9/")
    with pytest.raises(Transient, match="cannot be reached"):
        send_sms(SMS, fence=no_fence)


@pytest.mark.parametrize("plan", [{"drop": True}, {"seconds": 0.8}, {"drip": True}], ids=["drop", "hang", "drip"])
def test_a_message_that_was_handed_over_and_not_answered_is_uncertain(
    other_side: Gateway, monkeypatch: pytest.MonkeyPatch, plan: dict[str, object]
) -> None:
    monkeypatch.setattr(client, "TOTAL_SECONDS", 0.5)
    other_side.next(**plan)
    with pytest.raises(Ambiguous, match="no answer"):
        send_sms(SMS, fence=no_fence)
    assert len(other_side.asked) == 1


def test_the_fence_is_the_last_thing_before_the_message(other_side: Gateway) -> None:
    def lost() -> None:
        assert other_side.asked == []
        raise LostLease("taken over")

    for send in (lambda: send_sms(SMS, fence=lost), lambda: send_push(PUSH, fence=lost)):
        with pytest.raises(LostLease):
            send()
    assert other_side.asked == [] and dev_mailbox.list_messages() == []


def test_nothing_is_sent_within_a_transaction(other_side: Gateway) -> None:
    with transaction(), pytest.raises(TransactionOpen):
        send_sms(SMS, fence=no_fence)
    assert other_side.asked == []


def test_a_connection_is_kept_and_shared_by_threads(app: Flask, other_side: Gateway) -> None:
    def one(number: int) -> str:
        with app.app_context():
            return send_sms(Sms(to="+264811234567", text="Hello", key=f"key-{number}"), fence=no_fence)

    for _ in range(3):
        assert run_concurrently(8, one) == ["provider-1"] * 8
    assert {item.said["id"] for item in other_side.asked} == {f"key-{number}" for number in range(8)}
    assert len(other_side.asked) == 24 and other_side.connections <= 16


def test_while_developing_a_copy_is_kept_of_what_was_taken(other_side: Gateway) -> None:
    other_side.next(status=422)
    with pytest.raises(Permanent):
        send_sms(SMS, fence=no_fence)
    assert dev_mailbox.list_messages() == []
    send_sms(SMS, fence=no_fence)
    assert [(message["channel"], message["to"]) for message in dev_mailbox.list_messages()] == [("sms", SMS.to)]


def test_a_full_disk_makes_no_taken_message_look_lost(other_side: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dev_mailbox, "store_message", full)
    assert send_sms(SMS, fence=no_fence) == "provider-1"


def test_without_a_gateway_messages_stay_in_the_mailbox(app: Flask, other_side: Gateway) -> None:
    configure(app, SMS_URL=None, PUSH_URL=None)
    assert send_sms(SMS, fence=no_fence) == "mailbox:campaign:1:sms"
    assert send_push(PUSH, fence=no_fence) == "mailbox:campaign:1:push"
    pushed, texted = dev_mailbox.list_messages()
    assert (texted["channel"], texted["to"], texted["text"]) == ("sms", "+264811234567", SMS.text)
    assert (pushed["channel"], pushed["to"], pushed["subject"]) == ("push", "device-1", "Gates open")
    assert pushed["headers"] == {"Platform": "ios", "Opens": "https://events.example/x"}
    assert other_side.asked == []


def test_in_production_nothing_counts_as_sent_without_a_gateway(app: Flask) -> None:
    configure(app, SMS_URL=None, APP_ENV="production")
    with pytest.raises(Transient, match="SMS_URL is not set"):
        send_sms(SMS, fence=no_fence)
    assert dev_mailbox.list_messages() == []
