"""The pages for the details of an organisation, as a browser without scripts uses them."""

import io
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.accounts.models import Account, OrganiserProfile
from app.accounts.organisation_details import load_organisation_details
from app.core.transaction import transaction
from tests.core.test_images import picture
from tests.factories.accounts import PASSWORD, create_account
from tests.pages.test_account_page import sign_in_browser

PAGE = "/desk/settings"


def create_owner() -> Account:
    account = create_account("organiser")
    with transaction() as session:
        session.add(OrganiserProfile(account_id=account.id, org_name="Windhoek Lights"))
    return account


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_owner()


def test_details_and_logo_are_saved(app: Flask, owner: Account) -> None:
    browser = sign_in_browser(app, owner)
    assert PAGE in browser.open("/desk").text
    browser.open(PAGE)
    page = browser.send(form=1, name="Windhoek Lights", address="12 Lüderitz Street", vatNumber="VAT 7")
    assert page.status_code == 422 and "Enter digits only" in page.text and "12 Lüderitz Street" in page.text
    answer = browser.press(
        form=1, address="12 Lüderitz Street", vatNumber=" 1234567-01-5 ", logo=(io.BytesIO(picture("PNG")), "logo.png")
    )
    assert answer.status_code == 303
    details = load_organisation_details(owner.id)
    assert (details.address, details.vat_number) == ("12 Lüderitz Street", "1234567-01-5")
    assert details.logo_url and f'src="{urlsplit(details.logo_url).path}"' in browser.open(PAGE).text
    browser.send(form=1, address="12 Lüderitz Street", removeLogo="true")
    assert load_organisation_details(owner.id).logo_url is None


def test_wallets_are_not_accepted_where_the_organiser_says_so(app: Flask, owner: Account) -> None:
    browser = sign_in_browser(app, owner)
    browser.open(PAGE)
    for value in ("true", ""):
        browser.send(form=1, transfersOnly=value)
        assert load_organisation_details(owner.id).transfers_only == bool(value)
        assert browser.forms[1].fields.get("transfersOnly", "") == value


def test_the_settings_begin_with_the_organisation(app: Flask, owner: Account) -> None:
    page = sign_in_browser(app, owner).open(PAGE).text
    main = page[page.index("<main") :]
    assert main.index("/desk/team") < main.index('name="vatNumber"') < main.index("/desk/keys")
    assert ">Accounting</a>" in page and ">Money</a>" not in page, "the money of an event has that name"


def test_the_contact_address_is_saved_and_says_what_people_see_without_one(app: Flask, owner: Account) -> None:
    browser = sign_in_browser(app, owner)
    page = browser.open(PAGE)
    assert f"Now people see and write to {owner.email}" in page.text
    page = browser.send(form=1, contactEmail="hello")
    assert page.status_code == 422 and 'href="#contactEmail"' in page.text and 'value="hello"' in page.text
    page = browser.send(form=1, contactEmail="hello@windhoek-lights.example")
    assert 'value="hello@windhoek-lights.example"' in page.text and "Now people see" not in page.text
    assert f"Until somebody confirms it there, people see {owner.email}" in page.text
    browser.send(form=2, contactEmail="")
    details = load_organisation_details(owner.id)
    assert (details.contact_email, details.pending_contact_email) == (None, None)


def test_a_file_that_is_no_picture_is_named(app: Flask, owner: Account) -> None:
    browser = sign_in_browser(app, owner)
    browser.open(PAGE)
    answer = browser.press(form=1, logo=(io.BytesIO(b"%PDF-1.7"), "logo.pdf"))
    assert answer.status_code == 415 and 'href="#logo"' in answer.text


def test_a_logo_that_is_too_large_leads_to_the_form_again(app: Flask, owner: Account) -> None:
    browser = sign_in_browser(app, owner)
    browser.open(PAGE)
    logo: Any = (io.BytesIO(b"0" * (6 * 1024 * 1024)), "logo.png")
    page = browser.send(form=1, address="1 Main Road", logo=logo)
    assert page.status_code == 413 and "This picture is larger than 5 MB" in page.text and "1 Main Road" in page.text
    browser.open(PAGE)
    logo = (io.BytesIO(b"0" * (22 * 1024 * 1024)), "logo.png")
    page = browser.send(form=1, logo=logo)
    assert page.status_code == 413 and "You sent 22.1 MB" in page.text and "Windhoek Lights" in page.text


def test_bank_details_need_the_password(app: Flask, owner: Account) -> None:
    browser = sign_in_browser(app, owner)
    bank = {"accountName": "Windhoek Lights CC", "accountNumber": "62 0012 3456 7", "bankName": "Bank Windhoek"}
    assert "Your bank details appear here when you add them" in browser.open(PAGE).text
    browser.open(f"{PAGE}/bank")
    assert browser.send(form=1, **bank).status_code == 422
    page = browser.send(form=1, **bank, password=PASSWORD)
    assert "62001234567" in page.text and "Bank Windhoek" in page.text
    browser.open(f"{PAGE}/bank")
    assert browser.elements["accountNumber"]["value"] == "62001234567"
