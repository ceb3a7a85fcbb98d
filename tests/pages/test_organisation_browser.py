"""The details of an organisation in a browser: narrow and wide, light and dark, with a screenshot of each page."""

from flask import Flask
from playwright.sync_api import Browser

from tests.factories.accounts import PASSWORD
from tests.pages.browser import open_view
from tests.pages.test_organisation_page import create_owner
from tests.pages.test_team_browser import sign_in


def test_an_owner_enters_the_details(app: Flask, address: str, chromium: Browser) -> None:
    owner = create_owner()
    with open_view(chromium, "organisation") as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.get_by_role("link", name="Settings").click()
        view.check("organisation-empty")
        page.get_by_role("link", name="Add bank details").click()
        page.get_by_role("button", name="Save").click()
        view.check("organisation-bank-wrong")
        for label, value in {
            "Name of the account": "Lights CC",
            "Account number": "62001234567",
            "Bank": "FNB",
        }.items():
            page.get_by_label(label, exact=True).fill(value)
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_role("button", name="Save").click()
        view.check("organisation-bank-saved")
