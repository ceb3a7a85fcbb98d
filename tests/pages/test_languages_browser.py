"""The pages that people see first, and those of a stall, in Afrikaans and German: wide enough words, no English."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from tests.factories.accounts import PASSWORD, create_customer
from tests.factories.applications import (
    CODE,
    create_application,
    create_ready_application,
    decide_application,
    find_mailed_token,
    give_bank_details,
)
from tests.factories.events import create_organiser_client
from tests.http import Client
from tests.pages.browser import open_view
from tests.pages.test_claim_page import a_block, allocator_link, invited, open_link
from tests.pages.test_stall_browser import create_busy_merchant

pytestmark = pytest.mark.parametrize("language", ["af", "de"])
STALL_PAGES = ("crew", "plan", "hours", "check-in")
ENGLISH = (" the ", " you ", " your ", " this ", " and ")


def press(page: Page) -> None:
    page.locator("form button[type=submit]").first.click()


def is_free_of_english(page: Page) -> bool:
    text = f" {page.locator('main').inner_text().lower()} "
    return not any(word in text for word in ENGLISH)


def test_claiming_and_handing_out(client: Client, address: str, chromium: Browser, language: str) -> None:
    owner, block, _ = a_block(client, holder={"organisation": "Bank Windhoek"})
    with open_view(chromium, f"languages-{language}", locale=language) as view:
        page = view.page
        page.goto(address + invited(owner, block))
        view.check("claim")
        page.locator("#email").fill("frieda at guest")
        press(page)
        view.check("claim-wrong")
        page.locator("#email").fill("frieda@guest.example")
        press(page)
        view.check("ticket")
        assert is_free_of_english(page)
        page.goto(address + allocator_link(owner, block))
        view.check("holder")
        page.goto(address + open_link(owner, block, maxPerClaim=2))
        view.check("open-link")
        assert is_free_of_english(page)


def test_documents_and_paying(client: Client, address: str, chromium: Browser, language: str) -> None:
    owner = create_organiser_client(client)
    decide_application(owner, create_application(client, owner))
    with open_view(chromium, f"languages-{language}", locale=language) as view:
        page = view.page
        page.goto(f"{address}/documents/{find_mailed_token('documents')}")
        press(page)
        view.check("documents-missing")
        assert is_free_of_english(page)
        page.goto(f"{address}/pay/{find_mailed_token('pay')}")
        view.check("pay")
        give_bank_details()
        page.goto(f"{address}/pay/{find_mailed_token('pay')}?transfer=1")
        view.check("pay-transfer")
        assert is_free_of_english(page)
        page.goto(f"{address}/pay/{find_mailed_token('pay')}")
        press(page)
        view.check("pay-code")
        page.locator("#code").fill(CODE)
        press(page)
        view.check("pay-done")
        assert is_free_of_english(page)


def test_activating(client: Client, address: str, chromium: Browser, language: str) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    with open_view(chromium, f"languages-{language}", locale=language) as view:
        for state, path in (("activate", f"/activate/{token}"), ("link-unknown", "/activate/unknown")):
            view.page.goto(address + path)
            view.check(state)
            assert is_free_of_english(view.page)


def test_a_new_password(app: Flask, address: str, chromium: Browser, language: str) -> None:
    create_customer(email="frieda@example.com")
    with open_view(chromium, f"languages-{language}", locale=language) as view:
        page = view.page
        page.goto(f"{address}/reset-password")
        view.check("reset")
        page.locator("#email").fill("frieda@example.com")
        press(page)
        view.check("reset-code")
        page.locator("#code").fill("12")
        press(page)
        view.check("reset-wrong")
        assert is_free_of_english(page)


def test_the_stall_of_a_merchant(client: Client, address: str, chromium: Browser, language: str) -> None:
    _, account, event_id = create_busy_merchant(client)
    with open_view(chromium, f"languages-{language}", locale=language) as view:
        page = view.page
        page.goto(f"{address}/sign-in?next=/stall")
        page.locator("#email").fill(account.email)
        page.locator("#password").fill(PASSWORD)
        press(page)
        stall = f"{address}/stall"
        for path in ("", "/payouts", "/payout-details", *(f"/{event_id}/{name}" for name in STALL_PAGES)):
            page.goto(stall + path)
            view.check(f"stall{path.replace(event_id, '').replace('/', '-')}")
            assert is_free_of_english(page)
