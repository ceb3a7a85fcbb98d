"""Search, audit trail, cover picture, line-up and promo codes in a browser: 320 px, light and dark, without scripts too."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from tests.core.test_images import picture
from tests.factories.accounts import create_signed_in_client
from tests.http import Client
from tests.pages.browser import open_view
from tests.pages.desk.test_search import fill_event
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_finds_and_edits(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    event = fill_event(client, create_signed_in_client(client, owner))
    with open_view(chromium, "desk-search", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.get_by_label("Search everything").fill("inv")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_role("heading", name="Invoices")).to_be_visible()
        view.check("found")
        page.get_by_label("Search").fill("nothing like this")
        page.get_by_label("Search").press("Enter")
        view.check("nothing-found")
        page.get_by_role("link", name="Audit trail").click()
        view.check("audit")
        page.get_by_label("About").select_option("events")
        page.get_by_role("button", name="Show").click()
        expect(page.get_by_role("cell", name="Event created").first).to_be_visible()
        page.goto(f"{address}/desk/events/{event['id']}")
        page.get_by_role("link", name="Cover picture").click()
        page.get_by_label("Picture", exact=True).set_input_files(
            {"name": "cover.png", "mimeType": "image/png", "buffer": picture("PNG")}
        )
        page.get_by_label("Which part do people see?").select_option("top")
        view.check("cover")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("The picture is saved.")).to_be_visible()
        page.get_by_role("link", name="Line-up").click()
        page.get_by_label("Stage").first.fill("River stage")
        page.get_by_role("button", name="Save").click()
        view.check("line-up-wrong")
        page.get_by_label("Name", exact=True).first.fill("Elemotho")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("link", name="Sponsors").click()
        view.check("sponsors")
        page.go_back()
        page.get_by_role("link", name="Promo codes").click()
        view.check("promo-codes")
        page.goto(f"{address}/desk/events/{event['id']}/edit")
        view.check("facts")
