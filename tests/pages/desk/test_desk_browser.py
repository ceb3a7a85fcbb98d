"""The desk in a browser: every page at 320 px, light and dark, with scripts and without, and a festival set up by hand."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from tests.factories.accounts import create_signed_in_client
from tests.factories.events import create_published_event
from tests.http import Client
from tests.pages.browser import open_view
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner

SERIES = "desk"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_gallery_shows_every_part(address: str, chromium: Browser, scripts: bool) -> None:
    with open_view(chromium, SERIES, scripts=scripts) as view:
        view.page.goto(f"{address}/dev/desk")
        view.check("gallery")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_sets_up_a_festival(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    create_published_event(create_signed_in_client(client, owner), name="Desert Days")
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        expect(page).to_have_url(f"{address}/desk")
        view.check("home")
        page.get_by_role("navigation", name="Desk").get_by_role("link", name="Events").click()
        view.check("events")
        page.get_by_role("link", name="New event").click()
        page.get_by_role("button", name="Create the event").click()
        view.check("new-event-wrong")
        page.get_by_label("Name", exact=True).fill("River Nights")
        page.get_by_label("Starts").fill("2027-06-04T18:00")
        page.get_by_label("Ends").fill("2027-06-06T23:00")
        page.get_by_label("Venue").fill("River grounds")
        page.get_by_label("City", exact=True).fill("Windhoek")
        page.get_by_role("button", name="Create the event").click()
        view.check("event-draft")
        page.get_by_role("link", name="A ticket type, or a capacity").click()
        view.check("ticket-types-empty")
        page.get_by_role("link", name="Add a ticket type").click()
        page.get_by_label("Name", exact=True).fill("Weekend")
        page.get_by_label("Price in N$").fill("450")
        page.get_by_label("How many there are").fill("2000")
        page.get_by_role("button", name="Save").click()
        view.check("ticket-types")
        page.get_by_role("link", name="Overview").click()
        page.get_by_role("link", name="Publish").click()
        view.check("publish")
        page.get_by_role("button", name="Publish").click()
        expect(page.get_by_text("The event is published.")).to_be_visible()
        view.check("event-published")
        page.get_by_role("link", name="Promo codes").click()
        page.get_by_label("Code", exact=True).nth(1).fill("EARLY")
        page.get_by_role("button", name="Add rows").click()
        expect(page.get_by_role("group", name="Code 6")).to_be_visible()
        expect(page.get_by_label("Code", exact=True).nth(1)).to_have_value("EARLY")
        page.get_by_label("Code", exact=True).nth(1).press("Enter")
        expect(page.get_by_role("link", name="Code 2: Enter a discount like 10 % or N$ 50.")).to_be_visible()
        view.check("promo-codes-wrong")
