"""What became of a message that was sent: its figures, and who got it."""

import re
from typing import Any

import pytest

from tests.campaigns.test_audience import create_block
from tests.campaigns.test_filtered_audience import choose, claim
from tests.factories.accounts import list_mails_to
from tests.factories.applications import create_application
from tests.factories.campaigns import CampaignEvent
from tests.factories.merchants import create_participant
from tests.http import Client
from tests.pages.desk.test_messages import build_path
from tests.pages.pages import Visitor

GUEST, STALL, APPLICANT, OTHER = (f"{name}@example.com" for name in ("guest", "stall", "applicant", "other"))


@pytest.fixture
def campaign_event(client: Client, organiser: Client) -> CampaignEvent:
    return CampaignEvent(client, owner=organiser, name="Windhoek Lights")


def send_to_all(campaign_event: CampaignEvent, **fields: Any) -> str:
    """A message that a guest, a stallholder, an applicant and a ticket holder got."""
    event_id = campaign_event.event["id"]
    campaign_event.sold(OTHER)
    claim(create_block(campaign_event), GUEST)
    create_participant(campaign_event.client, campaign_event.owner, event_id, email=STALL)
    create_application(campaign_event.client, eventId=event_id, email=APPLICANT)
    id = campaign_event.send(**choose("ticket_holders", "guests", "stallholders", "applicants"), **fields)
    assert campaign_event.finished(id)["status"] == "sent"
    return id


def find_link(address: str) -> str:
    """The path of the unsubscribe link of the message to an address."""
    (path,) = {path for mail in list_mails_to(address) for path in re.findall(r"/unsubscribe/[\w.~-]+", mail["text"])}
    return path


def read_figures(page: Any) -> dict[str, int]:
    text = re.sub(r"<[^>]+>", " ", page.text)
    return {
        label: int(re.search(rf"{label}\s+(\d+)", text)[1])  # type: ignore[index]
        for label in ("Left out while sending", "Unsubscribed since")
    }


def test_everybody_who_used_the_link_of_a_message_counts_once(
    campaign_event: CampaignEvent, desk: Visitor, visitor: Visitor
) -> None:
    id = send_to_all(campaign_event)
    for count, address in enumerate((GUEST, STALL, APPLICANT), 1):
        for _ in range(2):
            visitor.open(find_link(address))
            visitor.send(form=0, choice="this")
        page = desk.open(build_path(campaign_event, id))
        assert read_figures(page) == {"Left out while sending": 0, "Unsubscribed since": count}, address
        assert campaign_event.now(id)["unsubscribed"] == count
    visitor.open(find_link(GUEST))
    visitor.send(form=1, choice="again")
    assert campaign_event.now(id)["unsubscribed"] == 2
    visitor.open(find_link(OTHER))
    visitor.send(form=0, choice="everything")
    assert campaign_event.now(id)["unsubscribed"] == 3


def test_who_had_unsubscribed_before_or_was_stopped_by_the_organiser_does_not_count(
    campaign_event: CampaignEvent, visitor: Visitor
) -> None:
    first = send_to_all(campaign_event)
    visitor.open(find_link(GUEST))
    visitor.send(form=0, choice="this")
    second = campaign_event.send(**choose("guests", "applicants"))
    assert campaign_event.finished(second)["status"] == "sent"
    campaign_event.owner.post(f"{campaign_event.path}/suppressions", {"address": APPLICANT})
    assert [campaign_event.now(id)["unsubscribed"] for id in (first, second)] == [1, 0]
