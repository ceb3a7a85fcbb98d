"""Signing in and out on the pages, as a browser without scripts does it."""

import re
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.accounts.sessions import build_page_token
from app.core.db import db
from app.core.transaction import transaction
from tests.counting import count_statements
from tests.factories.accounts import PASSWORD, create_customer, create_signed_in_client, list_mails_to, sign_in
from tests.http import Client, data, read_error
from tests.pages.pages import Visitor

PAGE, ACCOUNT = "/sign-in", "/account"


def sign_in_on_page(visitor: Visitor, email: str, password: str = PASSWORD, **fields: str) -> TestResponse:
    """The page after the sign-in form was sent."""
    visitor.open(PAGE)
    return visitor.send(email=email, password=password, **fields)


def read_cookie(visitor: Visitor, name: str = "sign-in", path: str = "/") -> str | None:
    cookie = visitor.flask.get_cookie(name, path=path)
    return cookie.value if cookie is not None else None


def age_sessions(column: str, interval: str) -> None:
    with transaction() as session:
        session.execute(text(f"UPDATE account_session SET {column} = {column} - interval '{interval}'"))


def test_signing_in_leads_to_the_account(visitor: Visitor) -> None:
    email = create_customer().email
    page = sign_in_on_page(visitor, f" {email.upper()} ")
    assert (page.status_code, page.request.path) == (200, ACCOUNT)
    assert email in page.text and "Frieda Amupolo" in page.text


def test_the_cookie_is_for_this_site_and_no_script(visitor: Visitor) -> None:
    visitor.open(PAGE)
    cookies = visitor.press(email=create_customer().email, password=PASSWORD).headers.getlist("Set-Cookie")
    (cookie,) = (item for item in cookies if item.startswith("sign-in="))
    assert re.search(r"^sign-in=[0-9a-f]{24}\.[\w-]{43}; ", cookie)
    assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))
    assert "Max-Age" not in cookie and "Domain" not in cookie


