"""The desk by keyboard alone: past the menus, through a form with an error, and in a table."""

from flask import Flask
from playwright.sync_api import Browser, expect

from tests.pages.browser import PageView, open_view
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner

MOST_TABS = 60


def tab_to(view: PageView, element: str) -> None:
    """Press the tab key until the element with this id or text has the focus."""
    for _ in range(MOST_TABS):
        view.page.keyboard.press("Tab")
        if view.focused_element == element:
            return
    raise AssertionError(f"the tab key does not reach {element}")


def test_an_event_is_made_by_keyboard_alone(app: Flask, address: str, chromium: Browser) -> None:
    owner = create_owner("Namib Events")
    with open_view(chromium, "desk-keyboard") as view:
        page, keyboard = view.page, view.page.keyboard
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events")
        tab_to(view, "Skip to the content")
        keyboard.press("Enter")
        keyboard.press("Tab")
        assert view.focused_element == "New event"
        keyboard.press("Enter")
        page.wait_for_url("**/desk/events/new")
        tab_to(view, "Create the event")
        keyboard.press("Enter")
        expect(page.locator("#summary")).to_be_focused()
        tab_to(view, "Enter the name of the event.")
        keyboard.press("Enter")
        assert view.focused_element == "name"
        keyboard.type("River Nights")
        for field, year in (("startsAt", "06042027"), ("endsAt", "06062027")):
            tab_to(view, field)
            keyboard.type(year)
            keyboard.press("Tab")
            keyboard.type("0600PM")
        for field, text in (("venue", "River grounds"), ("city", "Windhoek")):
            tab_to(view, field)
            keyboard.type(text)
        tab_to(view, "Create the event")
        keyboard.press("Enter")
        expect(page.get_by_text("The event is created.")).to_be_visible()
        page.goto(f"{address}/desk/events")
        tab_to(view, "Event")
        keyboard.press("Enter")
        page.wait_for_url("**sort=**")
        assert view.errors == []
