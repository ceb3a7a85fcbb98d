"""Three merchants with nothing but their mails and a browser, narrow and without scripts, up to the first payout."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from app.accounts.models import Account
from app.core.db import db
from tests.factories.accounts import PASSWORD, list_mails_to
from tests.factories.applications import CODE, LIST, PDF, TRANSFER_DAY, give_bank_details
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.merchants import create_merchant_account
from tests.factories.payouts import import_earnings, run_all_jobs
from tests.factories.stall_payments import run_recurring
from tests.http import Client, data
from tests.pages.browser import PageView, open_view

SERIES = "three-merchants"
TYPES = [{"name": "Food stall", "feeMinor": 150000, "quantity": 1}, {"name": "Crafts", "feeMinor": 60000}]
NEW_PASSWORD = "charcoal and a canvas roof"
FIELDS = {"businessName": "Oshana Kitchen", "contactName": "Ndeshi Amutenya", "email": "ndeshi@example.com"}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    path = tmp_path / "scan.pdf"
    path.write_bytes(PDF)
    return path


def find_link(email: str, path: str) -> str:
    """The path of the newest link to one of these pages in the mails to an address."""
    run_all_jobs()
    pattern = re.compile(rf"https?://\S+/{path}/\S+")
    return urlsplit(next(match[0] for mail in list_mails_to(email) if (match := pattern.search(mail["text"])))).path


def find_application(owner: Client, business_name: str) -> dict[str, Any]:
    applications = data(owner.get(LIST))["applications"]
    return next(application for application in applications if application["businessName"] == business_name)


def decide(owner: Client, business_name: str, decision: str = "approved", **fields: Any) -> None:
    data(owner.patch(f"{LIST}/{find_application(owner, business_name)['id']}", {"decision": decision, **fields}))


def fill(view: PageView, **fields: str) -> None:
    for name, value in fields.items():
        view.page.fill(f"#{name}", value)


def press(view: PageView, name: str) -> None:
    """Presses a button by the keyboard."""
    view.page.get_by_role("button", name=name).first.focus()
    with view.page.expect_navigation():
        view.page.keyboard.press("Enter")


def send_documents(view: PageView, scan: Path, expires_on: str = "") -> None:
    for element in view.page.locator("input[type=file]").all():
        element.set_input_files(scan)
    if expires_on:
        view.page.locator("input[id$=ExpiresOn]").first.fill(expires_on)
    press(view, "Send the documents")


def activate(view: PageView, address: str, email: str) -> None:
    view.page.goto(address + find_link(email, "activate"))
    fill(view, password=NEW_PASSWORD)
    press(view, "Activate and finish")


PAYOUT_TEXTS = {
    "en": ("Save the payout details", "Request the payout", "Your payouts", "1\u202f000.00"),
    "af": ("Stoor die uitbetalingsbesonderhede", "Vra die uitbetaling aan", "Jou uitbetalings", "1\u202f000,00"),
}


def get_paid(view: PageView, address: str, email: str) -> None:
    """Signs in, says where payouts go, and requests the first one, which is paid."""
    account = db.session.query(Account).filter_by(email=email).one()
    import_earnings(account, 500_000)
    page = view.page
    page.goto(f"{address}/stall")
    if "/sign-in" in page.url:
        fill(view, email=email, password=NEW_PASSWORD)
        press(view, "Sign in")
    expect(page).to_have_url(f"{address}/stall")
    save, request, payouts, amount = PAYOUT_TEXTS[page.locator("html").get_attribute("lang") or ""]
    view.check(f"stall-{email.split('@')[0]}")
    page.goto(f"{address}/stall/payout-details")
    fill(view, msisdn="081 123 9876")
    press(view, save)
    page.goto(f"{address}/stall/payouts")
    fill(view, amountMinor="1 000")
    press(view, request)
    expect(page.get_by_role("heading", name=payouts)).to_be_visible()
    expect(page.get_by_text(amount).first).to_be_visible()
    view.check(f"payouts-{email.split('@')[0]}")


def test_an_invited_newcomer_pays_by_wallet(
    client: Client, owner: Client, address: str, chromium: Browser, scan: Path
) -> None:
    event = create_published_event(owner, stallTypes=TYPES)
    email = "ndeshi@example.com"
    invitation = {"email": email, "businessName": "Oshana Kitchen", "stallType": "Food stall"}
    data(owner.post(f"/api/events/{event['id']}/merchant-invite", invitation), 201)
    with open_view(chromium, SERIES, scripts=False) as view:
        page = view.page
        page.goto(address + find_link(email, "merchant-invite"))
        fill(view, contactName="Ndeshi Amutenya", products="Kapana and fat cakes", payrailMsisdn="081 123 9876")
        press(view, "Send the application")
        expect(page.get_by_role("heading", name="We have your application")).to_be_visible()
        decide(owner, "Oshana Kitchen", documentsRequired=["identity"])
        page.goto(address + find_link(email, "documents"))
        send_documents(view, scan)
        page.get_by_role("link", name="Pay the stall fee").click()
        press(view, "Send me a code")
        fill(view, code=CODE)
        press(view, "Pay N$")
        view.check("newcomer-paid")
        activate(view, address, email)
        get_paid(view, address, email)
    books = data(owner.get(f"/api/events/{event['id']}/stall-fees"))["totals"]
    assert (books["dueMinor"], books["paidMinor"], books["openMinor"]) == (150000, 150000, 0)


def test_an_applicant_on_the_waitlist_pays_by_transfer(
    client: Client, owner: Client, address: str, chromium: Browser, scan: Path
) -> None:
    event = create_published_event(owner, stallTypes=[{**TYPES[0], "quantity": 0}, TYPES[1]])
    email = "selma@example.com"
    with open_view(chromium, SERIES, scripts=False, locale="af") as view:
        page = view.page
        page.goto(f"{address}/apply/{event['id']}")
        fill(view, businessName="Selma se Koeke", contactName="Selma Nangolo", email=email, products="Vetkoek")
        page.locator("input[name=stallType]").first.check()
        page.locator("input[name=destination][value=bank]").check()
        view.check("waiting-form")
        press(view, "Stuur die aansoek")
        decide(owner, "Selma se Koeke", "waitlisted")
        data(owner.patch(f"/api/events/{event['id']}", {"stallTypes": TYPES}))
        run_recurring("applications.offer_places")
        page.goto(address + find_link(email, "place-offer"))
        view.check("place-offer")
        press(view, "Aanvaar die plek")
        give_bank_details()
        page.goto(address + find_link(email, "pay"))
        view.check("transfer")
        application = find_application(owner, "Selma se Koeke")
        assert application["reference"] in page.inner_text("main") and "62001234567" in page.inner_text("main")
        transfer = {"amountMinor": 150000, "reference": application["reference"], "receivedOn": TRANSFER_DAY}
        data(owner.post(f"{LIST}/{application['id']}/fee/received", transfer))
        page.goto(address + find_link(email, "documents"))
        for element in page.locator("input[type=file]").all():
            element.set_input_files(scan)
        press(view, "Stuur die dokumente")
        page.goto(address + find_link(email, "activate"))
        fill(view, password=NEW_PASSWORD)
        view.check("activate")
        press(view, "Aktiveer")
        get_paid(view, address, email)
    books = data(owner.get(f"/api/events/{event['id']}/stall-fees"))["totals"]
    assert (books["dueMinor"], books["receivedMinor"], books["openMinor"]) == (150000, 150000, 0)


def test_a_returning_merchant_replaces_an_expired_document(
    client: Client, owner: Client, address: str, chromium: Browser, scan: Path
) -> None:
    event = create_published_event(owner, stallTypes=TYPES)
    merchant = create_merchant_account("Omaere Crafts")
    with open_view(chromium, SERIES, scripts=False) as view:
        page = view.page
        page.goto(f"{address}/sign-in?next=/apply/{event['id']}")
        fill(view, email=merchant.email, password=PASSWORD)
        press(view, "Sign in")
        assert page.locator("#businessName").input_value() == "Omaere Crafts"
        page.locator("input[name=stallType]").nth(1).check()
        press(view, "Send the application")
        decide(owner, "Omaere Crafts", documentsRequired=["food_safety"])
        page.goto(address + find_link(merchant.email, "documents"))
        send_documents(view, scan, expires_on="2026-01-01")
        view.check("expired-document")
        send_documents(view, scan, expires_on="2099-01-01")
        page.goto(address + find_link(merchant.email, "pay"))
        fill(view, payrailMsisdn="081 123 9876")
        press(view, "Send me a code")
        fill(view, code=CODE)
        press(view, "Pay N$")
        run_all_jobs()
        page.goto(f"{address}/stall")
        view.check("returning-stall")
        get_paid(view, address, merchant.email)