def test_over_https_the_cookie_is_secure_and_bound_to_the_host(
    app: Flask, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(app.extensions["settings"], PUBLIC_BASE_URL="https://festival.example")
    visitor.open(PAGE)
    monkeypatch.setitem(app.extensions, "settings", settings)
    cookies = visitor.press(email=create_customer().email, password=PASSWORD).headers.getlist("Set-Cookie")
    (cookie,) = (item for item in cookies if item.startswith("__Host-sign-in="))
    assert {"Secure", "Path=/"} <= set(cookie.split("; "))


def test_a_wrong_password_and_an_unknown_address_get_the_same_page(app: Flask) -> None:
    known, unknown = create_customer().email, "nobody@example.com"
    pages = []
    for email in (known, unknown):
        page = sign_in_on_page(Visitor(app.test_client()), email, "wrong")
        pages.append((page.status_code, re.sub(r'(csrf_token" value=")[^"]*', "", page.text).replace(email, "ADDRESS")))
    assert pages[0] == pages[1]
    assert pages[0][0] == 401 and "The e-mail address or the password is wrong." in pages[0][1]


def test_the_address_is_kept_and_the_password_never(visitor: Visitor) -> None:
    page = sign_in_on_page(visitor, "nobody@example.com", "not my password", remember="true")
    assert visitor.forms[0].fields["email"] == "nobody@example.com"
    assert "not my password" not in page.text and "checked" in visitor.elements["remember"]


def test_missing_fields_are_named(visitor: Visitor) -> None:
    page = sign_in_on_page(visitor, "frieda", "")
    assert page.status_code == 422
    assert "Enter an e-mail address like name@example.com." in page.text and "Enter your password." in page.text


def test_failures_on_the_page_count_with_those_of_the_api(client: Client, visitor: Visitor) -> None:
    owner = create_customer()
    for _ in range(5):
        assert sign_in_on_page(visitor, owner.email, "wrong").status_code == 401
        client.post("/api/auth/login", {"email": owner.email, "password": "wrong"})
    page = sign_in_on_page(visitor, owner.email)
    assert page.status_code == 429 and 0 < int(page.headers["Retry-After"]) <= 900
    assert "Too many failed attempts; wait, or reset the password. Try again in" in page.text
    assert len([mail for mail in list_mails_to(owner.email) if "paused" in mail["subject"]]) == 1


def test_a_remembered_device_is_known_at_the_next_sign_in(app: Flask, client: Client, visitor: Visitor) -> None:
    owner = create_customer()
    sign_in_on_page(visitor, owner.email, remember="true")
    assert read_cookie(visitor, f"device-{owner.id}", PAGE) and read_cookie(
        visitor, f"device-{owner.id}", "/api/auth/login"
    )
    visitor.open("/sign-out")
    visitor.send()
    for number in range(50):
        client.post("/api/auth/login", {"email": f"nobody{number}@example.com", "password": "wrong"})
    assert sign_in_on_page(Visitor(app.test_client()), owner.email).status_code == 429
    assert sign_in_on_page(visitor, owner.email).request.path == ACCOUNT


def test_a_remembered_device_stays_signed_in_when_the_browser_closes(visitor: Visitor) -> None:
    visitor.open(PAGE)
    answer = visitor.press(email=create_customer().email, password=PASSWORD, remember="true")
    (cookie,) = (item for item in answer.headers.getlist("Set-Cookie") if item.startswith("sign-in="))
    assert f"Max-Age={30 * 24 * 3600}" in cookie


@pytest.mark.parametrize("path", ["/account/sessions", "/account?x=1"])
def test_a_page_that_needs_a_sign_in_is_opened_after_it(visitor: Visitor, path: str) -> None:
    page = visitor.open(visitor.open(path).headers["Location"])
    assert page.request.path == PAGE and "Sign in to open this page." in page.text
    page = visitor.send(email=create_customer().email, password=PASSWORD)
    assert page.request.full_path.rstrip("?") == path


@pytest.mark.parametrize(
    "target", ["https://evil.example", "//evil.example", "/\\evil.example", "/%2fevil.example", "x"]
)
def test_the_next_page_is_one_of_this_site(app: Flask, visitor: Visitor, target: str) -> None:
    email = create_customer().email
    visitor.open(f"{PAGE}?next={target}")
    assert visitor.press(email=email, password=PASSWORD).headers["Location"] == ACCOUNT
    other = Visitor(app.test_client())
    other.open(PAGE)
    fields = {**other.forms[0].fields, "email": email, "password": PASSWORD}
    answer = other.flask.post(PAGE, query_string={"next": target}, data=fields)
    assert answer.headers["Location"] == ACCOUNT


def test_who_is_signed_in_is_not_asked_again(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    answer = visitor.flask.get(f"{PAGE}?next=/account/sessions")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account/sessions")


def test_signing_out_ends_the_session_at_once(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    cookie = read_cookie(visitor)
    assert cookie
    visitor.open("/sign-out")
    page = visitor.send()
    assert page.request.path == PAGE and "You are signed out." in page.text
    assert read_cookie(visitor) is None
    visitor.flask.set_cookie("sign-in", cookie)
    assert visitor.open(ACCOUNT).status_code == 303


def test_opening_the_page_to_sign_out_signs_nobody_out(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    assert "Sign out?" in visitor.open("/sign-out").text
    assert visitor.open(ACCOUNT).status_code == 200


def test_a_sign_in_replaces_the_session_and_its_id(visitor: Visitor) -> None:
    owner = create_customer()
    sign_in_on_page(visitor, owner.email)
    first = str(read_cookie(visitor))
    visitor.open("/sign-out")
    fields = {**visitor.forms[0].fields, "email": owner.email, "password": PASSWORD}
    assert visitor.flask.post(PAGE, data=fields).status_code == 303
    second = str(read_cookie(visitor))
    active = db.session.execute(text("SELECT id FROM account_session WHERE ended_at IS NULL")).scalars().all()
    assert first != second and active == [second.partition(".")[0]]


def test_a_csrf_token_from_before_the_sign_in_is_void_after_it(visitor: Visitor) -> None:
    visitor.open(PAGE)
    token = visitor.forms[0].fields["csrf_token"]
    planted = read_cookie(visitor, "console")
    visitor.send(email=create_customer().email, password=PASSWORD)
    assert read_cookie(visitor, "console") != planted
    visitor.open("/sign-out")
    assert visitor.press(csrf_token=token).status_code == 400


def test_forms_need_their_token(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    for path in ("/sign-out", "/account/sessions/others", PAGE):
        assert visitor.flask.post(path, data={"email": "a@example.com", "password": "x"}).status_code == 400
    assert visitor.open(ACCOUNT).status_code == 200


@pytest.mark.parametrize(
    "change", ["{id}", "{id}.", "{id}.x", "{other}.{mac}", "{id}.{mac}x", "é", "", "{id}.{mac}.{mac}"]
)
def test_a_changed_cookie_signs_nobody_in(visitor: Visitor, change: str) -> None:
    sign_in_on_page(visitor, create_customer().email)
    session_id, _, mac = str(read_cookie(visitor)).partition(".")
    visitor.flask.set_cookie("sign-in", change.format(id=session_id, other="0" * 24, mac=mac))
    assert visitor.open(ACCOUNT).status_code == 303


def test_tokens_of_the_api_are_no_cookies(client: Client, visitor: Visitor) -> None:
    signed_in = sign_in(client, create_customer().email)
    session_id = signed_in["refreshToken"].partition(".")[0]
    for value in (signed_in["accessToken"], signed_in["refreshToken"], build_page_token(session_id)):
        visitor.flask.set_cookie("sign-in", value)
        assert visitor.open(ACCOUNT).status_code == 303


def test_who_is_signed_in_costs_one_query(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    answer, statements = count_statements(lambda: visitor.flask.get(f"{ACCOUNT}/details"))
    assert (answer.status_code, len(statements)) == (200, 1)
    answer, statements = count_statements(lambda: visitor.flask.application.test_client().get("/"))
    assert (answer.status_code, len(statements)) == (200, 0)


def test_the_api_ignores_the_cookie(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    assert read_error(visitor.open("/api/auth/me")) == (401, "TOKEN_MISSING")


def test_a_session_ends_after_twelve_hours_without_use(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    age_sessions("idle_until", "11 hours 55 minutes")
    assert visitor.open(ACCOUNT).status_code == 200
    age_sessions("idle_until", "12 hours")
    assert visitor.open(ACCOUNT).status_code == 303


def test_use_extends_a_session_every_five_minutes(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    for column in ("created_at", "idle_until"):
        age_sessions(column, "6 minutes")
    visitor.open(ACCOUNT)
    (row,) = db.session.execute(
        text(
            "SELECT idle_until > now() + interval '11:59', last_seen_at > now() - interval '1 minute' FROM account_session"
        )
    ).all()
    assert tuple(row) == (True, True)


def test_no_use_extends_a_session_beyond_thirty_days(visitor: Visitor) -> None:
    sign_in_on_page(visitor, create_customer().email)
    for column in ("created_at", "ends_at"):
        age_sessions(column, "29 days 23 hours")
    visitor.open(ACCOUNT)
    assert db.session.scalar(text("SELECT idle_until <= ends_at FROM account_session")) is True
    age_sessions("ends_at", "1 hour")
    assert visitor.open(ACCOUNT).status_code == 303


def test_a_new_password_signs_the_browser_out(client: Client, visitor: Visitor) -> None:
    owner = create_customer()
    sign_in_on_page(visitor, owner.email)
    data(create_signed_in_client(client, owner).delete("/api/auth/sessions/others"))
    assert visitor.open(ACCOUNT).status_code == 303


def test_no_address_or_password_in_addresses_and_logs(visitor: Visitor, caplog: pytest.LogCaptureFixture) -> None:
    email = create_customer().email
    caplog.set_level("DEBUG")
    caplog.clear()
    pages = [sign_in_on_page(visitor, email, "wrong"), sign_in_on_page(visitor, email)]
    for secret in (email, PASSWORD, str(read_cookie(visitor))):
        assert secret not in caplog.text
    assert all(not step.request.query_string for page in pages for step in (page, *page.history))
