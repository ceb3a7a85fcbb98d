"""The development mailbox in a browser: what left by mail, SMS and push."""

from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Browser

from app.clients import dev_mailbox
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
