"""The stock of an event at the desk: table, numbers changed in place, live changes, items, archive."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.accounts.models import Account
from app.inventory import actions
from app.inventory.formatting import format_item
from tests.counting import count_statements
from tests.factories.accounts import create_signed_in_client
from tests.factories.events import create_event
from tests.factories.inventory import Stock, assert_quantities_match_movements
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner
from tests.races import run_concurrently

ROLES = ("owner", "manager", "finance", "door", "stock", "messages", "viewer")
READERS, WRITERS = ("owner", "manager", "finance", "stock", "viewer"), ("owner", "manager", "stock")
REMINDERS = ("owner", "manager")


class DeskStock(Stock):
    """The stock of an event of a given organiser."""

    def __init__(self, organiser: Client) -> None:
        self.owner = organiser
        self.event = create_event(organiser, name="Windhoek Lights")
        self.path = f"/api/events/{self.event['id']}/inventory"
        self.desk_path = f"{EVENTS}/{self.event['id']}/stock"


@pytest.fixture
def stock(client: Client, owner: Account) -> DeskStock:
    return DeskStock(create_signed_in_client(client, owner))


def find_form(desk: Visitor) -> int:
    """The number of the form with the numbers of the table."""
    return next(number for number, form in enumerate(desk.forms) if any("quantity-" in name for name in form.fields))


def fill(item: dict[str, Any], **fields: str) -> dict[str, str]:
    """The fields of the row of an item."""
    return {f"{name}-{item['id']}": value for name, value in fields.items()}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_and_does_what_it_may(
    app: Flask, client: Client, owner: Account, stock: DeskStock, role: str
) -> None:
    item = stock.item(name="Lager", onHand=10)
    visitor = open_as(app, client, owner, role)
    reading = 200 if role in READERS else 403
    for path in ("", "/live", "/counts", "/order", "/export.csv", f"/items/{item['id']}", "/reports/valuation"):
        assert visitor.open(f"{stock.desk_path}{path}").status_code == reading, path
    if role in READERS:
        page = visitor.open(stock.desk_path).text
        assert ("New number of Lager" in page) == ("New item" in page) == (role in WRITERS)
        assert ("Reminder</a>" in page) == (role in REMINDERS)
        page = visitor.open(f"{stock.desk_path}/items/{item['id']}").text
        assert ("Archive</a>" in page) == (role in WRITERS)
    for path, roles in {
        "/items/new": WRITERS,
        f"/items/{item['id']}/change": WRITERS,
        f"/items/{item['id']}/archive": WRITERS,
        "/import": WRITERS,
        "/reminder": REMINDERS,
        "/reminder/send": REMINDERS,
    }.items():
        assert visitor.open(f"{stock.desk_path}{path}").status_code == (200 if role in roles else 403), path
    visitor.open(EVENTS)
    body = {"csrf_token": visitor.forms[0].fields["csrf_token"], "item": item["id"], "quantity": "3", "version": "1"}
    for path in ("", f"/items/{item['id']}/archive", "/items/new", "/order", "/import"):
        if role not in WRITERS:
            assert visitor.flask.post(f"{stock.desk_path}{path}", data=body).status_code == 403, path
    assert stock.read(item) == item


def test_the_stock_of_others_is_not_there(app: Flask, stock: DeskStock) -> None:
    item = stock.item()
    stranger = sign_in_browser(app, create_owner("Other"))
    for path in ("", "/live", f"/items/{item['id']}", f"/items/{item['id']}/change", "/order", "/counts", "/reminder"):
        assert stranger.open(f"{stock.desk_path}{path}").status_code == 404, path
    assert stranger.open(f"{stock.desk_path}/jobs/{item['id']}").status_code == 404
    assert stranger.open(f"{stock.desk_path}/export.csv").status_code == 404
    stranger.open(EVENTS)
    body = {"csrf_token": stranger.forms[0].fields["csrf_token"], "item": item["id"], "quantity": "3", "version": "1"}
    for path in ("", f"/items/{item['id']}/archive", f"/items/{item['id']}/change", "/items/new"):
        assert stranger.flask.post(f"{stock.desk_path}{path}", data=body).status_code == 404, path
    assert stock.read(item) == item


def test_the_table_is_searched_filtered_and_sorted(stock: DeskStock, desk: Visitor) -> None:
    page = desk.open(stock.desk_path).text
    assert "Items appear here" in page and "Enter new numbers" not in page
    stock.item(name="Lager", sku="BEE-1", category="Beer", supplier="Brewery", storageLocation="Bar", onHand=48.5)
    stock.item(name="Cups", sku="CUP-1", category="Consumable", supplier="Print House", onHand=1, reorderLevel=4)
    old = stock.item(name="Absinthe", sku="ABS-1", onHand=0)
    data(stock.owner.patch(f"{stock.path}/items/{old['id']}", {"archived": True}))
    page = desk.open(stock.desk_path).text
    assert (
        "2 items" in page and "Absinthe" not in page and ">48.5<" in page and page.index("Cups") < page.index("Lager")
    )
    assert page.count('<span class="tag wrong">Low</span>') == 1
    for query, name in (
        ("q=lag", "Lager"),
        ("lowStock=true", "Cups"),
        ("category=beer", "Lager"),
        ("supplier=Print House", "Cups"),
        ("storageLocation=Bar", "Lager"),
        ("archived=true", "Absinthe"),
    ):
        page = desk.open(f"{stock.desk_path}?{query}").text
        assert "1 item " in page and f">{name}</a>" in page, query
    assert "New number of" not in page
    page = desk.open(f"{stock.desk_path}?sort=-sku").text
    assert page.index("CUP-1") < page.index("BEE-1")
    assert "Nothing matches" in desk.open(f"{stock.desk_path}?q=nothing").text
    assert desk.open(f"{stock.desk_path}?archived=x&lowStock=7").status_code == 422
    csv = desk.open(f"{stock.desk_path}?format=csv&q=lager").text
    assert '"Lager","BEE-1","Bar","","48.5","0","0","48.5",""' in csv and "Cups" not in csv


def test_a_number_that_is_the_name_is_left_out(stock: DeskStock, desk: Visitor) -> None:
    stock.item(name="Ice", sku="Ice", unit="bag", onHand=6)
    stock.item(name="Cups", sku="CUP-1", onHand=0, reorderLevel=4, parLevel=20)
    page = desk.open(stock.desk_path).text
    assert page.count(">Ice<") == 1 and ">CUP-1<" in page and ">bag<" in page and "SKU" not in page
    assert '"Ice","Ice"' in desk.open(f"{stock.desk_path}?format=csv").text
    assert ">Cups (CUP-1)<" in desk.open(f"{stock.desk_path}/order").text


def save(desk: Visitor, item: dict[str, Any], **fields: str) -> TestResponse:
    return desk.send(form=find_form(desk), less="lost", **fill(item, **fields))


def test_a_number_is_changed_in_its_row_and_the_place_is_kept(stock: DeskStock, desk: Visitor) -> None:
    items = [stock.item(name=f"Lager {number}", onHand=10) for number in range(3)]
    item = items[1]
    desk.open(f"{stock.desk_path}?q=lager&sort=-name")
    answer = desk.press(form=find_form(desk), less="lost", **fill(item, quantity="7.5"))
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{stock.desk_path}?q=lager&sort=-name#item-{item['id']}"
    page = desk.open(f"{stock.desk_path}?q=lager&sort=-name").text
    assert "The number is saved." in page and ">7.5<" in page
    save(desk, item, quantity="6", reason="damage", note="fell down")
    save(desk, item, quantity="2", bucket="damaged", reason="damage")
    save(desk, item, quantity="1", bucket="reserved", reason="transfer")
    read = stock.read(item)
    assert [read[name] for name in ("onHand", "damaged", "reserved", "available")] == [6, 2, 1, 3]
    movements = [(row["bucket"], row["delta"], row["reason"], row["counted"]) for row in stock.book(item)[1:]]
    assert movements == [
        ("onHand", -2.5, "count", 7.5),
        ("onHand", -1.5, "damage", None),
        ("damaged", 2, "damage", None),
        ("reserved", 1, "transfer", None),
    ]
    save(desk, item, quantity="6")
    assert stock.book(item)[-1]["counted"] == 6
    assert_quantities_match_movements()


def test_a_number_with_a_plus_is_what_was_delivered(stock: DeskStock, desk: Visitor) -> None:
    item = stock.item(name="Lager", onHand=30)
    desk.open(stock.desk_path)
    assert "The number is saved." in save(desk, item, quantity="+770").text
    assert "The number is saved." in save(desk, item, quantity=" + 1\u00a0200,5", reason="return").text
    assert stock.read(item)["onHand"] == 2000.5
    movements = [(row["delta"], row["reason"], row["counted"]) for row in stock.book(item)[1:]]
    assert movements == [(770, "received", None), (1200.5, "return", None)]
    for typed in ("+1.200", "+", "+-5", "++5", "+0"):
        desk.open(stock.desk_path)
        page = save(desk, item, quantity=typed)
        assert page.status_code in (409, 422), typed
        assert stock.read(item)["onHand"] == 2000.5
    assert_quantities_match_movements()


@pytest.mark.parametrize("typed", ["-5", "\u22125", " \u2013 5"])
def test_a_number_with_a_minus_is_what_is_gone(stock: DeskStock, desk: Visitor, typed: str) -> None:
    item = stock.item(name="Lager", onHand=30)
    desk.open(stock.desk_path)
    page = desk.send(form=find_form(desk), less="", **fill(item, quantity=typed))
    assert page.status_code == 422 and stock.read(item) == item
    assert desk.elements[f"quantity-{item['id']}"]["value"] == typed
    desk.send(form=find_form(desk), less="sold", **fill(item, quantity=typed))
    desk.send(form=find_form(desk), less="lost", **fill(item, quantity=typed))
    desk.send(form=find_form(desk), **fill(item, quantity=typed, reason="waste"))
    movements = [(row["delta"], row["reason"], row["counted"]) for row in stock.book(item)[1:]]
    assert movements == [(-5, "sold", None), (-5, "count", 20), (-5, "waste", None)]
    desk.send(form=find_form(desk), **fill(item, quantity="3", bucket="reserved"))
    desk.send(form=find_form(desk), **fill(item, quantity="-1", bucket="reserved"))
    assert (stock.read(item)["onHand"], stock.read(item)["reserved"]) == (15, 2)
    assert_quantities_match_movements()


def test_a_count_asks_once_whether_what_is_less_was_sold_or_is_lost(stock: DeskStock, desk: Visitor) -> None:
    items = [stock.item(name=name, onHand=240, costPrice=12.5) for name in ("Bread", "Cups", "Lager")]
    typed = {}
    for item, number in zip(items, ("22", "250", "240"), strict=True):
        typed |= fill(item, quantity=number)
    desk.open(stock.desk_path)
    page = desk.send(form=find_form(desk), less="", **typed)
    assert page.status_code == 422 and page.text.count("Some numbers are lower. Say whether") == 2
    assert [stock.read(item) for item in items] == items
    assert [desk.press(form=find_form(desk), less="sold", **typed).status_code for _ in range(2)] == [303, 303]
    assert "3 numbers are saved." in desk.open(stock.desk_path).text
    movements = [(row["delta"], row["reason"], row["counted"]) for item in items for row in stock.book(item)[1:]]
    assert movements == [(-218, "sold", 22), (10, "count", 250), (0, "count", 240)]
    found = {row["name"]: row for row in data(stock.owner.get(f"{stock.path}/variance"))["items"]}
    assert {name: (row["expected"], row["counted"], row["variance"]) for name, row in found.items()} == {
        "Bread": (22, 22, 0),
        "Cups": (240, 250, 10),
        "Lager": (240, 240, 0),
    }
    page = desk.open(f"{stock.desk_path}/counts").text
    assert "218" not in page and "3 counted items" in page
    assert "Sold or used" in desk.open(f"{stock.desk_path}/items/{items[0]['id']}").text
    desk.open(stock.desk_path)
    desk.send(form=find_form(desk), less="lost", **fill(items[0], quantity="20"))
    found = {row["name"]: row for row in data(stock.owner.get(f"{stock.path}/variance"))["items"]}
    assert (found["Bread"]["expected"], found["Bread"]["variance"], found["Bread"]["value"]) == (22, -2, -25)
    assert_quantities_match_movements()


def test_all_numbers_of_the_page_are_saved_together(stock: DeskStock, desk: Visitor) -> None:
    items = [stock.item(name=f"Lager {number}", onHand=10) for number in range(4)]
    desk.open(stock.desk_path)
    typed = {**fill(items[0], quantity="1"), **fill(items[1], quantity="2.5"), **fill(items[3], quantity="0")}
    for _ in range(2):
        assert desk.press(form=find_form(desk), less="lost", **typed).status_code == 303
    assert "3 numbers are saved." in desk.open(stock.desk_path).text
    assert [stock.read(item)["onHand"] for item in items] == [1, 2.5, 10, 0]
    assert [len(stock.book(item)) for item in items] == [2, 2, 1, 2]
    assert_quantities_match_movements()


def test_a_refused_number_does_not_hold_up_the_others(stock: DeskStock, desk: Visitor) -> None:
    bread, cups, lager = (stock.item(name=name, onHand=10) for name in ("Bread", "Cups", "Lager"))
    desk.open(stock.desk_path)
    data(stock.adjust(cups, -4, reason="sold"))
    typed = {**fill(bread, quantity="many"), **fill(cups, quantity="9", note="two of us"), **fill(lager, quantity="8")}
    page = desk.send(form=find_form(desk), less="lost", **typed)
    assert page.status_code == 422 and "The number is saved." in page.text
    assert "Bread: Enter a number like 12 or 12.5." in page.text
    assert "Cups: Somebody else has changed this item." in page.text and "two of us" in page.text
    values = [desk.elements[f"quantity-{item['id']}"]["value"] for item in (bread, cups, lager)]
    assert values == ["many", "9", ""]
    assert [stock.read(item)["onHand"] for item in (bread, cups, lager)] == [10, 6, 8]
    desk.send(form=find_form(desk), **fill(bread, quantity="7"), **fill(cups, note="two of us"))
    assert [stock.read(item)["onHand"] for item in (bread, cups, lager)] == [7, 9, 8]
    assert stock.book(cups)[-1]["note"] == "two of us" and len(stock.book(lager)) == 2


def save_against_each_other(app: Flask, stock: DeskStock, owner: Account) -> list[int]:
    """Four people save other numbers of the same three items at once; returns how many numbers each of them saved."""
    items = [stock.item(name=f"Lager {number}", onHand=10) for number in range(3)]
    visitors = [sign_in_browser(app, owner) for _ in range(4)]
    for visitor in visitors:
        visitor.open(stock.desk_path)

    def count(number: int) -> int:
        order = items if number % 2 else items[::-1]
        typed = {name: value for item in order for name, value in fill(item, quantity=str(number)).items()}
        page = visitors[number].press(form=find_form(visitors[number]), less="lost", **typed).text
        return 3 - page.count("Somebody else has changed this item. Look at its numbers, and save again.</span>")

    saved = run_concurrently(4, count)
    assert_quantities_match_movements()
    assert [len(stock.book(item)) for item in items] == [2, 2, 2]
    return saved


def test_of_people_who_save_at_once_one_saves_each_number(app: Flask, stock: DeskStock, owner: Account) -> None:
    assert sum(save_against_each_other(app, stock, owner)) == 3


@pytest.mark.control
def test_without_the_version_all_of_them_do(
    app: Flask, stock: DeskStock, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    adjust = actions.adjust_item
    monkeypatch.setattr(actions, "adjust_item", lambda **values: adjust(**{**values, "expected_version": None}))
    with pytest.raises(AssertionError):
        save_against_each_other(app, stock, owner)


def test_a_wrong_number_is_said_in_its_row_and_changes_nothing(stock: DeskStock, desk: Visitor) -> None:
    item = stock.item(name="Lager", onHand=10)
    for typed, text in (
        ({}, "Enter a number in at least one row."),
        ({"note": "only a note"}, "Enter the new number."),
        ({"quantity": "many"}, "Enter a number like 12 or 12.5."),
        ({"quantity": "--1"}, "Enter 0 or more."),
        ({"quantity": "-11"}, "There are only 10. You cannot take away 11."),
        ({"quantity": "-0"}, "This is the number already."),
        ({"quantity": "1.2345"}, "Enter at most three decimals."),
        ({"quantity": "9" * 15}, "Enter a smaller number."),
        ({"quantity": "9" * 400}, "Enter a number like 12 or 12.5."),
        ({"quantity": "10", "reason": "sold"}, "This is the number already."),
        ({"quantity": "11", "bucket": "reserved", "reason": "sold"}, "not below what is reserved and damaged"),
        ({"quantity": "1", "bucket": "other"}, "Choose one of the choices."),
        ({"quantity": "1", "version": "x"}, "Enter"),
        ({"quantity": "1\0"}, "There is a problem"),
    ):
        desk.open(f"{stock.desk_path}?q=lager")
        page = save(desk, item, **typed)
        assert page.status_code == 422, (typed, page.text)
        assert text in page.text and "<title>Error: " in page.text, typed
        assert "data-refresh-seconds" not in page.text
    assert stock.read(item) == item
    desk.open(stock.desk_path)
    unknown = {"id": item["id"][::-1]}
    assert save(desk, unknown, quantity="1", version="1").status_code == 422
    many = {name: "1" for number in range(51) for name in (f"quantity-{number:024x}", f"version-{number:024x}")}
    page = desk.send(form=find_form(desk), **many)
    assert page.status_code == 422 and "Save at most 50 numbers at once." in page.text


def test_what_somebody_else_has_changed_is_not_overwritten(stock: DeskStock, desk: Visitor) -> None:
    item = stock.item(name="Lager", onHand=10)
    desk.open(stock.desk_path)
    data(stock.adjust(item, -4, reason="sold"))
    page = save(desk, item, quantity="9")
    assert page.status_code == 422 and "Somebody else has changed this item." in page.text
    assert desk.elements[f"quantity-{item['id']}"]["value"] == "9" and stock.read(item)["onHand"] == 6
    save(desk, item, quantity="9")
    assert stock.read(item)["onHand"] == 9
    stock.item(name="Cups")
    desk.open(stock.desk_path)
    data(stock.owner.patch(f"{stock.path}/items/{item['id']}", {"archived": True}))
    page = save(desk, item, quantity="3")
    assert page.status_code == 422 and "Lager: This item is archived." in page.text


def test_the_table_takes_few_statements(stock: DeskStock, desk: Visitor) -> None:
    for _ in range(3):
        stock.item()
    _, statements = count_statements(lambda: desk.flask.get(stock.desk_path))
    assert len(statements) == 8, statements
    _, statements = count_statements(lambda: desk.flask.get(f"{stock.desk_path}/live"))
    assert len(statements) == 6, statements


def test_live_shows_who_changed_what_and_why(
    app: Flask, client: Client, owner: Account, stock: DeskStock, desk: Visitor
) -> None:
    assert "Changes appear here" in desk.open(f"{stock.desk_path}/live").text
    first, second = stock.item(name="Lager", onHand=10, unit="case"), stock.item(name="Cups", onHand=5)
    data(stock.adjust(second, 1, bucket="damaged", reason="damage", note="wet", reference="till 3"))
    data(stock.adjust(first, -2, reason="sold"))
    rows = desk.open(f"{stock.desk_path}/live").text.split("<tbody>")[1].split("<tr>")[1:]
    assert "Lager" in rows[0] and "On hand -2, now 8 cases" in rows[0] and "Sold" in rows[0] and owner.name in rows[0]
    assert "Damaged +1" in rows[1] and "wet (till 3)" in rows[1]
    assert 'data-refresh-seconds="1.5"' in desk.page.text


def test_an_item_is_added_and_changed(stock: DeskStock, desk: Visitor) -> None:
    desk.open(f"{stock.desk_path}/items/new")
    page = desk.send(form=1, name="", sku="BEE-1", costPrice="x", expiryDate="soon", imageUrl="http://a.example")
    assert page.status_code == 422
    for text in ("Fill in this field.", "Enter an amount like 1500 or 1500.50.", "begins with https://"):
        assert text in page.text
    assert desk.elements["sku"]["value"] == "BEE-1" and desk.elements["costPrice"]["value"] == "x"
    page = desk.send(
        form=1, name="Lager", costPrice="285.14", expiryDate="2027-03-01", imageUrl="", onHand="1", damaged="2"
    )
    assert page.status_code == 409 and "not below what is reserved and damaged" in page.text
    page = desk.send(form=1, name="Lager", onHand="12.5", damaged="2", reorderLevel="4", category="Beer")
    assert "The item is added." in page.text and "1 March 2027" in page.text and "285.14" in page.text
    desk.open(f"{stock.desk_path}/items/new")
    page = desk.send(form=1, name="Other", sku="bee-1")
    assert page.status_code == 409 and "Another item has this number," in page.text
    (item,) = stock.items()
    assert (item["onHand"], item["damaged"], item["category"]) == (12.5, 2, "Beer")
    path = f"{stock.desk_path}/items/{item['id']}"
    desk.open(f"{path}/change")
    assert "onHand" not in desk.elements and desk.elements["costPrice"]["value"] == "285.14"
    page = desk.send(form=1, name="Lager 330 ml", category="", costPrice="290").text
    assert "The item is saved." in page and "<dt>Cost price in N$</dt><dd>290.00</dd>" in page
    changed = stock.read(item)
    assert (changed["name"], changed["category"], changed["costPrice"]) == ("Lager 330 ml", None, 290)
    desk.open(f"{path}/change")
    data(stock.adjust(item, -1))
    page = desk.send(form=1, name="Mine")
    assert page.status_code == 412 and "Open the page again" in page.text and stock.read(item)["name"] == "Lager 330 ml"
    assert desk.open(f"{path}/burn").status_code == desk.open(f"{stock.desk_path}/items/x").status_code == 404


def test_an_item_without_a_number_has_its_name_as_its_number(stock: DeskStock, desk: Visitor) -> None:
    desk.open(f"{stock.desk_path}/items/new")
    name = "Ice bag, 2 kg, " + "x" * 100
    page = desk.send(form=1, name=name, sku="")
    assert "The item is added." in page.text and "Item number Ice" not in page.text
    (item,) = stock.items()
    assert (item["name"], item["sku"]) == (name, name[:80])
    desk.open(f"{stock.desk_path}/items/new")
    page = desk.send(form=1, name=name.upper())
    assert page.status_code == 409 and "Without a number, the name is the number." in page.text
    desk.open(f"{stock.desk_path}/items/{item['id']}/change")
    assert "The item is saved." in desk.send(form=1, name="Ice", sku="").text
    assert stock.read(item)["sku"] == "Ice"
    desk.open(f"{stock.desk_path}/items/new")
    assert desk.send(form=1, name="", sku="").status_code == 422


@pytest.mark.parametrize(
    ("name", "sku", "text"),
    [
        ("Ice bag", "Ice bag", "Ice bag"),
        ("Ice bag", "ICE-BAG", "Ice bag"),
        ("Ice bag", "ICE-1", "Ice bag (ICE-1)"),
        ("???", "!!!", "??? (!!!)"),
        ("x" * 140, "x" * 80, "x" * 140),
    ],
)
def test_a_number_that_says_what_the_name_says_is_left_out(name: str, sku: str, text: str) -> None:
    assert format_item(name, sku) == text


def test_an_item_is_archived_and_restored(stock: DeskStock, desk: Visitor) -> None:
    item = stock.item(name="Lager", onHand=10)
    path = f"{stock.desk_path}/items/{item['id']}"
    desk.open(f"{path}/archive")
    data(stock.adjust(item, -1))
    page = desk.send(form=1)
    assert page.status_code == 412 and stock.read(item)["archivedAt"] is None
    desk.open(f"{path}/archive")
    page = desk.send(form=1).text
    assert "The item is archived." in page and "This item was archived on" in page and "Change</a>" not in page
    desk.open(f"{path}/change")
    page = desk.send(form=1, name="Other")
    assert page.status_code == 409 and "This item is archived. Restore it first." in page.text
    desk.open(f"{path}/restore")
    assert "The item is restored." in desk.send(form=1).text
    assert stock.read(item)["archivedAt"] is None and stock.read(item)["onHand"] == 9


def test_movements_show_before_and_after(stock: DeskStock, desk: Visitor) -> None:
    item = stock.item(name="Lager", onHand=10)
    data(stock.adjust(item, 3, bucket="damaged", reason="damage"))
    data(stock.adjust(item, -2, reason="sold", note="bar", reference="till 3"))
    data(stock.adjust(item, counted=7))
    path = f"{stock.desk_path}/items/{item['id']}"
    rows = desk.open(path).text.split("<tbody>")[1].split("<tr>")[1:]
    cells = [[cell.split(">", 1)[1].split("</td")[0] for cell in row.split("<td")[1:]] for row in rows]
    assert [row[1:5] for row in cells] == [
        ["On hand", "8", "−1", "7"],
        ["On hand", "10", "−2", "8"],
        ["Damaged", "0", "3", "3"],
        ["On hand", "0", "10", "10"],
    ]
    assert cells[1][6:8] == ["bar", "till 3"] and "4 movements" in desk.page.text
    file = desk.open(f"{path}?format=csv").text
    assert '"Damaged","0","3","3"' in file
    moment = datetime.strptime(file.splitlines()[1].split('"')[1], "%Y-%m-%d %H:%M")
    in_windhoek = datetime.now(ZoneInfo("Africa/Windhoek")).replace(tzinfo=None)
    assert timedelta() <= in_windhoek - moment < timedelta(minutes=10), "the time of the event"
    _, statements = count_statements(lambda: desk.flask.get(path))
    assert len(statements) == 9, statements


@pytest.mark.parametrize(
    "typed, price", [("1.500", 1500), ("1,500.50", 1500.5), ("12,5", 12.5), ("285.1420", 285.142), ("0.28", 0.28)]
)
def test_a_price_is_read_like_other_money(stock: DeskStock, desk: Visitor, typed: str, price: float) -> None:
    desk.open(f"{stock.desk_path}/items/new")
    page = desk.send(form=1, name="Lager", sku="LAG-1", costPrice=typed, taxRate="7,5", onHand="12,5", parLevel="0,125")
    assert "The item is added." in page.text
    (item,) = stock.items()
    assert (item["costPrice"], item["taxRate"], item["onHand"], item["parLevel"]) == (price, 7.5, 12.5, 0.125)
    desk.open(f"{page.request.path}/change")
    assert "The item is saved." in desk.send(form=1, name="Beer").text
    (item,) = stock.items()
    assert (item["name"], item["costPrice"]) == ("Beer", price)


def test_a_number_that_may_be_two_is_refused(stock: DeskStock, desk: Visitor) -> None:
    desk.open(f"{stock.desk_path}/items/new")
    page = desk.send(form=1, name="Lager", sku="LAG-1", costPrice="0.285", onHand="1,500")
    assert page.status_code == 422 and "Enter an amount like 1500" in page.text and "Is it 1500 or 1.5?" in page.text
    item = stock.item(name="Lager", onHand=10)
    for typed, text in (
        ("1.200", "Is it 1200 or 1.2? Write it like one of these."),
        ("1,190", "Is it 1190 or 1.19? Write it like one of these."),
        ("1,200,000", "Enter a number like 12 or 12.5."),
        ("1 20", "Enter a number like 12 or 12.5."),
        ("1\u00a0200\u00a00", "Enter a number like 12 or 12.5."),
    ):
        desk.open(stock.desk_path)
        page = save(desk, item, quantity=typed)
        assert page.status_code == 422 and text in page.text, typed
    assert stock.read(item) == item


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("7,5", 7.5),
        ("0.125", 0.125),
        ("1.2000", 1.2),
        ("1 200", 1200),
        ("1\u202f190", 1190),
        ("1\u00a0234\u00a0567,5", 1234567.5),
        ("1 200.125", 1200.125),
    ],
)
def test_a_number_is_read_as_pages_write_it(stock: DeskStock, desk: Visitor, typed: str, number: float) -> None:
    item = stock.item(name="Lager", onHand=10)
    desk.open(stock.desk_path)
    assert "The number is saved." in save(desk, item, quantity=typed).text
    assert stock.read(item)["onHand"] == number


def test_a_number_with_three_decimals_stays_when_an_item_is_saved(stock: DeskStock, desk: Visitor) -> None:
    item = stock.item(name="Lager", parLevel=1.234, taxRate=7.125)
    desk.open(f"{stock.desk_path}/items/{item['id']}/change")
    assert "The item is saved." in desk.send(form=1, name="Beer").text
    saved = stock.read(item)
    assert (saved["name"], saved["parLevel"], saved["taxRate"]) == ("Beer", 1.234, 7.125)


def test_rare_fields_are_folded_away_until_one_is_used(organiser: Client, desk: Visitor) -> None:
    stock = DeskStock(organiser)
    path = f"{stock.desk_path}/items/new"
    assert '<details class="field"><summary>More fields' in desk.open(path).text
    page = desk.send(form=1, name="Lager", sku="BEE-1", taxRate="much").text
    assert '<details class="field" open>' in page and 'href="#taxRate"' in page
    page = desk.send(form=1, name="Lager", sku="BEE-1", taxRate="15").text
    assert "The item is added." in page
    plain = stock.item(name="Cups", reserved=0, damaged=0, minOrderQty=0)
    for item_id, word in ((desk.page.request.path.split("/")[-1], " open"), (plain["id"], "")):
        page = desk.open(f"{stock.desk_path}/items/{item_id}/change").text
        assert f'<details class="field"{word}><summary>More fields' in page
