"""The API documentation in a browser."""

from flask import Flask
from playwright.sync_api import Browser

from tests.pages.browser import open_view

SERIES = "docs"


def test_the_start_page_and_the_errors(app: Flask, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/docs")
        view.check("start")
        view.page.get_by_role("link", name="Errors").click()
        view.check("errors")


def test_the_operations_of_a_subject(app: Flask, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/docs/operations/merchants")
        view.page.get_by_text("Parameters, bodies and errors").first.click()
        view.check("operations")
