"""The development mailbox in a browser: what left by mail, SMS and push."""

from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Browser

from app.clients import dev_mailbox
from app.clients.message import Attachment
from tests.pages.browser import open_view

SERIES = "mailbox"


@pytest.fixture(autouse=True)
def sent(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], DATA_DIR=tmp_path))
    dev_mailbox.store_message("mail", "frieda@guest.example", "Gates open earlier", "At 16:00", "<p>At 16:00</p>")
    dev_mailbox.store_message(
        "sms", "+264811234567", None, "Gates open earlier. At 16:00", headers={"From": "Windhoek Lights"}
    )
    dev_mailbox.store_message(
        "push", "fcm:" + "dGhpcyBpcyBubyB0b2tlbg" * 6, "Gates open", "At 16:00", headers={"Platform": "ios"}
    )


def test_how_it_looks(address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/dev/mail")
        view.check("all")
        view.page.get_by_role("link", name="Push", exact=True).click()
        view.check("push")
        view.page.get_by_role("link", name="Gates open").click()
        view.check("message")
        view.page.goto(f"{address}/dev/mail?channel=sms&to=nobody")
        view.check("none")


def test_new_messages_appear_without_a_reload(address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/dev/mail")
        dev_mailbox.store_message("sms", "+264811234567", None, "The gates are open")
        view.page.get_by_role("link", name="The gates are open").wait_for()


def test_attachments_open_from_the_page_of_a_message(address: str, chromium: Browser) -> None:
    invoice = Attachment("invoice é.pdf", b"%PDF-1.7 invoice", "application/pdf")
    dev_mailbox.store_message("mail", "tuli@guest.example", "Your invoice", "Attached.", attachments=[invoice])
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/dev/mail?to=tuli@guest.example")
        view.page.get_by_role("link", name="Your invoice").click()
        view.check("attachment")
        link = view.page.get_by_role("link", name="invoice é.pdf").get_attribute("href")
        response = view.page.request.get(f"{address}{link}")
        assert (response.status, response.body()) == (200, invoice.content)
        assert response.headers["content-type"] == "application/pdf"
        for number in (0, 2):
            assert view.page.request.get(f"{address}{link}"[:-1] + str(number)).status == 404
