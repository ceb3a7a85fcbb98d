"""The pages for details, password, address and second factor, as a browser without scripts uses them."""

import html
import re
from dataclasses import replace

import pyotp
import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.models import Account
from app.accounts.second_factor import encrypt_secret
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, create_account, create_customer, find_newest_code, list_mails_to
from tests.factories.second_factors import App, turn_on
from tests.pages.pages import Visitor
from tests.pages.test_account_page import drop_password, sign_in_browser

OLD, NEW, NEW_PASSWORD = "frieda@example.com", "nangolo@example.com", "another evening at Sesriem"
FACTOR = "/account/second-factor"


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_customer(email=OLD)


@pytest.fixture
def browser(app: Flask, owner: Account) -> Visitor:
    return sign_in_browser(app, owner)


def send(visitor: Visitor, **typed: str) -> str:
    """The text of the page after the form of the page, which follows that of the header, was sent."""
    visitor.send(form=len(visitor.forms) - 1, **typed)
    return html.unescape(visitor.page.text)


def age_sign_ins() -> None:
    with transaction() as session:
        session.execute(text("UPDATE account_session SET created_at = created_at - interval '11 minutes'"))


def enter_code(app: Flask, owner: Account, code: str) -> Visitor:
    visitor = sign_in_browser(app, owner)
    assert visitor.page.request.path == "/sign-in/code"
    visitor.send(code=code)
    return visitor


@pytest.mark.parametrize(
    "path", ["details", "password", "address", "address/code", "second-factor", "second-factor/off"]
)
def test_every_page_needs_a_sign_in(visitor: Visitor, path: str) -> None:
    assert visitor.open(f"/account/{path}").headers["Location"] == f"/sign-in?next=/account/{path}"


def test_account_lists_the_pages(browser: Visitor) -> None:
    page = browser.open("/account").text
    for path in ("details", "password", "address", "second-factor"):
        assert f'href="/account/{path}"' in page


def test_details_are_saved_and_shown_again(browser: Visitor) -> None:
    browser.open("/account/details")
    assert "Your details are saved" in send(browser, name="Frieda Nangolo", phone="081 123 4567", language="af")
    page = browser.open("/account/details").text
    assert 'value="+264811234567"' in page and re.search(r'value="af"[^>]* checked', page)
    send(browser, name="Frieda Nangolo", phone="", language="")
    assert 'name="phone" value=""' in browser.open("/account/details").text


def test_wrong_details_are_explained(browser: Visitor) -> None:
    browser.open("/account/details")
    page = send(browser, name="", phone="12", language="")
    assert browser.page.status_code == 422 and "Enter your name." in page and 'value="12"' in page


def test_password_is_changed(app: Flask, browser: Visitor, owner: Account) -> None:
    browser.open("/account/password")
    page = send(browser, password="wrong", newPassword=NEW_PASSWORD)
    assert "This password is wrong." in page and browser.page.status_code == 422
    assert "password is changed" in send(browser, password=PASSWORD, newPassword=NEW_PASSWORD)


def test_first_password_needs_a_recent_sign_in(browser: Visitor, owner: Account) -> None:
    drop_password(owner)
    assert 'name="password"' not in browser.open("/account/password").text
    age_sign_ins()
    assert "sign-in of the last 10 minutes" in browser.open("/account/password").text


def test_address_is_changed_by_the_code(browser: Visitor) -> None:
    browser.open("/account/address")
    assert NEW in send(browser, newEmail=NEW, password=PASSWORD)
    assert "wrong or has expired" in send(browser, code="000000")
    assert "address is changed" in send(browser, code=find_newest_code(NEW))
    assert NEW in browser.open("/account").text


def test_five_wrong_codes_lead_to_a_new_one(browser: Visitor) -> None:
    browser.open("/account/address")
    send(browser, newEmail=NEW, password=PASSWORD)
    for _ in range(4):
        assert "Change the address" in send(browser, code="000000")
    page = send(browser, code="000000")
    assert "You entered five wrong codes" in page and 'href="/account/address">Send another code' in page
    browser.open("/account/address")
    assert "You entered five wrong codes" not in send(browser, newEmail="another@example.com", password=PASSWORD)


def test_wrong_password_and_own_address_are_explained(browser: Visitor) -> None:
    browser.open("/account/address")
    assert "This password is wrong." in send(browser, newEmail=NEW, password="wrong")
    assert "already the address" in send(browser, newEmail=OLD, password=PASSWORD)


