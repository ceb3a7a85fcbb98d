"""The pages in a real browser: narrow and wide, light and dark, with scripts and without."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from tests.factories.accounts import create_customer, find_newest_code
from tests.pages.browser import PageView, open_view

SERIES = "reset-password"
PASSWORD = "the rain came late to Gobabis"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_a_new_password(app: Flask, address: str, chromium: Browser, scripts: bool) -> None:
    email = create_customer().email
    with open_view(chromium, SERIES, scripts=scripts) as view:
        view.page.goto(f"{address}/reset-password")
        view.check("address")
        _ask(view, address, "nobody at example")
        view.check("address-wrong")
        _ask(view, address, email)
        view.check("code")
        _choose(view, "12 34", "short")
        view.check("code-wrong")
        code = find_newest_code(email)
        _choose(view, f" {code[:3]} {code[3:]} ")
        view.check("done")
        assert view.page.url == f"{address}/reset-password/done"


def test_what_does_not_go_well(app: Flask, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        page = view.page
        for _ in range(2):
            _ask(view, address, "nobody@example.com")
        view.check("throttled")
        page.get_by_role("link", name="I already have a code").click()
        for _ in range(5):
            _choose(view, "000000")
        view.check("spent")
        page.context.clear_cookies()
        page.get_by_role("button", name="Send me a new code").click()
        view.check("expired")
        page.get_by_role("link", name="Open the page again").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Choose a new password"


def test_a_keyboard_finds_its_way(app: Flask, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        _ask(view, address, "nobody@example.com")
        view.page.get_by_label("Code from the e-mail").press("Enter")
        expect(view.page.locator("#summary")).to_be_focused()
        order = []
        for _ in range(7):
            view.page.keyboard.press("Tab")
            order.append(view.focused_element)
        links = ["Enter the code from the e-mail.", "Choose a new password."]
        assert order == [*links, "code", "password", "Show", "Set the new password", "another address"]


def test_a_summary_leads_to_its_field(app: Flask, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/reset-password")
        view.page.get_by_role("button", name="Send me a code").click()
        view.page.get_by_role("link", name="Enter your e-mail address.").click()
        assert view.focused_element == "email"


def test_a_password_can_be_shown_and_is_hidden_before_it_is_sent(app: Flask, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        _ask(view, address, "nobody@example.com")
        password = view.page.get_by_label("New password", exact=True)
        password.fill(PASSWORD)
        view.page.get_by_role("button", name="Show password").click()
        assert password.get_attribute("type") == "text"
        view.check("shown")
        view.page.get_by_role("button", name="Set the new password").click()
        assert (password.get_attribute("type"), password.input_value()) == ("password", "")


def _ask(view: PageView, address: str, email: str) -> None:
    view.page.goto(f"{address}/reset-password")
    view.page.get_by_label("Your e-mail address").fill(email)
    view.page.get_by_role("button", name="Send me a code").click()


def _choose(view: PageView, code: str, password: str = PASSWORD) -> None:
    view.page.get_by_label("Code from the e-mail").fill(code)
    view.page.get_by_label("New password", exact=True).fill(password)
    view.page.get_by_role("button", name="Set the new password").click()


def test_another_language_asks_before_it_loses_what_was_typed(address: str, chromium: Browser) -> None:
    with open_view(chromium, "languages-typed") as view:
        page, asked = view.page, []
        page.goto(f"{address}/reset-password")
        page.on(
            "dialog",
            lambda dialog: (asked.append(dialog.message), dialog.dismiss() if len(asked) == 1 else dialog.accept()),
        )
        page.get_by_label("E-mail").fill("frieda@example.com")
        page.get_by_role("link", name="Deutsch").click()
        expect(page.get_by_label("E-mail")).to_have_value("frieda@example.com")
        page.get_by_role("link", name="Deutsch").click()
        expect(page.locator("html")).to_have_attribute("lang", "de")
        page.get_by_role("link", name="English").click()
        expect(page.locator("html")).to_have_attribute("lang", "en")
        assert len(asked) == 2 and "will be lost" in asked[0], "an empty form asks nothing"
