"""Moments that a client sends, or that are stored, are compared by the clock of the database: a server whose own clock
is a minute ahead or behind gives the same answers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core import clock
from tests.factories.allocations import Block, create_block
from tests.factories.applications import LIST
from tests.factories.applications import build_application_body as application
from tests.factories.campaigns import CampaignEvent
from tests.factories.crew import create_stall, replace_crew
from tests.factories.events import (
    WEEKEND,
    build_event_body,
    create_event,
    create_organiser_client,
    create_published_event,
)
from tests.factories.inventory import Stock, assert_quantities_match_movements
from tests.factories.payouts import PATH, build_payout_body, create_earning_merchant
from tests.http import Client, data, list_problems

MINUTE = timedelta(minutes=1)
SOON, JUST_NOW = timedelta(seconds=30), timedelta(seconds=-30)
# Moments are kept in milliseconds: without it a sale right after a count can be the earlier one.
A_MOMENT = timedelta(milliseconds=2)


@pytest.fixture(params=[-MINUTE, MINUTE], ids=["behind", "ahead"], autouse=True)
def clock_of_the_app(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock of this process is wrong; that of the database is right."""

    class Wrong(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + request.param

    monkeypatch.setattr(clock, "datetime", Wrong)
    yield
    assert abs(clock.utcnow() - datetime.now(UTC)) > MINUTE / 2


def at(span: timedelta) -> str:
    return (datetime.now(UTC) + span).isoformat()


def test_a_late_sale_is_ordered_by_its_time_around_a_count(client: Client) -> None:
    stock = Stock(client)
    item = stock.item(onHand=20)
    data(stock.adjust(item, counted=10))
    assert data(stock.adjust(item, -1, reason="sold", occurredAt=at(A_MOMENT)))["onHand"] == 9
    data(stock.adjust(item, -1, reason="sold", occurredAt=at(SOON)))
    counted = data(stock.adjust(item, counted=5))["movement"]["occurredAt"]
    assert all(each["occurredAt"] <= counted for each in stock.book(item))
    assert stock.book(item)[-1]["counted"] == 5
    assert_quantities_match_movements()


def test_a_report_until_now_holds_what_was_just_booked(client: Client) -> None:
    stock = Stock(client)
    data(stock.adjust(stock.item(onHand=20), -1, reason="sold"))
    query = {"type": "movements", "from": at(JUST_NOW)}
    found = data(stock.owner.get(f"{stock.path}/reports", query_string=query))
    assert found["totals"]["movements"] == 2
    data(stock.adjust(stock.items()[0], counted=3))
    assert len(data(stock.owner.get(f"{stock.path}/variance"))["items"]) == 1


def test_a_payout_and_a_payment_are_scheduled_for_the_future(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    merchant = data(me.post(PATH, build_payout_body(1000, mode="schedule", scheduledFor=at(SOON))), 201)
    assert merchant["status"] == "scheduled"
    past = me.post(PATH, build_payout_body(1000, mode="schedule", scheduledFor=at(JUST_NOW)))
    assert list_problems(past) == {"scheduledFor": "too_small"}
    data(client.post(LIST, application(mode="schedule", scheduledFor=at(SOON))), 201)
    past = client.post(LIST, application(mode="schedule", scheduledFor=at(JUST_NOW)))
    assert list_problems(past) == {"scheduledFor": "too_small"}


def test_a_draft_is_published_at_its_time(client: Client) -> None:
    owner = create_organiser_client(client)
    soon = {"visibility": "draft", "ticketTypes": [WEEKEND], "publishAt": at(SOON)}
    made = create_event(owner, **soon)
    assert (made["visibility"], made["version"]) == ("draft", 1)
    assert list_problems(owner.post("/api/events", build_event_body(**{**soon, "publishAt": at(JUST_NOW)}))) == {
        "publishAt": "not_in_future"
    }
    listed = data(owner.get("/api/events?mine=true"))["events"]
    assert [item["visibility"] for item in listed] == ["draft"]
    assert data(owner.get(f"/api/events/{made['id']}"))["visibility"] == "draft"
    changed = data(owner.patch(f"/api/events/{made['id']}", {"venue": "Old Power Station"}))
    assert (changed["visibility"], changed["version"]) == ("draft", 2)


def test_a_price_phase_begins_and_ends_at_its_time(client: Client) -> None:
    phases = [
        {"name": "Over", "priceMinor": 100, "endsAt": at(JUST_NOW)},
        {"name": "Now", "priceMinor": 200, "startsAt": at(JUST_NOW), "endsAt": at(SOON)},
        {"name": "Later", "priceMinor": 300, "startsAt": at(SOON)},
    ]
    made = create_published_event(create_organiser_client(client), ticketTypes=[{**WEEKEND, "phases": phases}])
    (found,) = data(client.get(f"/api/events/public/{made['id']}/ticket-inventory"))["ticketTypes"]
    assert (found["phase"], found["priceMinor"]) == ("Now", 200)


def test_an_event_is_found_from_its_start_to_its_end(client: Client) -> None:
    owner = create_organiser_client(client)
    ended = create_published_event(owner, startDate=at(-timedelta(hours=1)), endDate=at(JUST_NOW))
    running = create_published_event(owner, startDate=at(-timedelta(hours=1)), endDate=at(SOON))
    found = {item["id"] for item in data(client.get("/api/events/public/discover"))["events"]}
    assert running["id"] in found and ended["id"] not in found


def test_links_and_reserved_places_end_in_the_future(client: Client) -> None:
    made: Block = create_block(client)
    assert list_problems(made.post("open-link", expiresAt=at(JUST_NOW))) == {"expiresAt": "in_the_past"}
    assert data(made.post("open-link", expiresAt=at(SOON)))["status"] == "active"
    sent = {"ticketTypeId": made.ticket_type_id, "quantity": 1, "kind": "sponsor", "name": "Gold"}
    past = made.owner.post(made.events, {**sent, "releaseAt": at(JUST_NOW)})
    assert list_problems(past) == {"releaseAt": "in_the_past"}
    data(made.owner.post(made.events, {**sent, "releaseAt": at(SOON)}), 201)


def test_a_promo_code_counts_from_its_start_to_its_end(client: Client) -> None:
    codes = [
        {"code": "OVER", "percentOff": 10, "endsAt": at(JUST_NOW)},
        {"code": "NOW", "percentOff": 10, "startsAt": at(JUST_NOW), "endsAt": at(SOON)},
    ]
    owner = create_organiser_client(client)
    made = create_published_event(owner, promoCodes=codes)
    sent = {"ticketTypeId": made["ticketTypes"][0]["id"], "quantity": 1, "kind": "sponsor", "name": "Gold"}
    path = f"/api/events/{made['id']}/allocations"
    assert list_problems(owner.post(path, {**sent, "promoCode": "OVER"})) == {"promoCode": "unknown_value"}
    data(owner.post(path, {**sent, "promoCode": "NOW"}), 201)


def test_a_campaign_is_scheduled_for_the_future(client: Client) -> None:
    campaign_event = CampaignEvent(client)
    past = campaign_event.broadcast(sendNow=False, scheduledAt=at(JUST_NOW))
    assert list_problems(past) == {"scheduledAt": "too_small"}
    assert campaign_event.now(campaign_event.draft(scheduledAt=at(SOON)))["status"] == "scheduled"


def test_a_shift_is_told_for_the_last_twelve_hours(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    body = {"code": selma["shiftCode"]}
    early = me.post(f"{path}/shift-verify", {**body, "occurredAt": at(JUST_NOW - timedelta(hours=12))})
    assert list_problems(early) == {"occurredAt": "too_early"}
    data(me.post(f"{path}/shift-verify", {**body, "occurredAt": at(SOON - timedelta(hours=12))}))