def open_undo_page(visitor: Visitor, browser: Visitor) -> str:
    browser.open("/account/address")
    send(browser, newEmail=NEW, password=PASSWORD)
    send(browser, code=find_newest_code(NEW))
    match = re.search(r"/undo-address-change/\S+", list_mails_to(OLD)[0]["text"])
    assert match
    visitor.open(match[0])
    return match[0]


def test_link_in_the_mail_to_the_old_address_restores_it(visitor: Visitor, browser: Visitor) -> None:
    path = open_undo_page(visitor, browser)
    assert OLD in visitor.page.text and NEW not in visitor.page.text
    assert "Your e-mail address is restored" in send(visitor)
    assert browser.open("/account").status_code == 303, "everybody is signed out"
    assert visitor.open(path).status_code == 410


def test_opening_the_link_changes_nothing(visitor: Visitor, browser: Visitor) -> None:
    open_undo_page(visitor, browser)
    assert NEW in browser.open("/account").text


def test_unknown_link_is_explained(visitor: Visitor) -> None:
    page = visitor.open(f"/undo-address-change/{'x' * 43}")
    assert page.status_code == 410 and "no longer works" in page.text


def test_second_factor_is_turned_on(app: Flask, browser: Visitor, owner: Account) -> None:
    browser.open(f"{FACTOR}/start")
    page = send(browser, password=PASSWORD)
    match = re.search(r'<code class="key">([A-Z2-7]+)</code>', page)
    assert match and "data:image/svg+xml" in page
    phone = pyotp.TOTP(match[1])
    page = send(browser, code="000000" if phone.now() != "000000" else "111111")
    assert "The code is wrong" in page and match[1] in page, "the same key is shown again"
    page = send(browser, code=phone.now())
    codes = re.findall(r"<code>(\w{5}-\w{5})</code>", page)
    assert len(codes) == 10
    assert codes[0] not in browser.open(FACTOR).text
    assert enter_code(app, owner, codes[0]).page.request.path == "/account"


def test_key_of_another_account_is_not_shown(browser: Visitor, owner: Account) -> None:
    browser.open(f"{FACTOR}/start")
    send(browser, password=PASSWORD)
    page = send(browser, code="1", setup=encrypt_secret(create_customer().id, "JBSWY3DPEHPK3PXP"))
    assert "JBSWY3DPEHPK3PXP" not in page


def test_changes_of_the_second_factor_need_the_password(browser: Visitor, owner: Account) -> None:
    turn_on(owner)
    for change in ("recovery-codes", "off"):
        browser.open(f"{FACTOR}/{change}")
        assert "This password is wrong." in send(browser, password="wrong")
    assert "The second factor is off." in send(browser, password=PASSWORD)


def test_new_recovery_codes_are_shown_once(browser: Visitor, owner: Account) -> None:
    turn_on(owner)
    browser.open(f"{FACTOR}/recovery-codes")
    assert len(re.findall(r"<code>(\w{5}-\w{5})</code>", send(browser, password=PASSWORD))) == 10


def test_sign_in_asks_for_the_code(app: Flask, owner: Account) -> None:
    phone = turn_on(owner)
    visitor = enter_code(app, owner, phone.wrong_code())
    assert visitor.page.status_code == 422 and "The code is wrong" in visitor.page.text
    visitor.send(code=f" {phone.code()[:3]} {phone.code()[3:]} ")
    assert visitor.page.request.path == "/account"


def test_sign_in_starts_again_after_five_wrong_codes(app: Flask, owner: Account) -> None:
    phone: App = turn_on(owner)
    visitor = enter_code(app, owner, phone.wrong_code())
    for _ in range(5):
        visitor.send(code=phone.wrong_code())
    assert visitor.page.status_code == 401 and "Start again" in visitor.page.text
    assert visitor.open("/sign-in/code").headers["Location"] == "/sign-in"


def test_code_page_without_a_first_step_leads_to_the_first(visitor: Visitor) -> None:
    assert visitor.open("/sign-in/code").headers["Location"] == "/sign-in"


def test_sign_in_with_a_code_leads_to_the_page_that_needed_it(app: Flask, visitor: Visitor, owner: Account) -> None:
    phone = turn_on(owner)
    visitor.open("/sign-in?next=/account/details")
    visitor.send(email=OLD, password=PASSWORD)
    visitor.send(code=phone.code())
    assert visitor.page.request.path == "/account/details"


def test_admin_in_production_is_sent_to_the_second_factor(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = sign_in_browser(app, create_account("admin"))
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], APP_ENV="production"))
    assert browser.open("/account").headers["Location"] == FACTOR
    assert "Admins need it" in browser.open(FACTOR).text
