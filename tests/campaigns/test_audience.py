"""Who is written to, on which channel, and why others are not: the preview and what is sent say the same."""

from typing import Any

import pytest
from sqlalchemy import text

from app.core.ids import new_id
from app.core.transaction import transaction
from tests.factories.accounts import account, customer
from tests.factories.allocations import Block, another, claim
from tests.factories.campaigns import Crowd, rows
from tests.http import Client, data


@pytest.fixture
def crowd(client: Client) -> Crowd:
    return Crowd(client)


def written(statement: str, **values: Any) -> None:
    with transaction() as session:
        session.execute(text(statement), values)


def unsubscribed(address: str, crowd: Crowd | None = None) -> None:
    organiser = crowd.event["organiserId"] if crowd and "organiserId" in crowd.event else None
    if crowd:
        ((organiser,),) = rows("SELECT organiser_id FROM event WHERE id = :id", id=crowd.event["id"])
    written(
        "INSERT INTO unsubscribe (id, address, organiser_id) VALUES (:id, :address, :organiser)",
        id=new_id(),
        address=address,
        organiser=organiser,
    )


def unwanted(account_id: str, channel: str) -> None:
    written(
        "INSERT INTO channel_preference (account_id, channel, wanted) VALUES (:id, :channel, false)",
        id=account_id,
        channel=channel,
    )


def suppressed(channel: str, address: str) -> None:
    written(
        "INSERT INTO suppression (channel, address, reason) VALUES (:channel, :address, 'none')",
        channel=channel,
        address=address,
    )


def device(account_id: str) -> None:
    written(
        "INSERT INTO push_device (id, account_id, token, platform) VALUES (:id, :account, :id, 'android')",
        id=new_id(),
        account=account_id,
    )


def places(crowd: Crowd) -> Block:
    """A block of places of the event."""
    first = Block(crowd.owner, crowd.event, {"id": "", "ticketTypeId": crowd.type})
    return another(first, quantity=20)


def sent_to(campaign_id: str, channel: str) -> set[str]:
    found = rows(
        "SELECT address FROM campaign_recipient WHERE campaign_id = :id AND channel = :channel",
        id=campaign_id,
        channel=channel,
    )
    return {item for (item,) in found}


def agrees(crowd: Crowd, **fields: Any) -> dict[str, Any]:
    """The preview, after sending the same to exactly those whom it counts."""
    asked = {name: fields[name] for name in fields if name not in ("title", "body")}
    found = crowd.preview(**asked)
    assert found["total"] == found["people"] + sum(found["excluded"].values()), found
    campaign = crowd.send(**fields)
    for channel, count in found["reachable"].items():
        crowd.finished(campaign)
        assert len(sent_to(campaign, channel)) == count, channel
    frozen = crowd.now(campaign)
    assert frozen["audience"] == {name: found[name] for name in found if name != "sample"} | {
        "variants": frozen["audience"]["variants"]
    }
    assert frozen["progress"]["total"] == sum(found["reachable"].values())
    return found


def test_every_reason_is_told_and_all_of_them_add_up(crowd: Crowd) -> None:
    known = {name: account(email=f"{name}@example.com") for name in ("quiet", "loud")}
    crowd.sold(
        *(f"{name}@example.com" for name in ("a", "a", "a", "gone", "all", "dead", "quiet", "loud", "quiet")), None
    )
    unsubscribed("gone@example.com", crowd)
    unsubscribed("all@example.com")
    suppressed("email", "dead@example.com")
    unwanted(known["quiet"].id, "email")
    unwanted(known["loud"].id, "sms")
    found = agrees(crowd, channels=["email"])
    assert (found["total"], found["people"], found["reachable"]["email"]) == (10, 2, 2)
    assert found["excluded"] == {"optedOut": 3, "noAddress": 1, "suppressed": 1, "duplicate": 3, "notRelated": 0}


