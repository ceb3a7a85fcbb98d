"""Audiences: who is reached on which channel and who is excluded; preview and sending agree."""

from typing import Any

import pytest
from sqlalchemy import text

from app.core.ids import new_id
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_customer
from tests.factories.allocations import Block, claim_slot, create_another_block
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows
from tests.http import Client, data


@pytest.fixture
def campaign_event(client: Client) -> CampaignEvent:
    return CampaignEvent(client)


def execute(statement: str, **values: Any) -> None:
    with transaction() as session:
        session.execute(text(statement), values)


def unsubscribe(address: str, campaign_event: CampaignEvent | None = None) -> None:
    organiser = (
        campaign_event.event["organiserId"] if campaign_event and "organiserId" in campaign_event.event else None
    )
    if campaign_event:
        ((organiser,),) = fetch_sql_rows("SELECT organiser_id FROM event WHERE id = :id", id=campaign_event.event["id"])
    execute(
        "INSERT INTO unsubscribe (id, address, organiser_id) VALUES (:id, :address, :organiser)",
        id=new_id(),
        address=address,
        organiser=organiser,
    )


def disable_channel(account_id: str, channel: str) -> None:
    execute(
        "INSERT INTO channel_preference (account_id, channel, wanted) VALUES (:id, :channel, false)",
        id=account_id,
        channel=channel,
    )


def suppress(channel: str, address: str) -> None:
    execute(
        "INSERT INTO suppression (channel, address, reason) VALUES (:channel, :address, 'none')",
        channel=channel,
        address=address,
    )


def register_device(account_id: str) -> None:
    execute(
        "INSERT INTO push_device (id, account_id, token, platform) VALUES (:id, :account, :id, 'android')",
        id=new_id(),
        account=account_id,
    )


def create_block(campaign_event: CampaignEvent) -> Block:
    """A block of the event."""
    first = Block(campaign_event.owner, campaign_event.event, {"id": "", "ticketTypeId": campaign_event.type})
    return create_another_block(first, quantity=20)


def addresses_of(campaign_id: str, channel: str) -> set[str]:
    addresses = fetch_sql_rows(
        "SELECT address FROM campaign_recipient WHERE campaign_id = :id AND channel = :channel",
        id=campaign_id,
        channel=channel,
    )
    return {address for (address,) in addresses}


def preview_and_send(campaign_event: CampaignEvent, **fields: Any) -> dict[str, Any]:
    """The preview, after checking that sending reaches exactly the people it counts."""
    audience = {name: fields[name] for name in fields if name not in ("title", "body")}
    preview = campaign_event.preview(**audience)
    assert preview["total"] == preview["people"] + sum(preview["excluded"].values()), preview
    campaign = campaign_event.send(**fields)
    for channel, count in preview["reachable"].items():
        campaign_event.finished(campaign)
        assert len(addresses_of(campaign, channel)) == count, channel
    started = campaign_event.now(campaign)
    assert started["audience"] == {name: preview[name] for name in preview if name != "sample"} | {
        "variants": started["audience"]["variants"]
    }
    assert started["progress"]["total"] == sum(preview["reachable"].values())
    return preview


def test_reasons_of_exclusion_add_up(campaign_event: CampaignEvent) -> None:
    known = {name: create_account(email=f"{name}@example.com") for name in ("quiet", "loud")}
    campaign_event.sold(
        *(f"{name}@example.com" for name in ("a", "a", "a", "gone", "all", "dead", "quiet", "loud", "quiet")), None
    )
    unsubscribe("gone@example.com", campaign_event)
    unsubscribe("all@example.com")
    suppress("email", "dead@example.com")
    disable_channel(known["quiet"].id, "email")
    disable_channel(known["loud"].id, "sms")
    preview = preview_and_send(campaign_event, channels=["email"])
    assert (preview["total"], preview["people"], preview["reachable"]["email"]) == (10, 2, 2)
    assert preview["excluded"] == {"optedOut": 3, "noAddress": 1, "suppressed": 1, "duplicate": 3, "notRelated": 0}


