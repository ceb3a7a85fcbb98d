"""The desk in German in a browser: every section has room for its longer words, from 320 px on."""

from flask import Flask
from playwright.sync_api import Browser, expect

from tests.factories.accounts import create_signed_in_client
from tests.factories.events import create_published_event
from tests.http import Client
from tests.pages.browser import open_view
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner

LINKS = "(links) => links.map((link) => link.getAttribute('href'))"
ENGLISH = "/account"


def test_every_section_is_readable_in_german(app: Flask, client: Client, address: str, chromium: Browser) -> None:
    owner = create_owner("Namib Events")
    event = create_published_event(create_signed_in_client(client, owner), name="Desert Days")
    with open_view(chromium, "desk-german") as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events/{event['id']}?lang=de")
        paths = page.locator("nav.sections a").evaluate_all(LINKS)
        assert len(paths) > 15
        for path in paths:
            if path != ENGLISH:
                page.goto(f"{address}{path}")
                expect(page.locator("html")).to_have_attribute("lang", "de")
                view.check(path.replace(event["id"], "event").strip("/").replace("/", "-"))
