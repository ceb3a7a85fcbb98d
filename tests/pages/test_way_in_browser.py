"""The whole way to a stall in a real browser, and the ways that fail; pictures are kept of every state."""

from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.accounts import create_customer, sign_in
from tests.factories.applications import (
    CODE,
    EMAIL,
    PDF,
    create_application,
    create_approved_application,
    create_ready_application,
    decide_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client
from tests.http import Client
from tests.pages.browser import PageView, open_view

SERIES = "way-to-a-stall"
PASSWORD = "charcoal and a canvas roof"
KINDS = ("identity", "business_registration", "tax_clearance", "food_safety")


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    (tmp_path / "scan.pdf").write_bytes(PDF)
    (tmp_path / "huge.pdf").write_bytes(PDF + b"0" * (11 * 1024 * 1024))
    (tmp_path / "letter.pdf").write_text("Dear organiser, this is no PDF.")
    return tmp_path


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_the_whole_way(client: Client, address: str, chromium: Browser, papers: Path, scripts: bool) -> None:
    owner = create_organiser_client(client)
    decide_application(owner, create_application(client, owner))
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        page.goto(f"{address}/documents/{find_mailed_token('documents')}")
        view.check("documents")
        page.set_input_files("#identity", papers / "scan.pdf")
        page.get_by_role("button", name="Send the documents").click()
        view.check("documents-missing")
        _choose(view, papers / "scan.pdf", KINDS[1:])
        page.get_by_role("button", name="Send the documents").click()
        view.check("documents-done")
        page.get_by_role("link", name="Pay the stall fee").click()
        view.check("pay")
        page.get_by_role("button", name="Send me a code").click()
        view.check("pay-code")
        page.get_by_label("Code from your phone").fill(CODE)
        page.get_by_role("button", name="Pay N$").click()
        view.check("pay-done")
        page.goto(f"{address}/activate/{find_mailed_token('activate')}")
        view.check("activate")
        page.get_by_label("Choose a password").fill("short")
        page.get_by_role("button", name="Activate and finish").click()
        view.check("activate-wrong")
        page.get_by_label("Choose a password").fill(PASSWORD)
        page.get_by_role("button", name="Activate and finish").click()
        view.check("activate-done")
    assert sign_in(client, EMAIL, PASSWORD)["user"]["roles"] == ["merchant"]


def test_documents_that_are_none(client: Client, address: str, chromium: Browser, papers: Path) -> None:
    create_approved_application(client, create_organiser_client(client))
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/documents/{find_mailed_token('documents')}")
        view.page.set_input_files("#identity", papers / "huge.pdf")
        view.page.get_by_role("button", name="Send the documents").click()
        view.check("documents-too-large")
        view.page.set_input_files("#tax_clearance", papers / "letter.pdf")
        view.page.get_by_role("button", name="Send the documents").click()
        view.check("documents-no-pdf")
        expect(view.page.locator("#summary")).to_be_focused()
        view.page.set_input_files("#identity", papers / "scan.pdf")
        view.page.get_by_role("button", name="Save and send later").click()
        view.check("documents-kept")


def test_codes_and_wallets_that_do_not_work(client: Client, address: str, chromium: Browser) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    with open_view(chromium, SERIES) as view:
        page = view.page
        page.goto(f"{address}/pay/{find_mailed_token('pay')}")
        page.get_by_role("button", name="Send me a code").click()
        for number in range(5):
            page.get_by_label("Code from your phone").fill("000000")
            page.get_by_role("button", name="Pay N$").click()
            if number == 0:
                view.check("pay-code-wrong")
        view.check("pay-code-spent")
        page.get_by_label("Number of your mobile wallet").fill("081 123 0001")
        page.get_by_role("button", name="Send me a new code").click()
        page.get_by_label("Code from your phone").fill(CODE)
        page.get_by_role("button", name="Pay N$").click()
        view.check("pay-declined")
        page.get_by_label("Number of your mobile wallet").fill("081 123 0002")
        page.get_by_role("button", name="Send me a new code").click()
        page.get_by_label("Code from your phone").fill(CODE)
        page.get_by_role("button", name="Pay N$").click()
        view.check("pay-waiting")


def test_dead_links(app: Flask, client: Client, address: str, chromium: Browser) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    create_customer(email=EMAIL)
    with open_view(chromium, SERIES) as view:
        page = view.page
        page.goto(f"{address}/activate/{token}")
        view.check("activate-existing")
        with transaction() as session:
            session.execute(text("UPDATE application_link SET expires_at = now() - interval '1 day'"))
        page.goto(f"{address}/activate/{token}")
        view.check("link-expired")
        page.get_by_role("button", name="Send me a new link").click()
        view.check("link-sent")
        page.goto(f"{address}/activate/{token}")
        page.get_by_role("button", name="Send me a new link").click()
        view.check("link-too-soon")
        with transaction() as session:
            session.execute(text("UPDATE application_link SET used_at = now()"))
        page.goto(f"{address}/activate/{token}")
        view.check("link-used")
        page.goto(f"{address}/activate/cut-off")
        view.check("link-unknown")


def _choose(view: PageView, paper: Path, kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        view.page.set_input_files(f"#{kind}", paper)