def test_preferences_can_be_overridden_and_that_is_noted_but_no_unsubscribe(crowd: Crowd) -> None:
    quiet = customer(email="quiet@example.com")
    crowd.sold("quiet@example.com", "gone@example.com")
    unwanted(quiet.id, "email")
    unsubscribed("gone@example.com", crowd)
    assert crowd.preview()["people"] == 0
    assert agrees(crowd, respectPreferences=False, channels=["email"])["people"] == 1
    ((details,),) = rows("SELECT details FROM campaign_act")
    assert details == {"preferencesOverridden": True}


def test_somebody_elses_unverified_account_says_nothing_about_a_holder(crowd: Crowd) -> None:
    squatter = account(email="frieda@example.com", verified=False, phone="+264811111111")
    unwanted(squatter.id, "email")
    device(squatter.id)
    crowd.sold("frieda@example.com")
    assert crowd.preview(channels=["email", "sms", "push"])["reachable"] == {"email": 1, "sms": 0, "push": 0}


def test_claimed_and_admitted_places_count_and_free_and_revoked_ones_do_not(crowd: Crowd, client: Client) -> None:
    block = places(crowd)
    slots = []
    for code in block.codes(4):
        slots.append(data(claim(client, code, name="Frieda", email="frieda@example.com"))["slotId"])
    data(block.admit(slots[0]))
    data(block.revoke(slots[1]))
    crowd.sold("frieda@example.com", "elago@example.com")
    found = agrees(crowd, channels=["email"], body="You have {tickets}.")
    assert (found["total"], found["people"], found["excluded"]["duplicate"]) == (5, 2, 3)
    assert rows("SELECT places FROM campaign_recipient WHERE person = 'frieda@example.com'") == [(4,)]


def test_three_channels_reach_whom_they_can(crowd: Crowd, client: Client) -> None:
    both = customer(email="both@example.com", phone="+264811111111")
    device(both.id)
    device(both.id)
    family = places(crowd)
    for name, code in zip(("mother", "child"), family.codes(2), strict=True):
        data(claim(client, code, name=name, email=f"{name}@example.com", phone="+264812222222"))
    crowd.sold("both@example.com", "mail@example.com", "gone@example.com")
    unsubscribed("gone@example.com", crowd)
    found = agrees(crowd, channels=["email", "sms", "push"])
    assert found["reachable"] == {"email": 4, "sms": 2, "push": 1}
    assert found["excluded"] == {"optedOut": 1, "noAddress": 0, "suppressed": 0, "duplicate": 0, "notRelated": 0}
    by_text = agrees(crowd, channels=["sms"])
    assert by_text["reachable"] == {"email": 0, "sms": 2, "push": 0}
    assert by_text["excluded"] == {"optedOut": 0, "noAddress": 2, "suppressed": 0, "duplicate": 1, "notRelated": 0}
    suppressed("sms", "+264811111111")
    assert crowd.preview(channels="sms")["excluded"]["suppressed"] == 1


def test_named_people_are_related_or_not_written_to(crowd: Crowd, client: Client) -> None:
    mine, stranger = customer(email="mine@example.com"), customer()
    tickets = crowd.sold("mine@example.com", "guest@example.com", "third@example.com")
    elsewhere = Crowd(client).sold("far@example.com")
    ids = [mine.id, tickets[0], tickets[1], stranger.id, elsewhere[0], new_id(), mine.id]
    found = agrees(crowd, channels=["email"], audienceType="specific_users", userIds=ids)
    assert (found["total"], found["people"]) == (7, 2)
    assert found["excluded"] == {"optedOut": 0, "noAddress": 0, "suppressed": 0, "duplicate": 2, "notRelated": 3}
    as_text = crowd.preview(audienceType="specific_users", userIds=", ".join(ids))
    assert as_text == found


def test_a_large_audience_is_counted_when_sending_starts(crowd: Crowd) -> None:
    crowd.sold(*(f"p{number}@example.com" for number in range(1001)))
    made = data(crowd.broadcast(sendNow=False), 202)
    assert made["audience"] == {
        "type": "event_ticket_holders",
        "total": 1001,
        "people": None,
        "reachable": None,
        "excluded": None,
        "variants": None,
    }
    assert crowd.preview()["people"] == 1001
