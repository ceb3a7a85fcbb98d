"""A payout to a new destination is on hold: its owner is notified first and has time to stop it."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import true

from app.clients import dev_mailbox
from app.core.db import db
from app.core.jobs import Permanent, Postpone, Transient
from app.payouts import reviews, transfers
from app.payouts.actions import stop_payouts
from app.payouts.jobs import process_payout
from app.payouts.models import Payout
from app.payouts.notices import notify_owner
from tests.factories.accounts import account, mails_to
from tests.factories.merchants import changed
from tests.factories.payouts import (
    PATH,
    Sink,
    earner,
    later,
    lawful,
    money,
    rail_of,
    read,
    requested,
    resting,
    scalar,
    signed_in_earlier,
    wish,
    work,
    write,
)
from tests.http import Client, data, refusal
from tests.payouts.test_races import run
from tests.races import at_once

OTHER = "+264817654321"
SUBJECT = "A payout to a new destination"


def notices(email: str) -> list[dict[str, Any]]:
    return [item for item in mails_to(email) if SUBJECT in item["subject"]]


def test_owner_is_notified_before_the_transfer(client: Client) -> None:
    me, merchant = earner(client, 5000)
    notified_counts: list[int] = []

    class Watching(Sink):
        def send_transfer(self, transfer: Any) -> Any:
            notified_counts.append(scalar("SELECT count(*) FROM payout WHERE owner_told_at IS NOT NULL"))
            return super().send_transfer(transfer)

    with rail_of(Watching()):
        requested(me)
        work()
        requested(me)
        work()
    assert notified_counts == [1, 1]
    (mail,) = notices(merchant.email)
    assert "N$\u00a010.00" in mail["text"] and "••••567" in mail["text"]


@pytest.mark.parametrize("fields", [{}, {"mode": "schedule", "scheduledFor": "2026-12-30"}])
def test_owner_is_notified_immediately_and_the_payout_is_on_hold(
    app: Flask, client: Client, fields: dict[str, Any]
) -> None:
    with resting(app, hours=24), rail_of(Sink()) as sink:
        me, merchant = earner(client, 5000)
        payout = requested(me, **fields)
        assert payout["heldUntil"] is not None and payout["status"] in ("requested", "scheduled")
        work()
        (mail,) = notices(merchant.email)
        assert "stop" in mail["text"].lower()
        assert read(me, payout)["heldUntil"] is not None and money(me) == (4000, 1000)
        later(timedelta(hours=23, minutes=59))
        assert read(me, payout)["status"] == payout["status"] and sink.tries == []
        later(timedelta(days=60) if fields else timedelta(minutes=2))
        assert read(me, payout)["status"] == "paid" and sink.tries == [payout["id"]]
        assert len(notices(merchant.email)) == 1
    lawful()


def test_hold_begins_when_the_mail_has_left(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with resting(app, hours=24), rail_of(Sink()) as sink:
        me, merchant = earner(client, 5000)
        payout = requested(me)

        def fail_to_send(*_: Any, **__: Any) -> None:
            raise Transient("the mail server is away")

        with monkeypatch.context() as patched:
            patched.setattr("app.payouts.notices.send", fail_to_send)
            later(timedelta(hours=30))
            assert read(me, payout)["status"] == "requested" and sink.tries == []
        later(timedelta(hours=2))
        later(timedelta(hours=22))
        assert read(me, payout)["status"] == "requested" and len(notices(merchant.email)) == 1
        later(timedelta(hours=3))
        assert read(me, payout)["status"] == "paid"


def test_payout_is_cancelled_and_reviewed_when_its_notice_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise Permanent("550 no such mailbox")

    monkeypatch.setattr("app.payouts.notices.send", refuse)
    me, _ = earner(client, 5000)
    with rail_of(Sink()) as sink:
        payout = requested(me)
        work()
    found = read(me, payout)
    assert (found["status"], found["reason"]) == ("cancelled", "OWNER_NOT_TOLD") and sink.tries == []
    assert money(me) == (5000, 0)
    assert [review.review.kind for review in reviews.list_open_reviews()] == ["owner_not_told"]
    lawful()


def test_payout_goes_to_the_confirmed_destination_despite_later_changes(app: Flask, client: Client) -> None:
    with resting(app, hours=24), rail_of(Sink()) as sink:
        me, _ = earner(client, 5000)
        payout = requested(me)
        work()
        changed(me, payoutDetails={"msisdn": OTHER})
        later(timedelta(hours=25))
        assert sink.sent[payout["id"]].destination.msisdn == "+264811234567"


def stop_against_submit(app: Flask, client: Client) -> tuple[str, list[str]]:
    """How a payout ended whose rest is over while its link is used, and what the rail was told."""
    me, _ = earner(client, 1000)
    with resting(app, hours=24), rail_of(Sink()) as sink:
        payout = requested(me)
        work()
        write("UPDATE payout SET held_until = now() WHERE id = :id", id=payout["id"])

        def act(number: int) -> Any:
            with app.app_context():
                if number:
                    return stop_payouts(payout["id"])
                with suppress(Postpone):
                    process_payout(run(), payout_id=payout["id"])
                return None

        at_once(2, act)
        return read(me, payout)["status"], sink.tries


def test_stop_and_submit_never_both_succeed(app: Flask, client: Client) -> None:
    for _ in range(10):
        status, sent = stop_against_submit(app, client)
        assert (status, len(sent)) in (("cancelled", 0), ("paid", 1))
    lawful()


@pytest.mark.control
def test_without_the_condition_it_would_leave_during_the_hold(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "may_leave_sql", lambda: true())
    me, _ = earner(client, 1000)
    with resting(app, hours=24), rail_of(Sink()):
        payout = requested(me)
        assert transfers.mark_processing(db.session.get_one(Payout, payout["id"]))


def test_payout_on_hold_can_be_cancelled(app: Flask, client: Client) -> None:
    with resting(app, hours=24):
        me, _ = earner(client, 5000)
        payout = requested(me)
        data(me.post(f"{PATH}/{payout['id']}/cancel"))
        assert money(me) == (5000, 0)
        later(timedelta(days=2))
        assert read(me, payout)["status"] == "cancelled"
    lawful()


def test_of_64_concurrent_requests_none_leaves_unconfirmed_or_early(app: Flask, client: Client) -> None:
    with resting(app, hours=24), rail_of(Sink()) as sink:
        me, merchant = earner(client, 64_000)
        signed_in_earlier(merchant)
        unconfirmed_responses = at_once(64, lambda number: me.post(PATH, wish(1000)))
        assert {refusal(item)[1] for item in unconfirmed_responses} <= {"CONFIRMATION_REQUIRED", "BUSY"}
        signed_in_earlier(merchant, timedelta(days=-1))
        confirmed_responses = at_once(64, lambda number: me.post(PATH, wish(1000)))
        assert {item.status_code for item in confirmed_responses} <= {201, 503, 409}
        work()
        assert sink.tries == []
        assert scalar("SELECT count(*) FROM payout WHERE held_until > now() + interval '23 h'") == scalar(
            "SELECT count(*) FROM payout"
        )
    lawful()


def test_only_the_owner_is_notified(client: Client) -> None:
    account("organiser")
    account("admin")
    me, merchant = earner(client, 5000)
    requested(me)
    work()
    assert {message["to"] for message in dev_mailbox.list_messages()} == {merchant.email}


def test_repeated_notice_has_the_same_message_id(client: Client) -> None:
    me, _ = earner(client, 5000)
    payout = requested(me)
    for _ in range(2):
        notify_owner(db.session.get_one(Payout, payout["id"]), fence=lambda: None)
    found = [message for message in dev_mailbox.list_messages() if SUBJECT in message["subject"]]
    assert len({item["headers"]["Message-ID"] for item in found}) == 1
