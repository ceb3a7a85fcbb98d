"""The search of the desk, as a browser without scripts uses it: what it finds, for whom, and at which cost."""

from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask

from app.accounts.models import Account
from app.core.db import fetch_row
from tests.counting import count_statements
from tests.factories.allocations import claim_slot, create_another_block, create_block
from tests.factories.events import create_event, create_published_event, update_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.factories.tickets import add_tickets
from tests.http import Client, data
from tests.pages.desk.test_events import open_as
from tests.pages.desk.test_stalls import STALL_TYPES, apply
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner

SEARCH = "/desk/search"
GROUPS = {
    "owner": {"Events", "Guests", "Blocks", "Stalls", "Stock", "Invoices", "Messages"},
    "manager": {"Events", "Guests", "Blocks", "Stalls", "Stock", "Invoices", "Messages"},
    "finance": {"Events", "Guests", "Blocks", "Stalls", "Stock", "Invoices"},
    "door": {"Events", "Guests"},
    "stock": {"Events", "Stock"},
    "messages": {"Events", "Messages"},
    "viewer": {"Events", "Guests", "Blocks", "Stalls", "Stock", "Messages"},
}
"""What each role finds of an event that has everything, by the word that is in all names."""


def fill_event(client: Client, organiser: Client, word: str = "Inv") -> dict[str, Any]:
    """An event that has something of each kind with a name that begins with this word."""
    event_fields = {"name": f"{word} Nights", "stallTypes": STALL_TYPES}
    block = create_block(client, owner=organiser, name=f"{word} Gold", unitPriceMinor=10000)
    event = update_event(organiser, block.event, **event_fields)
    data(claim_slot(client, block.codes(1)[0], name=f"{word} Müller", email="guest@example.com"))
    block.invite(f"{word.lower()}.waiting@example.com")
    add_tickets(block.event, "S3CRET", name=f"{word} Zoë")
    apply(client, event, f"{word} Kapana O'Brien")
    stock = {"name": f"{word} Lager", "sku": "BEE-001", "barcode": "6001234567890"}
    quantities = dict.fromkeys(("parLevel", "minOrderQty", "reorderLevel", "onHand", "reserved", "damaged"), 0)
    data(organiser.post(f"/api/events/{event['id']}/inventory/items", {**stock, **quantities}), 201)
    create_message(event, f"{word} Gates", "See you soon")
    assert organiser.get(f"{block.path}/invoice.pdf").status_code == 200
    return event


def list_groups(page: str) -> set[str]:
    return {part.split("</h2>")[0] for part in page.split("<main")[1].split("<h2>")[1:]}


@pytest.mark.parametrize("role", GROUPS)
def test_each_role_finds_what_it_may_see(
    app: Flask, client: Client, owner: Account, organiser: Client, role: str
) -> None:
    fill_event(client, organiser)
    page = open_as(app, client, owner, role).open(f"{SEARCH}?q=inv").text
    assert list_groups(page) == GROUPS[role]


def test_guests_are_found_by_name_address_code_and_number(
    app: Flask, client: Client, owner: Account, organiser: Client, desk: Visitor
) -> None:
    event = fill_event(client, organiser)
    code = fetch_scalar("SELECT code FROM allocation_slot WHERE claimed_at IS NOT NULL")
    finds = {
        "muller inv": "Inv Müller",
        "GUEST@example": "Inv Müller",
        code: "Inv Müller",
        "zoe": "Inv Zoë",
        "R-S3CRET": "Inv Zoë",
        "inv.waiting@": "inv.waiting",
    }
    for q, name in finds.items():
        page = desk.open(f"{SEARCH}?{urlencode({'q': q})}").text
        assert list_groups(page) == {"Guests"} and name in page, q
        assert "· Weekend pass ·" in page and "order" not in page.split("<main")[1]
    execute_sql("UPDATE ticket SET status = 'refunded'")
    assert "Inv Zoë" in desk.open(f"{SEARCH}?q=R-S3CRET").text
    block = fetch_scalar("SELECT id FROM allocation_block")
    path = f"/desk/events/{event['id']}"
    assert f"{path}/guests/{block}?q=Inv+M" in desk.open(f"{SEARCH}?q=muller").text
    assert f"{path}/sales/tickets?q=R-S3CRET" in desk.open(f"{SEARCH}?q=R-S3CRET").text
    door = open_as(app, client, owner, "door")
    assert f"{path}/guests/will-call?q=Inv+M" in door.open(f"{SEARCH}?q=muller").text
    assert door.open(f"{path}/guests/will-call?q=Inv+M").status_code == 200
    viewer = open_as(app, client, owner, "viewer")
    assert "Nothing matches" in viewer.open(f"{SEARCH}?q={code}").text
    assert f"/desk/events/{event['id']}" in desk.open(f"{SEARCH}?q=nights").text


