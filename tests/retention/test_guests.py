"""Guests of an event that is long over are nobody any more; figures, laws and reports say the same as before."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.retention import guest_data
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import deliver
from tests.factories.allocations import Block, another, claim
from tests.factories.campaigns import Crowd
from tests.http import Client, data
from tests.races import at_once

CANARY = "canary"
TABLES = ("ticket", "allocation_slot", "allocation_block", "campaign_recipient", "campaign", "invite_link")


def passed(event_id: str, days: int) -> None:
    """The event ended so many days ago."""
    with db.engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE event SET starts_at = now() - make_interval(days => :days) - interval '1 day', "
                "sales_end_at = NULL, ends_at = now() - make_interval(days => :days) WHERE id = :id"
            ),
            {"days": days, "id": event_id},
        )


def erase() -> None:
    with transaction():
        enqueue("retention.erase")
    deliver()


def kept(table: str) -> str:
    with db.engine.connect() as connection:
        return str(connection.scalar(text(f"SELECT json_agg(to_jsonb(t) - 'search' - 'name_key') FROM {table} t")))


def festival(client: Client) -> Crowd:
    """An event with sold tickets, a block with guests, a campaign that was sent, and an invitation."""
    crowd = Crowd(client, name="Lights")
    crowd.sold("canary1@example.com", "canary2@example.com", names=("Canary One", None))
    first = Block(crowd.owner, crowd.event, {"id": "", "ticketTypeId": crowd.type})
    block = another(first, holder={"name": "canary holder", "email": "canary@example.com"}, notes="canary")
    slots = [
        data(claim(client, code, name="Canary Guest", email="canary3@example.com"))["slotId"] for code in block.codes(1)
    ]
    block.admit(slots[0], nonce="n")
    block.invite("canary4@example.com")
    crowd.finished(crowd.send())
    data(
        crowd.owner.post(
            f"/api/events/{crowd.event['id']}/merchant-invite",
            {"email": "canary5@example.com", "businessName": "canary"},
        ),
        201,
    )
    return crowd


def figures(crowd: Crowd) -> dict[str, Any]:
    events = f"/api/events/{crowd.event['id']}"
    campaigns = data(crowd.owner.get(f"{crowd.path}/campaigns"))
    return {"stats": data(crowd.owner.get(f"{events}/ticket-stats")), "campaigns": campaigns}


def test_guests_are_erased_and_figures_stay(app: Flask, client: Client) -> None:
    crowd = festival(client)
    deliver()
    passed(crowd.event["id"], 401)
    assert all(CANARY in kept(table).lower() for table in TABLES)
    before, audit = figures(crowd), kept("allocation_slot_event")
    erase()
    assert not [table for table in TABLES if CANARY in kept(table).lower()]
    assert figures(crowd) == before and kept("allocation_slot_event") == audit
    assert_books_agree()
    assert all(target.count_rows(400) == 0 for target in guest_data.ERASURE_TARGETS)


def test_erasing_again_changes_nothing(app: Flask, client: Client) -> None:
    crowd = festival(client)
    passed(crowd.event["id"], 401)
    erase()
    before = [kept(table) for table in TABLES]
    erase()
    assert [kept(table) for table in TABLES] == before


def test_guests_stay_until_then(app: Flask, client: Client) -> None:
    crowd = festival(client)
    passed(crowd.event["id"], 399)
    erase()
    assert all(CANARY in kept(table).lower() for table in TABLES)


def test_zero_keeps_guests(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], GUEST_RETENTION_DAYS=0))
    crowd = festival(client)
    passed(crowd.event["id"], 4000)
    erase()
    assert all(CANARY in kept(table).lower() for table in TABLES)


def test_a_run_that_dies_is_continued(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = festival(client)
    passed(crowd.event["id"], 401)
    whole, calls = guest_data.ErasureTarget.erase_batch, iter(range(99))

    def dies(self: guest_data.ErasureTarget, *arguments: Any, **options: Any) -> int:
        if next(calls) == 3:
            raise RuntimeError("killed")
        return whole(self, *arguments, **options)

    monkeypatch.setattr(guest_data.ErasureTarget, "erase_batch", dies)
    monkeypatch.setattr(guest_data, "BATCH_SIZE", 1)
    erase()
    assert any(CANARY in kept(table).lower() for table in TABLES)
    with db.engine.begin() as connection:
        connection.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'retention.erase'"))
    deliver()
    assert not [table for table in TABLES if CANARY in kept(table).lower()]


def test_two_runs_at_once_do_it_once(app: Flask, client: Client) -> None:
    crowd = festival(client)
    passed(crowd.event["id"], 401)
    before = figures(crowd)
    with transaction():
        enqueue("retention.erase")
        enqueue("retention.erase")

    def work(_: int) -> None:
        with app.app_context():
            deliver()

    at_once(2, work)
    deliver()
    assert not [table for table in TABLES if CANARY in kept(table).lower()]
    assert figures(crowd) == before
    assert_books_agree()


def test_dry_run_counts_and_erases_nothing(app: Flask, client: Client) -> None:
    crowd = festival(client)
    passed(crowd.event["id"], 401)
    before = [kept(table) for table in TABLES]
    result = app.test_cli_runner().invoke(args=["retention", "run", "--dry-run"])
    assert result.exit_code == 0, result.output
    assert "2  tickets of events that ended 400 days ago" in result.output
    assert "1  block holders" in result.output
    assert [kept(table) for table in TABLES] == before


def test_command_queues_the_jobs(app: Flask, client: Client) -> None:
    crowd = festival(client)
    passed(crowd.event["id"], 401)
    assert app.test_cli_runner().invoke(args=["retention", "run"]).exit_code == 0
    deliver()
    assert not [table for table in TABLES if CANARY in kept(table).lower()]
