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
from app.payouts.emails import notify_owner
from app.payouts.jobs import process_payout
from app.payouts.models import Payout
from tests.factories.accounts import create_account, list_mails_to
from tests.factories.merchants import update_merchant
from tests.factories.payouts import (
    PATH,
    FakeRail,
    advance_time,
    age_sign_ins,
    assert_ledger_integrity,
    build_payout_body,
    create_earning_merchant,
    destination_hold,
    execute_sql,
    fetch_scalar,
    load_balance,
    load_payout,
    request_payout,
    run_all_jobs,
    use_rail,
)
from tests.http import Client, data, read_error
from tests.payouts.test_races import run
from tests.races import run_concurrently

OTHER = "+264817654321"
SUBJECT = "A payout to a new destination"


def notices(email: str) -> list[dict[str, Any]]:
    return [item for item in list_mails_to(email) if SUBJECT in item["subject"]]


def test_owner_is_notified_before_the_transfer(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 5000)
    notified_counts: list[int] = []

    class Watching(FakeRail):
        def send_transfer(self, transfer: Any) -> Any:
            notified_counts.append(fetch_scalar("SELECT count(*) FROM payout WHERE owner_told_at IS NOT NULL"))
            return super().send_transfer(transfer)

    with use_rail(Watching()):
        request_payout(me)
        run_all_jobs()
        request_payout(me)
        run_all_jobs()
    assert notified_counts == [1, 1]
    (mail,) = notices(merchant.email)
    assert "N$\u00a010.00" in mail["text"] and "••••567" in mail["text"]


@pytest.mark.parametrize("fields", [{}, {"mode": "schedule", "scheduledFor": "2026-12-30"}])
def test_owner_is_notified_immediately_and_the_payout_is_on_hold(
    app: Flask, client: Client, fields: dict[str, Any]
) -> None:
    with destination_hold(app, hours=24), use_rail(FakeRail()) as sink:
        me, merchant = create_earning_merchant(client, 5000)
        payout = request_payout(me, **fields)
        assert payout["heldUntil"] is not None and payout["status"] in ("requested", "scheduled")
        run_all_jobs()
        (mail,) = notices(merchant.email)
        assert "stop" in mail["text"].lower()
        assert load_payout(me, payout)["heldUntil"] is not None and load_balance(me) == (4000, 1000)
        advance_time(timedelta(hours=23, minutes=59))
        assert load_payout(me, payout)["status"] == payout["status"] and sink.tries == []
        advance_time(timedelta(days=60) if fields else timedelta(minutes=2))
        assert load_payout(me, payout)["status"] == "paid" and sink.tries == [payout["id"]]
        assert len(notices(merchant.email)) == 1
    assert_ledger_integrity()


def test_hold_begins_when_the_mail_has_left(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with destination_hold(app, hours=24), use_rail(FakeRail()) as sink:
        me, merchant = create_earning_merchant(client, 5000)
        payout = request_payout(me)

        def fail_to_send(*_: Any, **__: Any) -> None:
            raise Transient("the mail server is away")

        with monkeypatch.context() as patched:
            patched.setattr("app.payouts.emails.send", fail_to_send)
            advance_time(timedelta(hours=30))
            assert load_payout(me, payout)["status"] == "requested" and sink.tries == []
        advance_time(timedelta(hours=2))
        advance_time(timedelta(hours=22))
        assert load_payout(me, payout)["status"] == "requested" and len(notices(merchant.email)) == 1
        advance_time(timedelta(hours=3))
        assert load_payout(me, payout)["status"] == "paid"


def test_payout_is_cancelled_and_reviewed_when_its_notice_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise Permanent("550 no such mailbox")

    monkeypatch.setattr("app.payouts.emails.send", refuse)
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail()) as sink:
        payout = request_payout(me)
        run_all_jobs()
    found = load_payout(me, payout)
    assert (found["status"], found["reason"]) == ("cancelled", "OWNER_NOT_TOLD") and sink.tries == []
    assert load_balance(me) == (5000, 0)
    assert [review.review.kind for review in reviews.list_open_reviews()] == ["owner_not_told"]
    assert_ledger_integrity()


