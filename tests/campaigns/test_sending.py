"""Deliveries: preferences, refused addresses, broken connections and hostile texts."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from flask import Flask
from sqlalchemy import text

from app.campaigns import delivery
from app.clients.message import PermanentAddressError
from app.core.jobs import Ambiguous, Permanent, Transient
from app.core.outbox.tuning import EXTENSION, Tuning
from app.core.transaction import transaction
from tests.campaigns.test_audience import disable_channel, register_device, suppress, unsubscribe
from tests.clients.mails import configure
from tests.factories.accounts import create_customer, list_mails_to, run_jobs
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows, run_fan_out
from tests.http import Client, data, read_error
from tests.smtp_sink import Plan, Sink, run_smtp_sink

FRIEDA = "frieda@example.com"


@pytest.fixture
def campaign_event(client: Client) -> CampaignEvent:
    return CampaignEvent(client)


@pytest.fixture
def sink(app: Flask) -> Iterator[Sink]:
    before = app.extensions["settings"]
    with run_smtp_sink() as sink:
        configure(app, SMTP_URL=sink.url)
        yield sink
    app.extensions["settings"] = before


@pytest.fixture(autouse=True)
def retry_quickly(app: Flask) -> Iterator[None]:
    """Failed jobs are retried immediately."""
    app.extensions[EXTENSION] = Tuning(backoff=0.01, backoff_cap=0.01)
    yield
    del app.extensions[EXTENSION]


def make_due() -> None:
    """Moves the scheduled time of campaigns to now."""
    with transaction() as session:
        session.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'campaigns.fan_out'"))
        session.execute(text("UPDATE campaign SET scheduled_at = now() WHERE scheduled_at IS NOT NULL"))


def test_unsubscribing_between_scheduling_and_sending_is_respected(campaign_event: CampaignEvent) -> None:
    quiet = create_customer(email="quiet@example.com")
    campaign_event.sold(FRIEDA, "gone@example.com", "quiet@example.com", "dead@example.com")
    campaign = campaign_event.send(sendNow=False, scheduledAt="2027-05-01T18:00:00Z")
    unsubscribe("gone@example.com", campaign_event)
    make_due()
    run_fan_out()
    assert campaign_event.now(campaign)["progress"]["total"] == 3
    disable_channel(quiet.id, "email")
    suppress("email", "dead@example.com")
    campaign_data = campaign_event.finished(campaign)
    assert (campaign_data["progress"]["sent"], campaign_data["progress"]["suppressed"], campaign_data["status"]) == (
        1,
        2,
        "sent",
    )
    assert [len(list_mails_to(f"{name}@example.com")) for name in ("frieda", "gone", "quiet", "dead")] == [1, 0, 0, 0]
    reasons = fetch_sql_rows("SELECT person, reason FROM campaign_recipient WHERE state = 'suppressed' ORDER BY person")
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
def test_scheduled_instant_does_not_change_with_the_time_zone(
    client: Client, written: str, zone: str, instant: str
) -> None:
    campaign_event = CampaignEvent(client, timezone=zone)
    campaign = campaign_event.send(sendNow=False, scheduledAt=written)
    assert campaign_event.now(campaign)["scheduledAt"] == instant
    ((run_at,),) = fetch_sql_rows("SELECT run_at FROM outbox WHERE kind = 'campaigns.fan_out'")
    assert run_at.astimezone(UTC) == datetime.fromisoformat(instant.replace("Z", "+00:00"))
    data(campaign_event.owner.patch(f"/api/events/{campaign_event.event['id']}", {"timezone": "Asia/Tokyo"}))
    assert campaign_event.now(campaign)["scheduledAt"] == instant


def test_refused_address_is_suppressed(campaign_event: CampaignEvent, sink: Sink) -> None:
    campaign_event.sold("nobody@example.com")
    sink.plans.append(Plan(rcpt="550 5.1.1 no such user"))
    campaign_data = campaign_event.finished(campaign_event.send())
    assert (campaign_data["status"], campaign_data["progress"]["failed"]) == ("failed", 1)
    assert fetch_sql_rows("SELECT channel, address FROM suppression") == [("email", "nobody@example.com")]
    assert campaign_event.preview()["excluded"]["suppressed"] == 1


def test_temporary_failure_is_retried_and_refusal_is_not(campaign_event: CampaignEvent, sink: Sink) -> None:
    campaign_event.sold("a@example.com", "b@example.com")
    sink.plans.extend([Plan(rcpt="451 later"), Plan(final="554 looks like spam")])
    campaign_data = campaign_event.finished(campaign_event.send())
    assert (campaign_data["progress"]["sent"], campaign_data["progress"]["failed"], campaign_data["status"]) == (
        1,
        1,
        "sent",
    )
    assert fetch_sql_rows("SELECT address FROM suppression") == [] and len(sink.received) == 1


def test_broken_connection_makes_a_message_uncertain_and_only_resend_repeats_it(
    campaign_event: CampaignEvent, sink: Sink
) -> None:
    campaign_event.sold("a@example.com", "b@example.com")
    sink.plans.append(Plan(drop=True))
    campaign = campaign_event.send()
    campaign_data = campaign_event.finished(campaign)
    assert (campaign_data["status"], campaign_data["progress"]["uncertain"], campaign_data["progress"]["sent"]) == (
        "sent",
        1,
        1,
    )
    (row,) = data(campaign_event.owner.get(f"{campaign_event.one(campaign)}/uncertain"))["recipients"]
    assert row["state"] == "uncertain" and row["address"] in ("a•••@example.com", "b•••@example.com")
    undelivered = f"{campaign_event.path}/undelivered"
    (listed,) = data(campaign_event.owner.get(f"{undelivered}?campaignId={campaign}"))["recipients"]
    assert listed == {**row, "campaignId": campaign, "campaignName": campaign_data["name"]}
    assert data(campaign_event.owner.get(f"{undelivered}?state=failed"))["recipients"] == []
    key = {"Idempotency-Key": "again, please"}
    for _ in range(2):
        response = campaign_event.owner.post(
            f"{campaign_event.one(campaign)}/resend-uncertain", {"recipientIds": [row["id"]]}, headers=key
        )
        assert data(response, 202)["resent"] == 1
    assert campaign_event.now(campaign)["progress"]["pending"] == 1
    run_jobs()
    campaign_data = campaign_event.now(campaign)
    assert (campaign_data["progress"]["sent"], campaign_data["progress"]["uncertain"]) == (2, 0)
    assert campaign_data["history"][-1]["verb"] == "resent" and campaign_data["history"][-1]["details"] == {"resent": 1}
    ids = [received.message["Message-ID"] for received in sink.received]
    assert len(ids) == 3 and len(set(ids)) == 2, "a message keeps its Message-ID"
    response = campaign_event.owner.post(f"{campaign_event.one(campaign)}/resend-uncertain")
    assert read_error(response) == (409, "NOTHING_UNCERTAIN")


def test_campaign_fails_if_its_fan_out_fails(campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Permanent("it cannot be")

    monkeypatch.setattr("app.campaigns.delivery.add_page", fail)
    campaign_event.sold(FRIEDA)
    assert campaign_event.finished(campaign_event.send())["status"] == "failed"


def test_campaign_without_recipients_is_sent(campaign_event: CampaignEvent) -> None:
    assert campaign_event.finished(campaign_event.send())["status"] == "sent"


HOSTILE = ("{{7*7}}", "{{ config }}", "<script>alert(1)</script>", "\u202eevil", "x" * 600, "${7*7}", "%(name)s", "{}")


def test_hostile_texts_and_names_arrive_unchanged(campaign_event: CampaignEvent, sink: Sink) -> None:
    names = ["<b>Bold</b> {eventName}", "{{firstName}} Brace", "Evil\r\nBcc: all@example.com", "www.evil.example now"]
    campaign_event.sold(*(f"p{number}@example.com" for number in range(len(names))), names=names)
    for hostile_text in HOSTILE:
        campaign_event.send(
            title=hostile_text[:150], body=hostile_text, href="https://example.com/?a=<b>&c='d'", channels=["email"]
        )
    for _ in range(4):
        run_jobs()
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


def test_names_are_filled_once_and_without_links(campaign_event: CampaignEvent) -> None:
    names = ["{eventName} Nel", "www.evil.example now", "Evil\r\nBcc: x@y.example", None]
    campaign_event.sold(*(f"p{number}@example.com" for number in range(len(names))), names=names)
    campaign_event.send(title="To {firstName}", body="{name}")
    subjects = [list_mails_to(f"p{number}@example.com")[0]["subject"] for number in range(len(names))]
    assert subjects == ["To {eventName}", "To there", "To there", "To there"]


def test_text_message_has_an_unsubscribe_link(campaign_event: CampaignEvent) -> None:
    create_customer(email=FRIEDA, phone="+264811234567", name="Frieda Amupolo")
    campaign_event.sold(FRIEDA)
    campaign_event.finished(campaign_event.send(channels=["sms"], title="Doors", body="At {venue}", href="/events/x"))
    (message,) = list_mails_to("+264811234567")
    assert message["channel"] == "sms"
    assert message["text"].startswith("Doors\n\nAt River grounds\n\nhttp://localhost:8000/r/")
    assert "/unsubscribe/" in message["text"]


def test_every_device_gets_it_and_an_unknown_device_is_deleted(
    campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = create_customer(email=FRIEDA)
    for _ in range(3):
        register_device(owner.id)
    ((gone,),) = fetch_sql_rows("SELECT min(token) FROM push_device")
    tokens = []

    def gateway(message: object, *, fence: object) -> str:
        if message.token == gone:  # type: ignore[attr-defined]
            raise PermanentAddressError("unknown device")
        fence()  # type: ignore[operator]
        tokens.append(message.token)  # type: ignore[attr-defined]
        return "ok"

    monkeypatch.setattr(delivery.push, "send", gateway)
    campaign_event.sold(FRIEDA)
    campaign_data = campaign_event.finished(campaign_event.send(channels=["push"]))
    assert campaign_data["progress"]["sent"] == 1 and len(tokens) == 2 and gone not in tokens
    assert fetch_sql_rows("SELECT count(*) FROM push_device") == [(2,)]


@pytest.mark.parametrize(("error", "state"), [(Transient("away"), "sent"), (Ambiguous("cut"), "uncertain")])
def test_device_failure_after_a_success_does_not_repeat_the_message(
    campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch, error: Exception, state: str
) -> None:
    owner = create_customer(email=FRIEDA)
    for _ in range(2):
        register_device(owner.id)
    tried: list[str] = []

    def gateway(message: object, *, fence: object) -> str:
        fence()  # type: ignore[operator]
        tried.append(message.token)  # type: ignore[attr-defined]
        if len(tried) != 1 or state == "uncertain":
            raise error
        return "ok"

    monkeypatch.setattr(delivery.push, "send", gateway)
    campaign_event.sold(FRIEDA)
    campaign_data = campaign_event.finished(campaign_event.send(channels=["push"]))
    assert campaign_data["progress"][state] == 1 and len(tried) == 2
