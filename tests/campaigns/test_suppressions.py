"""The suppression list by the API: who, why and since when, what a member may stop and take off, and for whom it is."""

from typing import Any

import pytest
from flask import Flask

from tests.campaigns.test_audience import execute, suppress, unsubscribe
from tests.factories.accounts import create_account
from tests.factories.campaigns import CampaignEvent
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data, list_problems, read_error
from tests.teams.test_members import accept, create_team, invite

ENTRY = {"reason": "stopped", "channel": "all", "address": "stop@example.com"}
BOUNCED = {"reason": "bounced", "channel": "email", "address": "dead@example.com"}


@pytest.fixture
def campaign_event(app: Flask, client: Client) -> CampaignEvent:
    return CampaignEvent(client)


def get_path(campaign_event: CampaignEvent) -> str:
    return f"{campaign_event.path}/suppressions"


def list_entries(campaign_event: CampaignEvent, **query: Any) -> list[tuple[str, str, str]]:
    page = data(campaign_event.owner.get(get_path(campaign_event), query_string=query))
    return [(row["reason"], row["channel"], row["address"]) for row in page["suppressions"]]


def fill_list(campaign_event: CampaignEvent) -> None:
    """An address of each reason, and one that refused messages of others only."""
    campaign_event.sold("dead@example.com")
    campaign_event.finished(campaign_event.send())
    execute("UPDATE campaign_recipient SET state = 'failed'")
    suppress("email", "dead@example.com")
    suppress("email", "of-others@example.com")
    unsubscribe("gone@example.com", campaign_event)
    data(campaign_event.owner.post(get_path(campaign_event), {"address": "Stop@Example.com"}))


def test_the_list_has_each_reason_with_filters_and_pages(campaign_event: CampaignEvent) -> None:
    fill_list(campaign_event)
    rows = [("bounced", "email", "dead@example.com"), ("unsubscribed", "all", "gone@example.com")]
    rows += [("stopped", "all", "stop@example.com")]
    assert list_entries(campaign_event, sort="address") == rows
    assert list_entries(campaign_event, reason="bounced") == rows[:1]
    assert list_entries(campaign_event, q="STOP@") == rows[2:]
    for sort in ("address", "-since"):
        seen, cursor = [], None
        while not seen or cursor:
            query = {"limit": 1, "sort": sort, "withTotal": "true", **({"cursor": cursor} if cursor else {})}
            page = data(campaign_event.owner.get(get_path(campaign_event), query_string=query))
            seen += [row["address"] for row in page["suppressions"]]
            cursor = page["pagination"]["nextCursor"]
            assert page["pagination"]["total"] == 3
        assert sorted(seen) == [address for _, _, address in rows], sort


def test_an_address_is_stopped_once_for_all_events(campaign_event: CampaignEvent) -> None:
    campaign_event.sold("stop@example.com")
    path, owner = get_path(campaign_event), campaign_event.owner
    assert data(owner.post(path, {"address": "Stop@Example.com"})) == {"address": "stop@example.com", "added": True}
    assert data(owner.post(path, {"address": "stop@example.com"}))["added"] is False
    assert campaign_event.preview()["people"] == 0
    other = create_published_event(owner, name="Desert Days")
    page = data(owner.get(f"/api/events/{other['id']}/notifications/suppressions"))
    assert [row["address"] for row in page["suppressions"]] == ["stop@example.com"]


def test_what_was_stopped_or_bounced_comes_off_the_list(campaign_event: CampaignEvent) -> None:
    fill_list(campaign_event)
    path, owner = f"{get_path(campaign_event)}/remove", campaign_event.owner
    for entry in (ENTRY, BOUNCED):
        data(owner.post(path, entry))
        assert read_error(owner.post(path, entry)) == (404, "NOT_FOUND")
    of_others = {**BOUNCED, "address": "of-others@example.com"}
    by_themselves = {**ENTRY, "address": "gone@example.com"}
    for entry in (of_others, by_themselves):
        assert read_error(owner.post(path, entry)) == (404, "NOT_FOUND"), entry
    assert list(list_problems(owner.post(path, {**ENTRY, "reason": "unsubscribed"}))) == ["reason"]
    assert [row[0] for row in list_entries(campaign_event)] == ["unsubscribed"]


@pytest.mark.parametrize("role", ["manager", "messages", "finance", "door", "stock", "viewer"])
def test_only_who_writes_messages_for_all_events_may(client: Client, role: str) -> None:
    owner, member, _ = create_team(client, role)
    path = get_path(CampaignEvent(client, owner=owner))
    for response in (member.get(path), member.post(path, {"address": "stop@example.com"})):
        assert response.status_code == (200 if role in ("manager", "messages") else 403)
    assert member.post(f"{path}/remove", ENTRY).status_code == (200 if role in ("manager", "messages") else 403)


def test_the_list_of_another_organisation_is_not_there(client: Client, campaign_event: CampaignEvent) -> None:
    fill_list(campaign_event)
    stranger, path = create_organiser_client(client), get_path(campaign_event)
    for response in (stranger.get(path), stranger.post(path, {"address": "a@example.com"})):
        assert read_error(response) == (404, "NOT_FOUND")
    assert read_error(stranger.post(f"{path}/remove", ENTRY)) == (404, "NOT_FOUND")
    own = CampaignEvent(client, owner=stranger)
    assert list_entries(own) == []
    assert read_error(stranger.post(f"{get_path(own)}/remove", BOUNCED)) == (404, "NOT_FOUND")
    assert len(list_entries(campaign_event)) == 3


def test_an_owner_who_helps_at_one_event_of_others_does_not_see_their_list(
    client: Client, campaign_event: CampaignEvent
) -> None:
    fill_list(campaign_event)
    account = create_account("organiser")
    invite(campaign_event.owner, account.email, "messages", eventIds=[campaign_event.event["id"]])
    helper, path = accept(client, account), get_path(campaign_event)
    assert helper.get(f"{campaign_event.path}/campaigns").status_code == 200
    for response in (helper.get(path), helper.post(path, {"address": "a@example.com"})):
        assert read_error(response) == (404, "NOT_FOUND")
    assert read_error(helper.post(f"{path}/remove", ENTRY)) == (404, "NOT_FOUND")
