"""Signing up, in and out, and the account, in a real browser; pictures are kept of every state."""

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, create_customer, create_signed_in_client, find_newest_code
from tests.http import Client
from tests.pages.browser import open_view

SERIES = "account"
EMAIL = "ndapewa@example.com"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_signs_up_in_a_browser_alone(
    client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        page.goto(address)
        view.check("start")
        page.get_by_role("link", name="Sign up").click()
        view.check("sign-up")
        page.get_by_role("link", name="Sign up as an organiser").click()
        page.get_by_role("button", name="Sign up").click()
        view.check("sign-up-wrong")
        page.get_by_label("Your name").fill("Ndapewa Iita")
        page.get_by_label("Name of your organisation").fill("Etosha Nights")
        page.get_by_label("Your e-mail address").fill(EMAIL)
        page.get_by_label("Choose a password").fill(PASSWORD)
        page.get_by_role("button", name="Sign up").click()
        view.check("verify")
        page.get_by_label("Code from the e-mail").fill(find_newest_code(EMAIL))
        page.get_by_role("button", name="Confirm the address").click()
        expect(page).to_have_url(f"{address}/desk")
        page.get_by_role("button", name="Sign out").click()
        view.check("sign-in-after-sign-out")
        page.get_by_label("E-mail address").fill(EMAIL)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Remember this device").check()
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(f"{address}/desk")
        page.get_by_role("link", name="Account", exact=True).click()
        view.check("account")
        page.get_by_role("button", name="Sign out").click()
        view.check("signed-out")


def test_a_sign_in_that_fails_by_keyboard_alone(address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        page = view.page
        page.goto(f"{address}/account/sessions")
        view.check("sign-in-next")
        page.get_by_label("E-mail address").focus()
        page.keyboard.type("nobody@example.com")
        page.keyboard.press("Tab")
        page.keyboard.type("not my password")
        page.keyboard.press("Enter")
        expect(page.locator("#summary")).to_be_focused()
        view.check("sign-in-wrong")


def test_the_pages_of_the_account(client: Client, address: str, chromium: Browser) -> None:
    owner = create_customer(name="Frieda Amupolo-Nghidinwa Haufiku", verified=False)
    create_signed_in_client(client, owner)
    with transaction() as session:
        statement = text("INSERT INTO external_identity (provider, subject, account_id) VALUES ('apple', 's', :id)")
        session.execute(statement, {"id": owner.id})
    with open_view(chromium, SERIES) as view:
        page = view.page
        page.goto(f"{address}/sign-in")
        page.get_by_label("E-mail address").fill(owner.email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        view.check("account-unverified")
        page.get_by_role("link", name="Devices and sessions").click()
        view.check("sessions")
        page.get_by_role("link", name="Sign out everywhere else").click()
        view.check("sessions-others")
        page.get_by_role("button", name="Sign out everywhere else").click()
        view.check("sessions-alone")
        page.goto(f"{address}/account/identities")
        view.check("identities")
        with transaction() as session:
            session.execute(text("UPDATE account SET password_hash = NULL"))
        page.get_by_role("link", name="Remove").click()
        view.check("identity-unlink")
        page.get_by_role("button", name="Remove Apple").click()
        view.check("identity-last")
        page.goto(f"{address}/sign-out")
        view.check("sign-out")
        page.goto(address)
        view.check("start-signed-in")
