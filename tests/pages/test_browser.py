"""The pages in a real browser: narrow and wide, light and dark, with scripts and without."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from tests.factories.accounts import create_customer, find_newest_code
from tests.pages.browser import Seen, seen

SERIES = "reset-password"
PASSWORD = "the rain came late to Gobabis"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_a_new_password(app: Flask, address: str, chromium: Browser, scripts: bool) -> None:
    email = create_customer().email
    with seen(chromium, SERIES, scripts=scripts) as eyes:
        eyes.page.goto(f"{address}/reset-password")
        eyes.look("address")
        _ask(eyes, address, "nobody at example")
        eyes.look("address-wrong")
        _ask(eyes, address, email)
        eyes.look("code")
        _choose(eyes, "12 34", "short")
        eyes.look("code-wrong")
        code = find_newest_code(email)
        _choose(eyes, f" {code[:3]} {code[3:]} ")
        eyes.look("done")
        assert eyes.page.url == f"{address}/reset-password/done"


def test_what_does_not_go_well(app: Flask, address: str, chromium: Browser) -> None:
    with seen(chromium, SERIES) as eyes:
        page = eyes.page
        for _ in range(2):
            _ask(eyes, address, "nobody@example.com")
        eyes.look("throttled")
        page.get_by_role("link", name="I already have a code").click()
        for _ in range(5):
            _choose(eyes, "000000")
        eyes.look("spent")
        page.context.clear_cookies()
        page.get_by_role("button", name="Send me a new code").click()
        eyes.look("expired")
        page.get_by_role("link", name="Open the page again").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Choose a new password"


def test_a_keyboard_finds_its_way(app: Flask, address: str, chromium: Browser) -> None:
    with seen(chromium, SERIES) as eyes:
        _ask(eyes, address, "nobody@example.com")
        eyes.page.get_by_label("Code from the e-mail").press("Enter")
        expect(eyes.page.locator("#summary")).to_be_focused()
        order = []
        for _ in range(7):
            eyes.page.keyboard.press("Tab")
            order.append(eyes.focused)
        links = ["Enter the code from the e-mail.", "Choose a new password."]
        assert order == [*links, "code", "password", "Show", "Set the new password", "another address"]


def test_a_summary_leads_to_its_field(app: Flask, address: str, chromium: Browser) -> None:
    with seen(chromium, SERIES) as eyes:
        eyes.page.goto(f"{address}/reset-password")
        eyes.page.get_by_role("button", name="Send me a code").click()
        eyes.page.get_by_role("link", name="Enter your e-mail address.").click()
        assert eyes.focused == "email"


def test_a_password_can_be_shown_and_is_hidden_before_it_is_sent(app: Flask, address: str, chromium: Browser) -> None:
    with seen(chromium, SERIES) as eyes:
        _ask(eyes, address, "nobody@example.com")
        password = eyes.page.get_by_label("New password", exact=True)
        password.fill(PASSWORD)
        eyes.page.get_by_role("button", name="Show password").click()
        assert password.get_attribute("type") == "text"
        eyes.look("shown")
        eyes.page.get_by_role("button", name="Set the new password").click()
        assert (password.get_attribute("type"), password.input_value()) == ("password", "")


def _ask(eyes: Seen, address: str, email: str) -> None:
    eyes.page.goto(f"{address}/reset-password")
    eyes.page.get_by_label("Your e-mail address").fill(email)
    eyes.page.get_by_role("button", name="Send me a code").click()


def _choose(eyes: Seen, code: str, password: str = PASSWORD) -> None:
    eyes.page.get_by_label("Code from the e-mail").fill(code)
    eyes.page.get_by_label("New password", exact=True).fill(password)
    eyes.page.get_by_role("button", name="Set the new password").click()