def test_preferences_can_be_overridden_and_unsubscriptions_cannot(campaign_event: CampaignEvent) -> None:
    quiet = create_customer(email="quiet@example.com")
    campaign_event.sold("quiet@example.com", "gone@example.com")
    disable_channel(quiet.id, "email")
    unsubscribe("gone@example.com", campaign_event)
    assert campaign_event.preview()["people"] == 0
    assert preview_and_send(campaign_event, respectPreferences=False, channels=["email"])["people"] == 1
    ((details,),) = fetch_sql_rows("SELECT details FROM campaign_act")
    assert details == {"preferencesOverridden": True}


def test_unverified_account_does_not_affect_the_holder(campaign_event: CampaignEvent) -> None:
    squatter = create_account(email="frieda@example.com", verified=False, phone="+264811111111")
    disable_channel(squatter.id, "email")
    register_device(squatter.id)
    campaign_event.sold("frieda@example.com")
    assert campaign_event.preview(channels=["email", "sms", "push"])["reachable"] == {"email": 1, "sms": 0, "push": 0}


def test_only_claimed_and_admitted_places_count(campaign_event: CampaignEvent, client: Client) -> None:
    block = create_block(campaign_event)
    slots = []
    for code in block.codes(4):
        slots.append(data(claim_slot(client, code, name="Frieda", email="frieda@example.com"))["slotId"])
    data(block.admit(slots[0]))
    data(block.revoke(slots[1]))
    campaign_event.sold("frieda@example.com", "elago@example.com")
    preview = preview_and_send(campaign_event, channels=["email"], body="You have {tickets}.")
    assert (preview["total"], preview["people"], preview["excluded"]["duplicate"]) == (5, 2, 3)
    assert fetch_sql_rows("SELECT places FROM campaign_recipient WHERE person = 'frieda@example.com'") == [(4,)]


def test_reach_of_three_channels(campaign_event: CampaignEvent, client: Client) -> None:
    both = create_customer(email="both@example.com", phone="+264811111111")
    register_device(both.id)
    register_device(both.id)
    family = create_block(campaign_event)
    for name, code in zip(("mother", "child"), family.codes(2), strict=True):
        data(claim_slot(client, code, name=name, email=f"{name}@example.com", phone="+264812222222"))
    campaign_event.sold("both@example.com", "mail@example.com", "gone@example.com")
    unsubscribe("gone@example.com", campaign_event)
    preview = preview_and_send(campaign_event, channels=["email", "sms", "push"])
    assert preview["reachable"] == {"email": 4, "sms": 2, "push": 1}
    assert preview["excluded"] == {"optedOut": 1, "noAddress": 0, "suppressed": 0, "duplicate": 0, "notRelated": 0}
    by_text = preview_and_send(campaign_event, channels=["sms"])
    assert by_text["reachable"] == {"email": 0, "sms": 2, "push": 0}
    assert by_text["excluded"] == {"optedOut": 0, "noAddress": 2, "suppressed": 0, "duplicate": 1, "notRelated": 0}
    suppress("sms", "+264811111111")
    assert campaign_event.preview(channels="sms")["excluded"]["suppressed"] == 1


def test_named_people_must_belong_to_the_event(campaign_event: CampaignEvent, client: Client) -> None:
    mine, stranger = create_customer(email="mine@example.com"), create_customer()
    tickets = campaign_event.sold("mine@example.com", "guest@example.com", "third@example.com")
    elsewhere = CampaignEvent(client).sold("far@example.com")
    ids = [mine.id, tickets[0], tickets[1], stranger.id, elsewhere[0], new_id(), mine.id]
    preview = preview_and_send(campaign_event, channels=["email"], audienceType="specific_users", userIds=ids)
    assert (preview["total"], preview["people"]) == (7, 2)
    assert preview["excluded"] == {"optedOut": 0, "noAddress": 0, "suppressed": 0, "duplicate": 2, "notRelated": 3}
    as_text = campaign_event.preview(audienceType="specific_users", userIds=", ".join(ids))
    assert as_text == preview


def test_a_large_audience_is_counted_when_sending_starts(campaign_event: CampaignEvent) -> None:
    campaign_event.sold(*(f"p{number}@example.com" for number in range(1001)))
    campaign = data(campaign_event.broadcast(sendNow=False), 202)
    assert campaign["audience"] == {
        "type": "event_ticket_holders",
        "total": 1001,
        "people": None,
        "reachable": None,
        "excluded": None,
        "variants": None,
    }
    assert campaign_event.preview()["people"] == 1001
