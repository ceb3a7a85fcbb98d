"""Campaigns under concurrent requests and dying processes. Controls show that each guard is needed."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.campaigns import campaign_store, delivery, delivery_sql
from app.campaigns import delivery as campaign_fan_out
from app.core import idempotency_store
from app.core.outbox import executor
from app.core.outbox.lease import Lease, lease_next
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows, make_postponed_jobs_due
from tests.http import Client, data
from tests.races import run_concurrently
from tests.unguarded import without_rules

KEY = {"Idempotency-Key": "one campaign, please"}


@pytest.fixture
def campaign_event(client: Client) -> CampaignEvent:
    campaign_event = CampaignEvent(client)
    campaign_event.sold(*(f"p{number}@example.com" for number in range(30)))
    return campaign_event


def broadcast_at_once(campaign_event: CampaignEvent, count: int) -> list[Any]:
    return run_concurrently(count, lambda _: campaign_event.broadcast(headers=KEY))


def send_all() -> None:
    for _ in range(4):
        run_jobs()
        make_postponed_jobs_due()


def test_sixteen_broadcasts_with_one_idempotency_key_are_one_campaign(campaign_event: CampaignEvent) -> None:
    responses = broadcast_at_once(campaign_event, 16)
    assert {data(response, 202)["campaignId"] for response in responses} == {
        fetch_sql_rows("SELECT id FROM campaign")[0][0]
    }
    assert Counter(response.headers.get("Idempotent-Replayed") for response in responses) == {None: 1, "true": 15}
    send_all()
    assert all(len(list_mails_to(f"p{number}@example.com")) == 1 for number in range(30))


@pytest.mark.control
def test_without_the_lock_of_the_key_there_are_sixteen(
    campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency_store, "lock_key", lambda *_: None)
    broadcast_at_once(campaign_event, 16)
    assert len(fetch_sql_rows("SELECT id FROM campaign")) == 16


def fan_out(app: Flask, campaign_id: str) -> None:
    """Runs a fan-out without a lease, so that several can run at once."""

    class Unleased:
        def hold_in(self, _: Any) -> None: ...
        def progress_in(self, _: Any) -> None: ...
        def done_in(self, _: Any) -> None: ...

    run: Any = Unleased()
    with app.app_context():
        campaign_fan_out.fan_out(run, campaign_id, 1)


def test_concurrent_fan_outs_add_each_recipient_once(
    app: Flask, campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_fan_out, "PAGE_SIZE", 7)
    campaign = campaign_event.send()
    run_concurrently(6, lambda _: fan_out(app, campaign))
    assert fetch_sql_rows("SELECT count(*), count(DISTINCT person) FROM campaign_recipient") == [(30, 30)]
    assert fetch_sql_rows("SELECT count(*) FROM outbox WHERE kind = 'campaigns.deliver'") == [(30,)]
    assert campaign_event.now(campaign)["progress"]["total"] == 30


@pytest.mark.control
def test_without_the_index_recipients_are_added_twice(
    app: Flask, campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_fan_out, "PAGE_SIZE", 7)
    with without_rules("uq_campaign_recipient_campaign_id_person_channel_event_id"):
        campaign = campaign_event.send()
        for _ in range(2):
            with transaction() as session:
                session.execute(text("UPDATE campaign SET fanned_out_at = NULL, after = NULL"))
            fan_out(app, campaign)
        ((count, people),) = fetch_sql_rows("SELECT count(*), count(DISTINCT person) FROM campaign_recipient")
        assert count > people == 30


def test_fan_out_that_dies_continues_where_it_stopped(
    campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_fan_out, "PAGE_SIZE", 7)
    campaign, pages, add_page = campaign_event.send(), [], campaign_fan_out.add_page

    def add_page_or_die(run: Any, row: Any, after: str) -> str | None:
        pages.append(after)
        if len(pages) in (3, 5):
            raise SystemError("killed")
        return add_page(run, row, after)

    monkeypatch.setattr(campaign_fan_out, "add_page", add_page_or_die)
    for _ in range(3):
        send_all()
    assert len(pages) == 7 and pages[3] == pages[2] and pages[5] == pages[4], "no page is added twice"
    assert campaign_event.now(campaign)["progress"] | {"pending": 0} == {
        "total": 30,
        "sent": 30,
        "failed": 0,
        "suppressed": 0,
        "uncertain": 0,
        "pending": 0,
        "clicked": 0,
    }


def start_or_cancel(app: Flask, campaign_event: CampaignEvent, campaign: str, lease: Lease) -> Counter[str]:
    def act(turn: int) -> str:
        with app.app_context():
            if turn:
                response = campaign_event.owner.post(f"{campaign_event.one(campaign)}/cancel")
                return "canceled" if response.status_code == 200 else "too late"
            return executor.run(lease, get_tuning())

    return Counter(run_concurrently(2, act))


def run_rounds(app: Flask, campaign_event: CampaignEvent, count: int) -> Counter[tuple[str, int]]:
    """The final states and totals of campaigns that were started and cancelled at the same time."""
    outcomes: Counter[tuple[str, int]] = Counter()
    for _ in range(count):
        campaign = campaign_event.send(sendNow=False, scheduledAt="2027-05-01T18:00:00Z")
        with transaction() as session:
            session.execute(
                text("UPDATE outbox SET run_at = now() WHERE state = 'ready' AND kind = 'campaigns.fan_out'")
            )
        ((outbox_id,),) = fetch_sql_rows("SELECT id FROM outbox WHERE state = 'ready' AND kind = 'campaigns.fan_out'")
        lease = lease_next(outbox_id, worker="test", tuning=get_tuning())
        assert lease
        start_or_cancel(app, campaign_event, campaign, lease)
        state = campaign_event.now(campaign)
        outcomes[state["status"], state["progress"]["total"]] += 1
        with transaction() as session:
            session.execute(text("DELETE FROM outbox"))
    return outcomes


def test_concurrent_start_and_cancel_exactly_one_succeeds(
    app: Flask, campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_store, "CAMPAIGNS_PER_DAY", replace(campaign_store.CAMPAIGNS_PER_DAY, count=100))
    outcomes = run_rounds(app, campaign_event, 40)
    assert set(outcomes) <= {("canceled", 0), ("sending", 30)}, outcomes


@pytest.mark.control
def test_without_the_condition_both_succeed(
    app: Flask, campaign_event: CampaignEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    unconditional = str(delivery_sql.BEGIN_FAN_OUT).replace(
        "turn = :turn AND status IN ('scheduled', 'sending')", ":turn > 0"
    )
    monkeypatch.setattr(delivery_sql, "BEGIN_FAN_OUT", text(unconditional))
    campaign = campaign_event.send(sendNow=False, scheduledAt="2027-05-01T18:00:00Z")
    with transaction() as session:
        session.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'campaigns.fan_out'"))
    ((outbox_id,),) = fetch_sql_rows("SELECT id FROM outbox WHERE kind = 'campaigns.fan_out'")
    lease = lease_next(outbox_id, worker="test", tuning=get_tuning())
    data(campaign_event.owner.post(f"{campaign_event.one(campaign)}/cancel"))
    assert lease and executor.run(lease, get_tuning()) == "done"
    assert campaign_event.now(campaign)["status"] == "sending", "it was cancelled and is sent"


def figures(campaign: str) -> tuple[Any, ...]:
    return fetch_sql_rows(
        "SELECT sum(sent), sum(failed), sum(uncertain), sum(clicked) FROM campaign_tally WHERE campaign_id = :id",
        id=campaign,
    )[0]


def test_figures_match_the_recipients_under_concurrent_updates(app: Flask, campaign_event: CampaignEvent) -> None:
    campaign = campaign_event.send()
    send_all()
    ids = [recipient_id for (recipient_id,) in fetch_sql_rows("SELECT id FROM campaign_recipient ORDER BY id")]

    def act(turn: int) -> None:
        with app.app_context():
            states = ("uncertain", "failed", "sent")
            for step in range(6):
                chosen = [ids[(turn * 5 + step * 7 + n) % 30] for n in range(8)]
                with transaction() as session:
                    delivery.record_results(
                        session, [delivery.DeliveryResult(chosen_id, states[(turn + step) % 3]) for chosen_id in chosen]
                    )

    run_concurrently(12, act)
    counts = dict(fetch_sql_rows("SELECT state, count(*) FROM campaign_recipient GROUP BY state"))
    assert figures(campaign)[:3] == tuple(counts.get(state, 0) for state in ("sent", "failed", "uncertain"))


def test_many_clicks_of_one_person_count_once(app: Flask, campaign_event: CampaignEvent) -> None:
    campaign = campaign_event.send(href="https://example.com/gates")
    send_all()
    urls = [
        list_mails_to(f"p{number}@example.com")[0]["text"].split("http://localhost:8000")[1].split()[0]
        for number in (1, 2)
    ]
    browser = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}

    def follow(turn: int) -> int:
        return app.test_client().get(urls[turn % 2], headers=browser).status_code

    assert set(run_concurrently(24, follow)) == {302}
    assert figures(campaign)[3] == 2
