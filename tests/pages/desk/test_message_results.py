"""What became of a message that was sent: its figures, and who got it."""

import re
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.campaigns.test_audience import create_block, execute
from tests.campaigns.test_filtered_audience import choose, claim
from tests.factories.accounts import list_mails_to
from tests.factories.applications import create_application
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows
from tests.factories.merchants import create_participant
from tests.http import Client, data, read_error
from tests.pages.desk.test_events import open_as
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


def read_rows(page: Any) -> str:
    """The table of a page with its text, without the menu and the filters."""
    return str(page.text).partition('<div id="table"')[2]


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


def test_everybody_who_got_a_message_is_found_by_name_address_and_state(
    campaign_event: CampaignEvent, desk: Visitor
) -> None:
    id = send_to_all(campaign_event)
    execute(
        "UPDATE campaign_recipient SET state = 'suppressed', reason = 'optedOut' WHERE person = :person", person=OTHER
    )
    page = desk.open(build_path(campaign_event, id))
    path = build_path(campaign_event, id, "recipients")
    assert f'href="{path}"' in page.text
    page = desk.open(path).text
    assert "4 messages" in page and all(address in page for address in (GUEST, STALL, APPLICANT, OTHER))
    assert "Unsubscribed, or switched the channel off" in page
    for query, found in (
        (f"q={APPLICANT.upper()}", [APPLICANT]),
        ("q=GUEST@", [GUEST]),
        ("q=fried", [GUEST, STALL]),
        ("state=suppressed", [OTHER]),
        ("state=failed", []),
        ("q=%25", []),
    ):
        text = desk.open(f"{path}?{query}").text
        assert [
            address for address in (GUEST, STALL, APPLICANT, OTHER) if address in text.split("</form>")[-1]
        ] == found
    execute(
        "UPDATE campaign_recipient SET channel = 'push', address = 'adadadadadadadadadadadad' WHERE person = :p",
        p=GUEST,
    )
    assert GUEST not in desk.open(f"{path}?q=adad").text, "the id of an account is nobody's address"
    file = desk.open(f"{path}?format=csv&state=sent").text
    assert GUEST in file and OTHER not in file
    assert fetch_sql_rows("SELECT count(*) FROM audit_entry WHERE action = 'exports.message_addresses'") == [(1,)]


@pytest.mark.parametrize(
    ("role", "status", "sees_addresses"),
    [
        ("viewer", 200, True),
        ("messages", 200, False),
        ("finance", 403, False),
        ("door", 403, False),
    ],
)
def test_addresses_are_for_those_who_may_see_the_guests(
    app: Flask,
    client: Client,
    owner: Account,
    campaign_event: CampaignEvent,
    role: str,
    status: int,
    sees_addresses: bool,
) -> None:
    id = send_to_all(campaign_event)
    visitor, path = open_as(app, client, owner, role), build_path(campaign_event, id, "recipients")
    page = visitor.open(path)
    assert page.status_code == status and (GUEST in page.text) == sees_addresses
    if status == 200:
        assert "Frieda" in read_rows(page) and "Frieda" in read_rows(visitor.open(f"{path}?q={GUEST}"))
        assert ("Frieda" in read_rows(visitor.open(f"{path}?q=gues"))) == sees_addresses
        assert (GUEST in visitor.open(f"{path}?format=csv").text) == sees_addresses


def test_the_api_masks_addresses_pages_and_forgets_erased_people(campaign_event: CampaignEvent) -> None:
    id = send_to_all(campaign_event)
    path = f"{campaign_event.one(id)}/recipients"
    seen, cursor = [], None
    while not seen or cursor:
        query = {"limit": 3, "withTotal": "true", **({"cursor": cursor} if cursor else {})}
        page = data(campaign_event.owner.get(path, query_string=query))
        seen += [row["address"] for row in page["recipients"]]
        cursor = page["pagination"]["nextCursor"]
        assert page["pagination"]["total"] == 4
    assert sorted(seen) == ["a•••@example.com", "g•••@example.com", "o•••@example.com", "s•••@example.com"]
    (found,) = data(campaign_event.owner.get(f"{path}?q={GUEST}&state=sent"))["recipients"]
    assert found["name"] == "Frieda" and found["settledAt"]
    assert data(campaign_event.owner.get(f"{path}?q=gues"))["recipients"] == []
    execute("UPDATE campaign_recipient SET person = 'erased:' || id, address = 'erased:' || id, name = NULL")
    assert {row["address"] for row in data(campaign_event.owner.get(path))["recipients"]} == {None}
    assert data(campaign_event.owner.get(f"{path}?q=erased:{found['id']}"))["recipients"] == []
    assert read_error(campaign_event.owner.get(f"{path}?state=gone"))[0] == 422
