"""What happens to a message on its way: wishes, refusals, lines that break, and texts that mean harm."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from flask import Flask
from sqlalchemy import text

from app.campaigns import delivery
from app.clients.errors import PermanentAddressError
from app.core.jobs import Ambiguous, Permanent, Transient
from app.core.outbox.tuning import EXTENSION, Tuning
from app.core.transaction import transaction
from tests.campaigns.test_audience import device, suppressed, unsubscribed, unwanted
from tests.clients.mails import configure
from tests.factories.accounts import customer, deliver, mails_to
from tests.factories.campaigns import Crowd, fanned_out, rows
from tests.http import Client, data, refusal
from tests.smtp_sink import Plan, Sink, running

FRIEDA = "frieda@example.com"


@pytest.fixture
def crowd(client: Client) -> Crowd:
    return Crowd(client)


@pytest.fixture
def sink(app: Flask) -> Iterator[Sink]:
    before = app.extensions["settings"]
    with running() as sink:
        configure(app, SMTP_URL=sink.url)
        yield sink
    app.extensions["settings"] = before


@pytest.fixture(autouse=True)
def quick(app: Flask) -> Iterator[None]:
    """Failures come back at once."""
    app.extensions[EXTENSION] = Tuning(backoff=0.01, backoff_cap=0.01)
    yield
    del app.extensions[EXTENSION]


def due() -> None:
    """The hour has come."""
    with transaction() as session:
        session.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'campaigns.fan_out'"))
        session.execute(text("UPDATE campaign SET scheduled_at = now() WHERE scheduled_at IS NOT NULL"))


def test_who_says_no_between_scheduling_and_sending_gets_nothing(crowd: Crowd) -> None:
    quiet = customer(email="quiet@example.com")
    crowd.sold(FRIEDA, "gone@example.com", "quiet@example.com", "dead@example.com")
    campaign = crowd.send(sendNow=False, scheduledAt="2027-05-01T18:00:00Z")
    unsubscribed("gone@example.com", crowd)
    due()
    fanned_out()
    assert crowd.now(campaign)["progress"]["total"] == 3
    unwanted(quiet.id, "email")
    suppressed("email", "dead@example.com")
    found = crowd.finished(campaign)
    assert (found["progress"]["sent"], found["progress"]["suppressed"], found["status"]) == (1, 2, "sent")
    assert [len(mails_to(f"{name}@example.com")) for name in ("frieda", "gone", "quiet", "dead")] == [1, 0, 0, 0]
    reasons = rows("SELECT person, reason FROM campaign_recipient WHERE state = 'suppressed' ORDER BY person")
    assert reasons == [("dead@example.com", "suppressed"), ("quiet@example.com", "optedOut")]


@pytest.mark.parametrize(
    ("written", "zone", "instant"),
    [
        ("2027-03-28T01:59:59", "Europe/Berlin", "2027-03-28T00:59:59.000Z"),
        ("2027-03-28T02:30:00", "Europe/Berlin", "2027-03-28T01:30:00.000Z"),
        ("2027-03-28T03:00:00", "Europe/Berlin", "2027-03-28T01:00:00.000Z"),
        ("2027-10-31T02:30:00", "Europe/Berlin", "2027-10-31T00:30:00.000Z"),
        ("2027-10-31T02:30:00+01:00", "Europe/Berlin", "2027-10-31T01:30:00.000Z"),
        ("2027-06-04T18:00:00", "Africa/Windhoek", "2027-06-04T16:00:00.000Z"),
    ],
)
def test_clocks_that_change_meanwhile_change_no_instant(client: Client, written: str, zone: str, instant: str) -> None:
    crowd = Crowd(client, timezone=zone)
    campaign = crowd.send(sendNow=False, scheduledAt=written)
    assert crowd.now(campaign)["scheduledAt"] == instant
    ((run_at,),) = rows("SELECT run_at FROM outbox WHERE kind = 'campaigns.fan_out'")
    assert run_at.astimezone(UTC) == datetime.fromisoformat(instant.replace("Z", "+00:00"))
    data(crowd.owner.patch(f"/api/events/{crowd.event['id']}", {"timezone": "Asia/Tokyo"}))
    assert crowd.now(campaign)["scheduledAt"] == instant


def test_an_address_that_refuses_is_never_written_to_again(crowd: Crowd, sink: Sink) -> None:
    crowd.sold("nobody@example.com")
    sink.plans.append(Plan(rcpt="550 5.1.1 no such user"))
    found = crowd.finished(crowd.send())
    assert (found["status"], found["progress"]["failed"]) == ("failed", 1)
    assert rows("SELECT channel, address FROM suppression") == [("email", "nobody@example.com")]
    assert crowd.preview()["excluded"]["suppressed"] == 1


def test_what_is_put_off_comes_later_and_what_is_refused_does_not(crowd: Crowd, sink: Sink) -> None:
    crowd.sold("a@example.com", "b@example.com")
    sink.plans.extend([Plan(rcpt="451 later"), Plan(final="554 looks like spam")])
    found = crowd.finished(crowd.send())
    assert (found["progress"]["sent"], found["progress"]["failed"], found["status"]) == (1, 1, "sent")
    assert rows("SELECT address FROM suppression") == [] and len(sink.received) == 1


def test_a_line_that_breaks_after_the_last_dot_is_uncertain_and_sent_again_on_purpose_only(
    crowd: Crowd, sink: Sink
) -> None:
    crowd.sold("a@example.com", "b@example.com")
    sink.plans.append(Plan(drop=True))
    campaign = crowd.send()
    found = crowd.finished(campaign)
    assert (found["status"], found["progress"]["uncertain"], found["progress"]["sent"]) == ("sent", 1, 1)
    (row,) = data(crowd.owner.get(f"{crowd.one(campaign)}/uncertain"))["recipients"]
    assert row["state"] == "uncertain" and row["address"] in ("a•••@example.com", "b•••@example.com")
    key = {"Idempotency-Key": "again, please"}
    for _ in range(2):
        again = crowd.owner.post(f"{crowd.one(campaign)}/resend-uncertain", {"recipientIds": [row["id"]]}, headers=key)
        assert data(again, 202)["resent"] == 1
    assert crowd.now(campaign)["progress"]["pending"] == 1
    deliver()
    found = crowd.now(campaign)
    assert (found["progress"]["sent"], found["progress"]["uncertain"]) == (2, 0)
    assert found["history"][-1]["verb"] == "resent" and found["history"][-1]["details"] == {"resent": 1}
    ids = [received.message["Message-ID"] for received in sink.received]
    assert len(ids) == 3 and len(set(ids)) == 2, "the same message has the same name"
    nothing = crowd.owner.post(f"{crowd.one(campaign)}/resend-uncertain")
    assert refusal(nothing) == (409, "NOTHING_UNCERTAIN")


def test_a_campaign_whose_rows_cannot_be_made_has_failed(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise Permanent("it cannot be")

    monkeypatch.setattr("app.campaigns.fan_out.add_page", broken)
    crowd.sold(FRIEDA)
    assert crowd.finished(crowd.send())["status"] == "failed"


def test_a_campaign_to_nobody_is_over(crowd: Crowd) -> None:
    assert crowd.finished(crowd.send())["status"] == "sent"


HOSTILE = ("{{7*7}}", "{{ config }}", "<script>alert(1)</script>", "\u202eevil", "x" * 600, "${7*7}", "%(name)s", "{}")


def test_hostile_texts_and_names_arrive_as_they_are(crowd: Crowd, sink: Sink) -> None:
    names = ["<b>Bold</b> {eventName}", "{{firstName}} Brace", "Evil\r\nBcc: all@example.com", "www.evil.example now"]
    crowd.sold(*(f"p{number}@example.com" for number in range(len(names))), names=names)
    for item in HOSTILE:
        crowd.send(title=item[:150], body=item, href="https://example.com/?a=<b>&c='d'", channels=["email"])
    for _ in range(4):
        deliver()
    assert len(sink.received) == len(HOSTILE) * len(names)
    for received in sink.received:
        message = received.message
        assert message.get_all("Bcc") is None and len(received.recipients) == 1
        plain, html = (message.get_body((kind,)) for kind in ("plain", "html"))
        assert plain is not None and html is not None
        assert "49" not in str(message["Subject"]) and "<script>" not in html.get_content()
        assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    subjects = {str(received.message["Subject"]) for received in sink.received}
    assert {"{{7*7}}", "{{ config }}", "<script>alert(1)</script>", "${7*7}", "%(name)s", "{}"} <= subjects


def test_names_are_put_in_once_and_never_advertise(crowd: Crowd) -> None:
    names = ["{eventName} Nel", "www.evil.example now", "Evil\r\nBcc: x@y.example", None]
    crowd.sold(*(f"p{number}@example.com" for number in range(len(names))), names=names)
    crowd.send(title="To {firstName}", body="{name}")
    subjects = [mails_to(f"p{number}@example.com")[0]["subject"] for number in range(len(names))]
    assert subjects == ["To {eventName}", "To there", "To there", "To there"]


def test_a_text_message_says_how_to_end_it(crowd: Crowd) -> None:
    customer(email=FRIEDA, phone="+264811234567", name="Frieda Amupolo")
    crowd.sold(FRIEDA)
    crowd.finished(crowd.send(channels=["sms"], title="Doors", body="At {venue}", href="/events/x"))
    (message,) = mails_to("+264811234567")
    assert message["channel"] == "sms"
    assert message["text"].startswith("Doors\n\nAt River grounds\n\nhttp://localhost:8000/r/")
    assert "/unsubscribe/" in message["text"]


def test_every_device_shows_it_and_one_that_is_gone_is_forgotten(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = customer(email=FRIEDA)
    for _ in range(3):
        device(owner.id)
    ((gone,),) = rows("SELECT min(token) FROM push_device")
    shown = []

    def gateway(message: object, *, fence: object) -> str:
        if message.token == gone:  # type: ignore[attr-defined]
            raise PermanentAddressError("unknown device")
        fence()  # type: ignore[operator]
        shown.append(message.token)  # type: ignore[attr-defined]
        return "ok"

    monkeypatch.setattr(delivery.pushing, "send", gateway)
    crowd.sold(FRIEDA)
    found = crowd.finished(crowd.send(channels=["push"]))
    assert found["progress"]["sent"] == 1 and len(shown) == 2 and gone not in shown
    assert rows("SELECT count(*) FROM push_device") == [(2,)]


@pytest.mark.parametrize(("error", "state"), [(Transient("away"), "sent"), (Ambiguous("cut"), "uncertain")])
def test_a_device_that_fails_after_another_took_it_repeats_nothing(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch, error: Exception, state: str
) -> None:
    owner = customer(email=FRIEDA)
    for _ in range(2):
        device(owner.id)
    tried: list[str] = []

    def gateway(message: object, *, fence: object) -> str:
        fence()  # type: ignore[operator]
        tried.append(message.token)  # type: ignore[attr-defined]
        if len(tried) != 1 or state == "uncertain":
            raise error
        return "ok"

    monkeypatch.setattr(delivery.pushing, "send", gateway)
    crowd.sold(FRIEDA)
    found = crowd.finished(crowd.send(channels=["push"]))
    assert found["progress"][state] == 1 and len(tried) == 2
