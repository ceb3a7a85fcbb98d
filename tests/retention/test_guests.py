"""The erasure of guests of past events; statistics and integrity checks do not change."""

from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db, transaction_engine
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.retention import guest_erasure
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import run_jobs
from tests.factories.allocations import Block, claim_slot, create_another_block
from tests.factories.campaigns import CampaignEvent
from tests.factories.payouts import fetch_scalar
from tests.http import Client, data
from tests.races import run_concurrently

CANARY = "canary"
TABLES = (
    "ticket_import",
    "ticket_import_change",
    "admission",
    "ticket",
    "allocation_slot",
    "allocation_block",
    "campaign_recipient",
    "campaign",
    "invite_link",
)


def end_event(event_id: str, days: int) -> None:
    """Moves the end of the event this many days into the past."""
    with transaction_engine(db.engine).begin() as connection:
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
    run_jobs()


def dump_table(table: str) -> str:
    with db.engine.connect() as connection:
        return str(connection.scalar(text(f"SELECT json_agg(to_jsonb(t) - 'search' - 'name_key') FROM {table} t")))


def create_festival(client: Client) -> CampaignEvent:
    """An event with sold tickets, a block with guests, a campaign that was sent, and an invitation."""
    campaign_event = CampaignEvent(client, name="Lights")
    campaign_event.sold("canary1@example.com", "canary2@example.com", names=("Canary One", None))
    first = Block(campaign_event.owner, campaign_event.event, {"id": "", "ticketTypeId": campaign_event.type})
    block = create_another_block(first, holder={"name": "canary holder", "email": "canary@example.com"}, notes="canary")
    slots = [
        data(claim_slot(client, code, name="Canary Guest", email="canary3@example.com"))["slotId"]
        for code in block.codes(1)
    ]
    block.admit(slots[0], nonce="n")
    path = f"/api/events/{campaign_event.event['id']}"
    for name in ("Canary Six", "Canary Seven"):
        content = f"reference,ticketType,name\nA6,{campaign_event.event['ticketTypes'][0]['name']},{name}\n"
        form = {"file": (BytesIO(content.encode()), "canary.csv")}
        data(campaign_event.owner.open("POST", f"{path}/tickets/import", data=form, content_type="multipart/form-data"))
    unknown = {"code": "canary code", "nonce": "offline", "occurredAt": datetime.now(UTC).isoformat()}
    data(campaign_event.owner.post(f"{path}/admissions/batch", {"admissions": [unknown]}))
    assert campaign_event.owner.post(f"{path}/admissions", {"code": "canary", "nonce": "refused"}).status_code == 404
    buyer = dict.fromkeys(("buyerName", "buyerAddress", "buyerVatNumber", "buyerReference"), "canary")
    data(campaign_event.owner.patch(f"{block.path}/invoice/buyer", buyer))
    block.invite("canary4@example.com")
    campaign_event.finished(campaign_event.send())
    data(
        campaign_event.owner.post(
            f"/api/events/{campaign_event.event['id']}/merchant-invite",
            {"email": "canary5@example.com", "businessName": "canary"},
        ),
        201,
    )
    return campaign_event


def load_statistics(campaign_event: CampaignEvent) -> dict[str, Any]:
    event_path = f"/api/events/{campaign_event.event['id']}"
    campaigns = data(campaign_event.owner.get(f"{campaign_event.path}/campaigns"))
    return {"stats": data(campaign_event.owner.get(f"{event_path}/ticket-stats")), "campaigns": campaigns}


def test_guests_are_erased_and_statistics_stay(app: Flask, client: Client) -> None:
    campaign_event = create_festival(client)
    run_jobs()
    end_event(campaign_event.event["id"], 401)
    assert all(CANARY in dump_table(table).lower() for table in TABLES)
    before, slot_events = load_statistics(campaign_event), dump_table("allocation_slot_event")
    erase()
    assert not [table for table in TABLES if CANARY in dump_table(table).lower()]
    assert load_statistics(campaign_event) == before and dump_table("allocation_slot_event") == slot_events
    assert_books_agree()
    assert fetch_scalar("SELECT count(*) FROM refused_scan") == 0
    assert all(target.count_rows(400) == 0 for target in guest_erasure.ERASURE_TARGETS)


def test_second_erasure_changes_nothing(app: Flask, client: Client) -> None:
    campaign_event = create_festival(client)
    end_event(campaign_event.event["id"], 401)
    erase()
    before = [dump_table(table) for table in TABLES]
    erase()
    assert [dump_table(table) for table in TABLES] == before


def test_guests_stay_until_the_retention_time(app: Flask, client: Client) -> None:
    campaign_event = create_festival(client)
    end_event(campaign_event.event["id"], 399)
    erase()
    assert all(CANARY in dump_table(table).lower() for table in TABLES)


def test_retention_of_zero_days_keeps_guests(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], GUEST_RETENTION_DAYS=0))
    campaign_event = create_festival(client)
    end_event(campaign_event.event["id"], 4000)
    erase()
    assert all(CANARY in dump_table(table).lower() for table in TABLES)


def test_interrupted_run_is_continued(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign_event = create_festival(client)
    end_event(campaign_event.event["id"], 401)
    erase_batch, calls = guest_erasure.ErasureTarget.erase_batch, iter(range(99))

    def fail_fourth_batch(self: guest_erasure.ErasureTarget, *arguments: Any, **options: Any) -> int:
        if next(calls) == 3:
            raise RuntimeError("killed")
        return erase_batch(self, *arguments, **options)

    monkeypatch.setattr(guest_erasure.ErasureTarget, "erase_batch", fail_fourth_batch)
    monkeypatch.setattr(guest_erasure, "BATCH_SIZE", 1)
    erase()
    assert any(CANARY in dump_table(table).lower() for table in TABLES)
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'retention.erase'"))
    run_jobs()
    assert not [table for table in TABLES if CANARY in dump_table(table).lower()]


def test_concurrent_runs_erase_once(app: Flask, client: Client) -> None:
    campaign_event = create_festival(client)
    end_event(campaign_event.event["id"], 401)
    before = load_statistics(campaign_event)
    with transaction():
        enqueue("retention.erase")
        enqueue("retention.erase")

    def work(_: int) -> None:
        with app.app_context():
            run_jobs()

    run_concurrently(2, work)
    run_jobs()
    assert not [table for table in TABLES if CANARY in dump_table(table).lower()]
    assert load_statistics(campaign_event) == before
    assert_books_agree()


def test_dry_run_counts_and_erases_nothing(app: Flask, client: Client) -> None:
    campaign_event = create_festival(client)
    end_event(campaign_event.event["id"], 401)
    before = [dump_table(table) for table in TABLES]
    result = app.test_cli_runner().invoke(args=["retention", "run", "--dry-run"])
    assert result.exit_code == 0, result.output
    assert "3  tickets of events that ended 400 days ago" in result.output
    assert "1  block holders" in result.output
    assert [dump_table(table) for table in TABLES] == before


def test_command_queues_the_jobs(app: Flask, client: Client) -> None:
    campaign_event = create_festival(client)
    end_event(campaign_event.event["id"], 401)
    assert app.test_cli_runner().invoke(args=["retention", "run"]).exit_code == 0
    run_jobs()
    assert not [table for table in TABLES if CANARY in dump_table(table).lower()]