@pytest.mark.parametrize("q", ["o'neil", "O\u2019Neil", "o\u2018néil", "O\u02bcNEI", "o`neil", "O\u00b4Neil"])
def test_any_apostrophe_finds_any_other(client: Client, organiser: Client, desk: Visitor, q: str) -> None:
    block = create_block(client, owner=organiser, name="O\u2019Neil Gold", unitPriceMinor=0)
    other = create_another_block(block, name="O'Neil Silver")
    names = ("Maeve O'Neil", "Nora O\u2019Neil", "Aoife O\u2018Néil-Smith", "Sean Oneil", "Brid O Connor")
    for name, code in zip(names, block.codes(len(names)), strict=True):
        data(claim_slot(client, code, name=name, email="guest@example.com"))
    for number, name in enumerate(("Tess O\u2019Neil", "Una O'Neil")):
        add_tickets(block.event, f"T{number}", name=name)
    quantities = dict.fromkeys(("parLevel", "minOrderQty", "reorderLevel", "onHand", "reserved", "damaged"), 0)
    items = f"/api/events/{block.event['id']}/inventory/items"
    for number, name in enumerate(("O\u2019Neil Lager", "O'Neil Stout")):
        data(organiser.post(items, {"name": name, "sku": f"S{number}", **quantities}), 201)
    page = desk.open(f"{SEARCH}?{urlencode({'q': q})}").text
    found = unescape(page.split("<main")[1])
    for name in (
        *names[:3],
        "Tess O\u2019Neil",
        "Una O'Neil",
        "O\u2019Neil Gold",
        "O'Neil Silver",
        "O\u2019Neil Lager",
    ):
        assert name in found, name
    assert "O'Neil Stout" in found and "Sean" not in found and "Brid" not in found and other.id in found
    places = data(organiser.get(f"{block.events}/will-call", query_string={"q": q}))["slots"]
    assert {place["name"] for place in places} == {*names[:3]}


@pytest.mark.parametrize("q", ["o'neil", "O\u2019Neil", "o\u02bcneil"])
def test_the_tables_of_an_event_find_any_apostrophe(client: Client, organiser: Client, desk: Visitor, q: str) -> None:
    block = create_block(client, owner=organiser)
    event = update_event(organiser, block.event, stallTypes=STALL_TYPES)
    for number, name in enumerate(("Nora O\u2019Neil", "Una O'Neil", "Sean Oneil")):
        data(claim_slot(client, block.codes(3)[number], name=name, email="guest@example.com"))
        add_tickets(event, f"T{number}", name=name)
        apply(client, event, f"{name} Bakes")
    for table in (f"guests/{block.id}", "sales/tickets", "stalls"):
        page = unescape(desk.open(f"/desk/events/{event['id']}/{table}?{urlencode({'q': q})}").text.split("<main")[1])
        assert "Nora" in page and "Una" in page and "Sean" not in page, table
    for nothing in ("%25_/", "n'o", "''"):
        assert "Nothing matches" in desk.open(f"/desk/events/{event['id']}/stalls?q={nothing}").text, nothing


def test_tickets_are_found_by_the_number_of_their_order(client: Client, organiser: Client, desk: Visitor) -> None:
    event = create_published_event(organiser)
    add_tickets(event, "ONE", "TWO", "OTHER")
    execute_sql("UPDATE ticket SET order_number = 'Ord-77' WHERE secret <> 'OTHER'")
    execute_sql("UPDATE ticket SET status = 'refunded' WHERE secret = 'TWO'")
    page = desk.open(f"{SEARCH}?q=ord-77").text
    assert "R-ONE" in page and "R-TWO" in page and "R-OTHER" not in page
    assert page.count("· order Ord-77 · Weekend pass") == 2
    execute_sql("UPDATE ticket SET order_number = '<b>7' WHERE secret = 'OTHER'")
    assert "order &lt;b&gt;7 · Weekend pass" in desk.open(f"{SEARCH}?q=R-OTHER").text
    assert "Nothing matches" in desk.open(f"{SEARCH}?q=ord-7").text
    execute_sql("UPDATE ticket SET order_number = reference")
    for number in ("R-ONE", "R-TWO"):
        page = desk.open(f"{SEARCH}?q={number}").text
        assert page.count(f"sales/tickets?q={number}") == 1, "found twice"


