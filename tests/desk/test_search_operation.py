"""`GET /api/organisations/me/search`: what is found, by role and organisation; the search itself is in tests/pages/desk."""

from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_event, create_organiser_client
from tests.factories.payouts import fetch_scalar
from tests.http import Client, data, list_problems, read_error
from tests.pages.desk.test_search import fill_event
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner
from tests.teams.test_members import accept, create_team, invite

SEARCH = "/api/organisations/me/search"
ALL = ["events", "guests", "blocks", "applications", "items", "invoices", "campaigns"]
KINDS_BY_ROLE = {
    "manager": ALL,
    "finance": ALL[:-1],
    "door": ["events", "guests"],
    "stock": ["events", "items"],
    "messages": ["events", "campaigns"],
    "viewer": [kind for kind in ALL if kind != "invoices"],
}


def search(client: Client, q: str) -> dict[str, list[dict[str, Any]]]:
    groups = data(client.get(SEARCH, query_string={"q": q}))["groups"]
    return {group["kind"]: group["hits"] for group in groups}


@pytest.mark.parametrize("role", KINDS_BY_ROLE)
def test_each_role_finds_what_it_may_see(client: Client, role: str) -> None:
    owner, member, _ = create_team(client, role)
    fill_event(client, owner)
    assert list(search(member, "inv")) == KINDS_BY_ROLE[role]
    code = fetch_scalar("SELECT code FROM allocation_slot WHERE claimed_at IS NOT NULL")
    assert list(search(member, code)) == (["guests"] if role in ("manager", "door") else [])


def test_a_hit_has_ids_and_no_words_of_the_desk(client: Client) -> None:
    owner = create_organiser_client(client)
    event = fill_event(client, owner)
    (guest,) = search(owner, "muller")["guests"]
    slot = fetch_scalar("SELECT id FROM allocation_slot WHERE claimed_at IS NOT NULL")
    assert guest == {
        "id": slot,
        "title": "Inv Müller",
        "detail": "claimed · guest@example.com",
        "parentId": fetch_scalar("SELECT id FROM allocation_block"),
        "eventId": event["id"],
        "eventName": "Inv Nights",
        "orderNumber": None,
        "ticketType": "Weekend pass",
    }


def test_others_find_nothing(client: Client) -> None:
    owner = create_organiser_client(client)
    fill_event(client, owner)
    other_event = create_event(owner, name="Desert Days")
    account = create_account("organiser")
    invite(owner, account.email, "manager", eventIds=[other_event["id"]])
    member = accept(client, account)
    assert search(member, "inv") == {} and list(search(member, "desert")) == ["events"]
    assert search(member.with_(Team_Id=account.id), "desert") == {}
    for stranger in (create_organiser_client(client), create_signed_in_client(client, create_account("admin"))):
        assert search(stranger, "inv") == {}
    customer = create_signed_in_client(client, create_account("customer"))
    assert read_error(customer.get(f"{SEARCH}?q=inv")) == (403, "ROLE_NOT_ALLOWED")


def test_more_hits_than_returned_are_said(client: Client) -> None:
    owner = create_organiser_client(client)
    for number in range(9):
        create_event(owner, name=f"River {number}")
    (group,) = data(owner.get(f"{SEARCH}?q=river"))["groups"]
    assert len(group["hits"]) == 8 and group["hasMore"] is True


@pytest.mark.parametrize("q", ["!!", "{event}", "%%", "a'b\\", "' & !x:*"])
def test_any_text_is_a_search(client: Client, q: str) -> None:
    assert search(create_organiser_client(client), q) == {}


@pytest.mark.parametrize("query", [{}, {"q": "a"}, {"q": "ab " * 100}])
def test_no_search_and_long_ones_are_refused(client: Client, query: dict[str, str]) -> None:
    assert list(list_problems(create_organiser_client(client).get(SEARCH, query_string=query))) == ["q"]


def test_the_page_and_the_operation_share_one_limit(app: Flask, client: Client) -> None:
    owner: Account = create_owner()
    desk = sign_in_browser(app, owner)
    answer = create_signed_in_client(client, owner).get(f"{SEARCH}?q=river")
    assert answer.headers["RateLimit-Remaining"] == "59"
    assert desk.open("/desk/search?q=river").headers["RateLimit-Remaining"] == "58"
    assert "RateLimit-Remaining" not in desk.open("/desk/search?q=r").headers
