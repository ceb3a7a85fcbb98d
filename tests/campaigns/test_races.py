"""Campaigns when everybody presses at once, and when a process dies at the worst time; each guard is off once."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.campaigns import campaign_store, statistics
from app.campaigns import fan_out as campaign_fan_out
from app.core import idempotency_store
from app.core.outbox import executor
from app.core.outbox.lease import Lease, lease_next
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from tests.factories.accounts import deliver, mails_to
from tests.factories.campaigns import Crowd, hurry, rows
from tests.http import Client, data
from tests.races import at_once
from tests.unguarded import without

KEY = {"Idempotency-Key": "one campaign, please"}


@pytest.fixture
def crowd(client: Client) -> Crowd:
    found = Crowd(client)
    found.sold(*(f"p{number}@example.com" for number in range(30)))
    return found


def pressed(crowd: Crowd, count: int) -> list[Any]:
    return at_once(count, lambda _: crowd.broadcast(headers=KEY))


def work() -> None:
    for _ in range(4):
        deliver()
        hurry()


def test_sixteen_broadcasts_with_one_key_are_one_campaign(crowd: Crowd) -> None:
    answers = pressed(crowd, 16)
    assert {data(response, 202)["campaignId"] for response in answers} == {rows("SELECT id FROM campaign")[0][0]}
    assert Counter(response.headers.get("Idempotent-Replayed") for response in answers) == {None: 1, "true": 15}
    work()
    assert all(len(mails_to(f"p{number}@example.com")) == 1 for number in range(30))


@pytest.mark.control
def test_without_the_guard_of_the_key_there_would_be_sixteen(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency_store, "lock_key", lambda *_: None)
    pressed(crowd, 16)
    assert len(rows("SELECT id FROM campaign")) == 16


def fan_out(app: Flask, campaign_id: str) -> None:
    """The work of a fan-out, by somebody who does not know that others are at it too."""

    class Unleased:
        def hold_in(self, _: Any) -> None: ...
        def done_in(self, _: Any) -> None: ...

    run: Any = Unleased()
    with app.app_context():
        campaign_fan_out.fan_out(run, campaign_id, 1)


def test_two_fan_outs_at_once_make_each_row_once(app: Flask, crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign_fan_out, "PEOPLE", 7)
    campaign = crowd.send()
    at_once(6, lambda _: fan_out(app, campaign))
    assert rows("SELECT count(*), count(DISTINCT person) FROM campaign_recipient") == [(30, 30)]
    assert rows("SELECT count(*) FROM outbox WHERE kind = 'campaigns.deliver'") == [(30,)]
    assert crowd.now(campaign)["progress"]["total"] == 30


@pytest.mark.control
def test_without_the_index_they_would_make_rows_twice(
    app: Flask, crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_fan_out, "PEOPLE", 7)
    with without("uq_campaign_recipient_campaign_id_channel_person"):
        campaign = crowd.send()
        for _ in range(2):
            with transaction() as session:
                session.execute(text("UPDATE campaign SET fanned_out_at = NULL, after = NULL"))
            fan_out(app, campaign)
        ((count, people),) = rows("SELECT count(*), count(DISTINCT person) FROM campaign_recipient")
        assert count > people == 30


def test_a_fan_out_that_dies_goes_on_where_it_stopped(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign_fan_out, "PEOPLE", 7)
    campaign, pages, real = crowd.send(), [], campaign_fan_out.add_page

    def dying(run: Any, row: Any, after: str) -> str | None:
        pages.append(after)
        if len(pages) in (3, 5):
            raise SystemError("killed")
        return real(run, row, after)

    monkeypatch.setattr(campaign_fan_out, "add_page", dying)
    for _ in range(3):
        work()
    assert len(pages) == 7 and pages[3] == pages[2] and pages[5] == pages[4], "no page is made again"
    assert crowd.now(campaign)["progress"] | {"pending": 0} == {
        "total": 30,
        "sent": 30,
        "failed": 0,
        "suppressed": 0,
        "uncertain": 0,
        "pending": 0,
        "clicked": 0,
    }


def start_or_cancel(app: Flask, crowd: Crowd, campaign: str, lease: Lease) -> Counter[str]:
    def act(turn: int) -> str:
        with app.app_context():
            if turn:
                answer = crowd.owner.post(f"{crowd.one(campaign)}/cancel")
                return "canceled" if answer.status_code == 200 else "too late"
            return executor.run(lease, get_tuning())

    return Counter(at_once(2, act))


def rounds(app: Flask, crowd: Crowd, count: int) -> Counter[tuple[str, int]]:
    """How campaigns ended that were started and called off at the same moment, and with how many rows."""
    ended: Counter[tuple[str, int]] = Counter()
    for _ in range(count):
        campaign = crowd.send(sendNow=False, scheduledAt="2027-05-01T18:00:00Z")
        with transaction() as session:
            session.execute(
                text("UPDATE outbox SET run_at = now() WHERE state = 'ready' AND kind = 'campaigns.fan_out'")
            )
        ((outbox_id,),) = rows("SELECT id FROM outbox WHERE state = 'ready' AND kind = 'campaigns.fan_out'")
        lease = lease_next(outbox_id, worker="test", tuning=get_tuning())
        assert lease
        start_or_cancel(app, crowd, campaign, lease)
        found = crowd.now(campaign)
        ended[found["status"], found["progress"]["total"]] += 1
        with transaction() as session:
            session.execute(text("DELETE FROM outbox"))
    return ended


def test_starting_and_calling_off_at_once_exactly_one_happens(
    app: Flask, crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_store, "PER_DAY", replace(campaign_store.PER_DAY, count=100))
    ended = rounds(app, crowd, 40)
    assert set(ended) <= {("canceled", 0), ("sending", 30)}, ended


@pytest.mark.control
def test_without_the_condition_both_would_happen(app: Flask, crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    careless = str(campaign_fan_out.BEGIN).replace("turn = :turn AND status IN ('scheduled', 'sending')", ":turn > 0")
    monkeypatch.setattr(campaign_fan_out, "BEGIN", text(careless))
    campaign = crowd.send(sendNow=False, scheduledAt="2027-05-01T18:00:00Z")
    with transaction() as session:
        session.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'campaigns.fan_out'"))
    ((outbox_id,),) = rows("SELECT id FROM outbox WHERE kind = 'campaigns.fan_out'")
    lease = lease_next(outbox_id, worker="test", tuning=get_tuning())
    data(crowd.owner.post(f"{crowd.one(campaign)}/cancel"))
    assert lease and executor.run(lease, get_tuning()) == "done"
    assert crowd.now(campaign)["status"] == "sending", "it was called off, and is sent"


def figures(campaign: str) -> tuple[Any, ...]:
    return rows(
        "SELECT sum(sent), sum(failed), sum(uncertain), sum(clicked) FROM campaign_tally WHERE campaign_id = :id",
        id=campaign,
    )[0]


def test_figures_are_what_the_rows_say_whoever_writes_at_once(app: Flask, crowd: Crowd) -> None:
    campaign = crowd.send()
    work()
    ids = [item for (item,) in rows("SELECT id FROM campaign_recipient ORDER BY id")]

    def act(turn: int) -> None:
        with app.app_context():
            states = ("uncertain", "failed", "sent")
            for step in range(6):
                chosen = [ids[(turn * 5 + step * 7 + n) % 30] for n in range(8)]
                with transaction() as session:
                    statistics.record_delivery(
                        session, [statistics.DeliveryResult(item, states[(turn + step) % 3]) for item in chosen]
                    )

    at_once(12, act)
    counted = dict(rows("SELECT state, count(*) FROM campaign_recipient GROUP BY state"))
    assert figures(campaign)[:3] == tuple(counted.get(state, 0) for state in ("sent", "failed", "uncertain"))


def test_many_clicks_of_one_person_count_once(app: Flask, crowd: Crowd) -> None:
    campaign = crowd.send(href="https://example.com/gates")
    work()
    urls = [
        mails_to(f"p{number}@example.com")[0]["text"].split("http://localhost:8000")[1].split()[0] for number in (1, 2)
    ]
    browser = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}

    def follow(turn: int) -> int:
        return app.test_client().get(urls[turn % 2], headers=browser).status_code

    assert set(at_once(24, follow)) == {302}
    assert figures(campaign)[3] == 2
