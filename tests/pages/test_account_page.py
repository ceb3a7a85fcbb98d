"""The account of the signed-in person: devices that are signed in, Apple and Google."""

import re

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.models import Account
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, create_customer, create_signed_in_client
from tests.http import Client, read_error
from tests.pages.pages import Visitor

SESSIONS, IDENTITIES = "/account/sessions", "/account/identities"
FIREFOX = "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0"


@pytest.fixture
def owner() -> Account:
    return create_customer()


def sign_in_browser(app: Flask, owner: Account, user_agent: str = FIREFOX) -> Visitor:
    flask = app.test_client()
    flask.environ_base["HTTP_USER_AGENT"] = user_agent
    visitor = Visitor(flask)
    visitor.open("/sign-in")
    visitor.send(email=owner.email, password=PASSWORD)
    return visitor


def link(owner: Account, provider: str) -> None:
    with transaction() as session:
        statement = text("INSERT INTO external_identity (provider, subject, account_id) VALUES (:provider, 's', :id)")
        session.execute(statement, {"provider": provider, "id": owner.id})


def drop_password(owner: Account) -> None:
    with transaction() as session:
        session.execute(text("UPDATE account SET password_hash = NULL WHERE id = :id"), {"id": owner.id})


@pytest.mark.parametrize(
    "path", ["/account", SESSIONS, f"{SESSIONS}/others", IDENTITIES, f"{IDENTITIES}/google/unlink"]
)
def test_every_page_needs_a_sign_in(visitor: Visitor, path: str) -> None:
    answer = visitor.open(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/sign-in?next={path}")


def test_a_form_sent_after_the_session_has_ended_leads_back_to_its_page(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    visitor.open(f"{SESSIONS}/others")
    with transaction() as session:
        session.execute(text("UPDATE account_session SET ended_at = now()"))
    assert visitor.press(form=1).headers["Location"] == f"/sign-in?next={SESSIONS}/others"
    token = visitor.forms[1].fields["csrf_token"]
    answer = visitor.flask.post(f"{SESSIONS}/{'0' * 24}/end", data={"csrf_token": token})
    assert answer.headers["Location"] == f"/sign-in?next={SESSIONS}"


def test_an_expired_form_leads_back_to_its_page(visitor: Visitor) -> None:
    assert f'href="{SESSIONS}"' in visitor.flask.post(f"{SESSIONS}/{'0' * 24}/end").text


def test_the_account_links_to_pages_that_exist(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    targets = set(re.findall(r'href="(/[^"]*)"', visitor.open("/account").text))
    assert {SESSIONS, IDENTITIES, "/sign-out"} <= targets
    for target in targets:
        assert visitor.open(target).status_code == 200, target


def test_the_devices_are_listed_and_one_is_signed_out(client: Client, app: Flask, owner: Account) -> None:
    phone = sign_in_browser(app, owner)
    app_client = create_signed_in_client(client, owner)
    laptop = sign_in_browser(app, owner, "Mozilla/5.0 (X11; Linux x86_64) Chrome/131.0 Safari/537.36")
    page = laptop.open(SESSIONS).text
    assert page.index("Chrome on Linux") < page.index("This device") < page.index("Firefox on Android")
    assert "An app" in page and "127.0.0.0/24" in page
    actions = [form.action for form in laptop.forms if form.action.endswith("/end")]
    assert len(actions) == 2
    for number, form in enumerate(laptop.forms):
        if form.action.endswith("/end"):
            laptop.press(form=number)
    assert phone.open("/account").status_code == 303
    assert read_error(app_client.get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert "The device is signed out." in laptop.open(SESSIONS).text


def test_all_others_are_signed_out_after_a_confirmation(app: Flask, owner: Account) -> None:
    phone, laptop = sign_in_browser(app, owner), sign_in_browser(app, owner)
    assert f"{SESSIONS}/others" in laptop.open(SESSIONS).text
    laptop.open(f"{SESSIONS}/others")
    assert phone.open("/account").status_code == 200, "opening the page changes nothing"
    page = laptop.send(form=1)
    assert "All other devices are signed out." in page.text and f"{SESSIONS}/others" not in page.text
    assert phone.open("/account").status_code == 303


def test_a_session_of_somebody_else_is_not_found(app: Flask, owner: Account) -> None:
    stranger = sign_in_browser(app, create_customer())
    visitor = sign_in_browser(app, owner)
    visitor.open(f"{SESSIONS}/others")
    token = visitor.forms[1].fields["csrf_token"]
    cookie = stranger.flask.get_cookie("sign-in")
    assert cookie is not None
    path = f"{SESSIONS}/{cookie.value.partition('.')[0]}/end"
    assert visitor.flask.post(path, data={"csrf_token": token}).status_code == 404
    assert stranger.open("/account").status_code == 200


def test_a_provider_is_removed_after_a_confirmation(app: Flask, owner: Account) -> None:
    link(owner, "google")
    visitor = sign_in_browser(app, owner)
    assert "Google" in visitor.open(IDENTITIES).text
    visitor.open(f"{IDENTITIES}/google/unlink")
    page = visitor.send(form=1)
    assert "Google no longer signs in to your account." in page.text and "No account at Apple or Google" in page.text


def test_the_last_way_to_sign_in_stays_and_the_page_says_why(app: Flask, owner: Account) -> None:
    link(owner, "apple")
    visitor = sign_in_browser(app, owner)
    drop_password(owner)
    visitor.open(f"{IDENTITIES}/apple/unlink")
    page = visitor.send(form=1)
    assert page.status_code == 409
    assert "Apple is the only way to sign in to your account." in page.text and 'href="/account/password"' in page.text
    assert "Linked on" in visitor.open(IDENTITIES).text


def test_the_header_names_the_person_or_offers_a_sign_in(app: Flask, visitor: Visitor, owner: Account) -> None:
    assert 'href="/sign-in"' in visitor.open("/").text
    visitor = sign_in_browser(app, owner)
    page = visitor.open("/").text
    assert owner.name in page and ">Sign out</button>" in page and 'href="/sign-in"' not in page
    visitor.send(form=0)
    assert 'href="/sign-in"' in visitor.open("/").text


def test_pages_of_mailed_links_do_not_ask_who_is_signed_in(app: Flask, owner: Account) -> None:
    assert owner.name not in sign_in_browser(app, owner).open("/reset-password").text
