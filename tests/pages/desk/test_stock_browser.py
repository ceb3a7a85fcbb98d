"""The stock of an event in a browser: every page at 320 px, light and dark, with scripts and without, and live changes."""

from time import perf_counter
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Locator, Page, expect

from app.core.outbox.executor import run_due_jobs
from tests.factories.accounts import create_signed_in_client
from tests.factories.inventory import build_csv
from tests.http import Client, data
from tests.pages.browser import open_view
from tests.pages.desk.test_stock import DeskStock
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner
from tests.timing import assert_in_time

TWO_SECONDS = 2
SHEET = build_csv("BEE-1,Lager,120,24,4,48,0,0", "CUP-1,Cups,10,1,4,many,0,0")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_a_member_counts_changes_and_archives(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    stock = DeskStock(create_signed_in_client(client, owner))
    lager = stock.item(
        name="Windhoek Lager 330 ml", category="Beer", storageLocation="Cold room", onHand=48, unit="case"
    )
    url = f"{address}{stock.desk_path}"
    with open_view(chromium, "desk-stock", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(url)
        view.check("table")
        page.get_by_label("New number of Windhoek Lager 330 ml").fill("many")
        page.get_by_label("New number of Windhoek Lager 330 ml").press("Enter")
        view.check("table-wrong")
        page.get_by_label("New number of Windhoek Lager 330 ml").fill("44.5")
        page.get_by_role("radio", name="Sold or used").check()
        page.get_by_role("button", name="Save the numbers").click()
        expect(page.get_by_text("The number is saved.")).to_be_visible()
        assert page.url.endswith(f"#item-{lager['id']}") and stock.read(lager)["onHand"] == 44.5
        page.get_by_text("Another number or reason: Windhoek Lager").click()
        view.check("table-open")
        page.get_by_role("link", name="Windhoek Lager 330 ml", exact=True).click()
        view.check("item")
        page.get_by_role("link", name="Change", exact=True).click()
        page.get_by_label("Cost price in N$").fill("x")
        page.get_by_role("button", name="Save").click()
        view.check("item-wrong")
        page.goto(f"{url}/items/new")
        view.check("new")
        page.goto(f"{url}/items/{lager['id']}/archive")
        view.check("archive")
        page.get_by_role("button", name="Archive").click()
        view.check("item-archived")
        page.goto(f"{url}?archived=true")
        view.check("archived")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_a_member_orders_and_is_reminded(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    stock = DeskStock(create_signed_in_client(client, owner))
    stock.item(
        name="Compostable cups 0.4 l", supplier="Print House", onHand=2, reorderLevel=60, parLevel=200, costPrice=38
    )
    url = f"{address}{stock.desk_path}"
    with open_view(chromium, "desk-stock", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{url}/order")
        view.check("order")
        page.get_by_role("button", name="Make the order").click()
        expect(page.get_by_text("Items ordered: 1.")).to_be_visible()
        view.check("ordered")
        page.locator("#orders tbody a").click()
        view.check("delivery")
        page.get_by_role("link", name="Cancel the order").click()
        view.check("delivery-cancel")
        page.go_back()
        page.get_by_label("Arrived now of Compostable cups 0.4 l").fill("many")
        page.get_by_role("button", name="Record the delivery").click()
        view.check("delivery-wrong")
        page.get_by_label("Arrived now of Compostable cups 0.4 l").fill("190")
        page.get_by_role("button", name="Record the delivery").click()
        expect(page.get_by_text("The delivery is recorded, and the order is closed.")).to_be_visible()
        view.check("delivered")
        page.goto(f"{url}/counts")
        view.check("counts")
        page.goto(f"{url}/reminder")
        view.check("reminder")
        page.goto(f"{url}/live")
        view.check("live")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_a_member_imports_a_list(app: Flask, client: Client, address: str, chromium: Browser, scripts: bool) -> None:
    owner = create_owner("Namib Events")
    stock = DeskStock(create_signed_in_client(client, owner))
    url = f"{address}{stock.desk_path}"
    with open_view(chromium, "desk-stock", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{url}/import")
        view.check("import")
        page.get_by_label("List").set_input_files(
            {"name": "list.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
        )
        page.get_by_role("button", name="Check the file").click()
        expect(page.get_by_role("heading", name="Check of the list")).to_be_visible()
        view.check("checking")
        run_due_jobs(worker="test")
        if not scripts:
            page.reload()
        expect(page.get_by_text("Download all errors")).to_be_visible()
        view.check("checked")
        page.get_by_role("button", name="Import the correct rows").click()
        run_due_jobs(worker="test")
        if not scripts:
            page.reload()
        expect(page.get_by_text("Done.", exact=True)).to_be_visible()
        view.check("imported")


def wait_for_change(page: Page, stock: DeskStock, item: dict[str, Any], number: int, text: str) -> float:
    """How many seconds after a count by somebody else the page shows it."""
    data(stock.adjust(item, counted=number + 0.5))
    changed_at = perf_counter()
    expect(page.get_by_text(text.format(number)).first).to_be_visible(timeout=60_000)
    return perf_counter() - changed_at


def test_changes_of_others_appear_within_two_seconds(
    app: Flask, client: Client, address: str, chromium: Browser
) -> None:
    owner = create_owner("Namib Events")
    stock = DeskStock(create_signed_in_client(client, owner))
    item = stock.item(name="Lager", onHand=48)
    with open_view(chromium, "desk-stock") as view:
        page = view.page
        sign_in(page, address, owner.email)
        for path, text in (("", "{}.5"), ("/live", "now {}.5")):
            page.goto(f"{address}{stock.desk_path}{path}")
            times = [wait_for_change(page, stock, item, number, text) for number in (31, 41, 51)]
            assert_in_time(min(times) < TWO_SECONDS, times)
        page.goto(f"{address}{stock.desk_path}")
        page.get_by_label("New number of Lager").fill("9")
        page.get_by_role("heading", name="Stock", exact=True).click()
        data(stock.adjust(item, counted=7))
        page.wait_for_timeout(2_000 * TWO_SECONDS)
        assert page.get_by_label("New number of Lager").input_value() == "9"
        page.get_by_label("New number of Lager").press("Enter")
        expect(page.get_by_text("Somebody else has changed this item.").first).to_be_visible()
        page.get_by_label("New number of Lager").press("Enter")
        expect(page.get_by_text("The number is saved.")).to_be_visible()
        assert stock.read(item)["onHand"] == 9


def test_a_row_is_a_short_card_on_a_phone_and_a_row_of_the_table_else(
    app: Flask, client: Client, address: str, chromium: Browser
) -> None:
    owner = create_owner("Namib Events")
    stock = DeskStock(create_signed_in_client(client, owner))
    stock.item(name="Windhoek Lager 330 ml", sku="BEE-1", onHand=48)
    with open_view(chromium, "desk-stock") as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}{stock.desk_path}")
        tops = (
            "(cells) => Object.fromEntries(cells.map((cell) => [cell.dataset.label, cell.getBoundingClientRect().top]))"
        )
        cells = page.locator("td[data-label]:visible")
        assert len(set(cells.evaluate_all(tops).values())) == 1 and cells.count() == 9
        page.set_viewport_size({"width": 320, "height": 720})
        places = cells.evaluate_all(tops)
        assert not {"Place", "Unit", "State"} & places.keys(), "fields without a value"
        assert places["On hand"] == places["Reserved"] > places["Item number"] > places["Item"], (
            "two short fields on one line"
        )
        assert len(set(places.values())) == 4


def test_the_question_about_what_is_less_is_above_the_rows_and_no_row_is_under_the_button(
    app: Flask, client: Client, address: str, chromium: Browser
) -> None:
    owner = create_owner("Namib Events")
    stock = DeskStock(create_signed_in_client(client, owner))
    for number in range(12):
        stock.item(name=f"Beer {number}", onHand=48)
    with open_view(chromium, "desk-stock") as view:
        page = view.page
        page.set_viewport_size({"width": 1280, "height": 900})
        sign_in(page, address, owner.email)
        page.goto(f"{address}{stock.desk_path}")
        first, save = page.get_by_label("New number of Beer 0"), page.get_by_role("button", name="Save the numbers")
        assert _edges(page.get_by_role("radio", name="Lost"))["bottom"] < _edges(first)["top"]
        for number in range(12):
            page.get_by_label(f"New number of Beer {number}", exact=True).focus()
            field = page.get_by_label(f"New number of Beer {number}", exact=True)
            assert _edges(field)["bottom"] < _edges(save)["top"]


def _edges(locator: Locator) -> dict[str, float]:
    edges: dict[str, float] = locator.evaluate("(element) => element.getBoundingClientRect().toJSON()")
    return edges