def test_items_stalls_and_invoices_are_found_by_their_numbers(client: Client, organiser: Client, desk: Visitor) -> None:
    event = fill_event(client, organiser)
    for q, text in {
        "bee-001": "Inv Lager",
        "6001234": "Inv Lager",
        "kapana brien": "Inv Kapana",
        "gold": "Inv Gold",
    }.items():
        assert text in desk.open(f"{SEARCH}?q={q}").text, q
    reference, id = fetch_row("SELECT reference, id FROM merchant_application", {})  # type: ignore[misc]
    assert f"/desk/events/{event['id']}/stalls/{id}" in desk.open(f"{SEARCH}?q={reference}").text
    item = fetch_scalar("SELECT id FROM inventory_item")
    assert f"/desk/events/{event['id']}/stock/items/{item}" in desk.open(f"{SEARCH}?q=lager").text
    assert f"/desk/events/{event['id']}/messages/0123456789abcdef01234567" in desk.open(f"{SEARCH}?q=gates").text
    number, block = fetch_row("SELECT number, block_id FROM invoice", {})  # type: ignore[misc]
    assert f"/desk/events/{event['id']}/guests/{block}/invoice" in desk.open(f"{SEARCH}?q={number}").text


@pytest.mark.parametrize(
    ("title", "detail"),
    [
        ("{eventName}: see you soon", "Desert Days: see you soon"),
        ("{firstName}, the gates open", ""),
        ("{{x}}", "{{x}}"),
    ],
)
def test_a_message_has_no_placeholders_in_its_title(desk: Visitor, organiser: Client, title: str, detail: str) -> None:
    event = create_event(organiser, name="Desert Days")
    create_message(event, "Gates", title)
    page = desk.open(f"{SEARCH}?q=gates").text
    assert '<bdi>Gates</bdi></a>\n<p class="fine">' + " · ".join(filter(None, (detail, "Desert Days"))) + "</p>" in page


def create_message(event: dict[str, Any], name: str, title: str) -> None:
    execute_sql(
        "INSERT INTO campaign (id, event_id, name, template_id, title, body, channels, audience_type, "
        "respect_preferences, status) VALUES ('0123456789abcdef01234567', :event, :name, 'event-reminder', "
        ":title, 'Gates', ARRAY['email'], 'event_ticket_holders', true, 'draft')",
        event=event["id"],
        name=name,
        title=title,
    )


def test_members_of_one_event_and_other_organisations_find_nothing_else(
    app: Flask, client: Client, owner: Account, organiser: Client
) -> None:
    fill_event(client, organiser)
    other = create_event(organiser, name="Desert Days")
    member = open_as(app, client, owner, "manager", eventIds=[other["id"]])
    assert "Nothing matches" in member.open(f"{SEARCH}?q=inv").text
    assert "Desert Days" in member.open(f"{SEARCH}?q=desert").text
    stranger = sign_in_browser(app, create_owner("Other"))
    assert "Nothing matches" in stranger.open(f"{SEARCH}?q=inv").text


def test_a_search_of_all_events_takes_one_statement_a_kind(client: Client, organiser: Client, desk: Visitor) -> None:
    fill_event(client, organiser)
    create_event(organiser, name="Desert Days")
    page, statements = count_statements(lambda: desk.flask.get(f"{SEARCH}?q=inv"))
    assert page.status_code == 200 and len(statements) <= 8 + 4, statements
    _, statements = count_statements(lambda: desk.flask.get(SEARCH))
    assert len(statements) <= 4, statements


@pytest.mark.parametrize(
    "q",
    [
        "",
        "a",
        "!!",
        "\x00ab",
        "%",
        "a'b\\",
        "' & !x:*",
        "ab:*|cd",
        "<b>bold",
        "{event}",
        "  ",
        "ab" * 90,
        "é" * 9,
        "@x",
    ],
)
def test_any_text_is_a_search(client: Client, organiser: Client, desk: Visitor, q: str) -> None:
    create_event(organiser)
    page = desk.open(f"{SEARCH}?{urlencode({'q': q})}")
    assert page.status_code in (200, 422) and "<b>bold" not in page.text


def test_a_long_search_is_refused(desk: Visitor) -> None:
    page = desk.open(f"{SEARCH}?q={'ab ' * 100}")
    assert page.status_code == 422 and "Enter fewer words." in page.text


def test_more_hits_than_shown_are_said(organiser: Client, desk: Visitor) -> None:
    for number in range(9):
        create_event(organiser, name=f"River {number}")
    page = desk.open(f"{SEARCH}?q=river").text
    assert page.count('<li><a href="/desk/events/') == 8 and "These are the first 8." in page