def test_payout_goes_to_the_confirmed_destination_despite_later_changes(app: Flask, client: Client) -> None:
    with destination_hold(app, hours=24), use_rail(FakeRail()) as sink:
        me, _ = create_earning_merchant(client, 5000)
        payout = request_payout(me)
        run_all_jobs()
        update_merchant(me, payoutDetails={"msisdn": OTHER})
        advance_time(timedelta(hours=25))
        assert sink.sent[payout["id"]].destination.msisdn == "+264811234567"


def stop_against_submit(app: Flask, client: Client) -> tuple[str, list[str]]:
    """How a payout ended whose rest is over while its link is used, and what the rail was told."""
    me, _ = create_earning_merchant(client, 1000)
    with destination_hold(app, hours=24), use_rail(FakeRail()) as sink:
        payout = request_payout(me)
        run_all_jobs()
        execute_sql("UPDATE payout SET held_until = now() WHERE id = :id", id=payout["id"])

        def act(number: int) -> Any:
            with app.app_context():
                if number:
                    return stop_payouts(payout["id"])
                with suppress(Postpone):
                    process_payout(run(), payout_id=payout["id"])
                return None

        run_concurrently(2, act)
        return load_payout(me, payout)["status"], sink.tries


def test_stop_and_submit_never_both_succeed(app: Flask, client: Client) -> None:
    for _ in range(10):
        status, sent = stop_against_submit(app, client)
        assert (status, len(sent)) in (("cancelled", 0), ("paid", 1))
    assert_ledger_integrity()


@pytest.mark.control
def test_without_the_condition_it_would_leave_during_the_hold(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "may_leave_sql", lambda: true())
    me, _ = create_earning_merchant(client, 1000)
    with destination_hold(app, hours=24), use_rail(FakeRail()):
        payout = request_payout(me)
        assert transfers.mark_processing(db.session.get_one(Payout, payout["id"]))


def test_payout_on_hold_can_be_cancelled(app: Flask, client: Client) -> None:
    with destination_hold(app, hours=24):
        me, _ = create_earning_merchant(client, 5000)
        payout = request_payout(me)
        data(me.post(f"{PATH}/{payout['id']}/cancel"))
        assert load_balance(me) == (5000, 0)
        advance_time(timedelta(days=2))
        assert load_payout(me, payout)["status"] == "cancelled"
    assert_ledger_integrity()


def test_of_64_concurrent_requests_none_leaves_unconfirmed_or_early(app: Flask, client: Client) -> None:
    with destination_hold(app, hours=24), use_rail(FakeRail()) as sink:
        me, merchant = create_earning_merchant(client, 64_000)
        age_sign_ins(merchant)
        unconfirmed_responses = run_concurrently(64, lambda number: me.post(PATH, build_payout_body(1000)))
        assert {read_error(item)[1] for item in unconfirmed_responses} <= {"CONFIRMATION_REQUIRED", "BUSY"}
        age_sign_ins(merchant, timedelta(days=-1))
        confirmed_responses = run_concurrently(64, lambda number: me.post(PATH, build_payout_body(1000)))
        assert {item.status_code for item in confirmed_responses} <= {201, 503, 409}
        run_all_jobs()
        assert sink.tries == []
        assert fetch_scalar("SELECT count(*) FROM payout WHERE held_until > now() + interval '23 h'") == fetch_scalar(
            "SELECT count(*) FROM payout"
        )
    assert_ledger_integrity()


def test_only_the_owner_is_notified(client: Client) -> None:
    create_account("organiser")
    create_account("admin")
    me, merchant = create_earning_merchant(client, 5000)
    request_payout(me)
    run_all_jobs()
    assert {message["to"] for message in dev_mailbox.list_messages()} == {merchant.email}


def test_repeated_notice_has_the_same_message_id(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    payout = request_payout(me)
    for _ in range(2):
        notify_owner(db.session.get_one(Payout, payout["id"]), fence=lambda: None)
    found = [message for message in dev_mailbox.list_messages() if SUBJECT in message["subject"]]
    assert len({item["headers"]["Message-ID"] for item in found}) == 1
