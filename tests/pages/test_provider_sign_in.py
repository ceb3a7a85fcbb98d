"""Signing in with Apple or Google in a browser: the way there, and the form that comes back."""

import json
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from flask import Flask
from pytest_httpserver import HTTPServer
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.core.db import db
from tests.clients.identity_provider import IdentityProvider
from tests.factories.accounts import create_account, create_customer, create_signed_in_client
from tests.http import Client
from tests.pages.pages import Visitor
from tests.teams.test_members import find_token, invite

HOST = "festival.example"
BASE = f"https://{HOST}"
COOKIE = "__Host-provider-sign-in"


def configure(app: Flask, provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch) -> IdentityProvider:
    prefix = provider.name.upper()
    settings = replace(
        app.extensions["settings"],
        PUBLIC_BASE_URL=BASE,
        **{
            f"{prefix}_CLIENT_IDS": ["another-client", provider.audience],
            f"{prefix}_WEB_CLIENT_ID": provider.audience,
            f"{prefix}_JWKS_URL": provider.jwks_url,
        },
    )
    monkeypatch.setitem(app.extensions, "settings", settings)
    monkeypatch.setitem(app.config, "SESSION_COOKIE_SECURE", False)
    app.extensions.pop("identity_verifiers", None)
    return provider


@pytest.fixture(params=["google", "apple"])
def provider(
    request: pytest.FixtureRequest, app: Flask, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[IdentityProvider]:
    yield configure(app, IdentityProvider(httpserver, request.param), monkeypatch)
    app.extensions.pop("identity_verifiers", None)


@pytest.fixture
def browser(app: Flask) -> Visitor:
    return Visitor(app.test_client(), {"base_url": BASE})


def go_to(browser: Visitor, provider: IdentityProvider, query: str = "") -> dict[str, str]:
    """The parameters that the provider gets."""
    location = urlsplit(browser.open(f"/sign-in/{provider.name}{query}").headers["Location"])
    assert location.hostname in ("accounts.google.com", "appleid.apple.com")
    return {name: values[0] for name, values in parse_qs(location.query).items()}


def come_back(browser: Visitor, provider: IdentityProvider, **form: str) -> TestResponse:
    return browser.flask.post(f"/sign-in/{provider.name}", data=form, base_url=BASE)


def count_sessions() -> int:
    return int(db.session.scalar(text("SELECT count(*) FROM account_session WHERE kind = 'console'")) or 0)


def test_the_button_is_there_where_the_provider_is_configured(
    browser: Visitor, visitor: Visitor, provider: IdentityProvider
) -> None:
    assert f'href="/sign-in/{provider.name}"' in browser.open("/sign-in").text
    other = "apple" if provider.name == "google" else "google"
    assert f"/sign-in/{other}" not in browser.page.text
    assert browser.open(f"/sign-in/{other}").status_code == 404


def test_without_a_web_client_there_is_no_button(visitor: Visitor) -> None:
    assert "Sign in with" not in visitor.open("/sign-in").text
    assert visitor.open("/sign-in/google").status_code == 404


def test_the_way_to_the_provider_names_client_nonce_and_state(browser: Visitor, provider: IdentityProvider) -> None:
    asked = go_to(browser, provider)
    assert asked["client_id"] == provider.audience and asked["response_mode"] == "form_post"
    assert asked["redirect_uri"] == f"{BASE}/sign-in/{provider.name}"
    assert "id_token" in asked["response_type"] and len(asked["nonce"]) == 43
    (cookie,) = browser.page.headers.getlist("Set-Cookie")
    assert cookie.startswith(f"{COOKIE}=")
    assert {"Secure", "HttpOnly", "SameSite=None", "Path=/", "Max-Age=600"} <= set(cookie.split("; "))


def test_a_new_person_is_signed_in_and_goes_where_they_wanted(browser: Visitor, provider: IdentityProvider) -> None:
    asked = go_to(browser, provider, "?next=/account/sessions")
    user = json.dumps({"name": {"firstName": "Ada", "lastName": "Shikongo"}})
    answer = come_back(
        browser, provider, state=asked["state"], id_token=provider.token(nonce=asked["nonce"], name=None), user=user
    )
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account/sessions")
    page = browser.open("/account/sessions")
    assert page.status_code == 200 and "Ada Shikongo" in page.text


def test_an_invited_person_joins_a_team_with_one_press(
    client: Client, browser: Visitor, provider: IdentityProvider
) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    invite(owner, "ada@example.test", "door")
    path = f"/join/{find_token('ada@example.test')}"
    browser.open(path)
    browser.open(f"/sign-in?next={path}")
    assert f'href="/sign-in/{provider.name}?next={path}"' in browser.page.text
    asked = go_to(browser, provider, f"?next={path}")
    answer = come_back(browser, provider, state=asked["state"], id_token=provider.token(nonce=asked["nonce"]))
    assert answer.headers["Location"] == path
    browser.open(path)
    assert "Welcome to the team." in browser.send(form=1).text


def test_a_verified_account_with_the_same_address_is_signed_in(browser: Visitor, provider: IdentityProvider) -> None:
    owner = create_customer(email="ada@example.test")
    asked = go_to(browser, provider)
    come_back(browser, provider, state=asked["state"], id_token=provider.token(nonce=asked["nonce"]))
    assert owner.name in browser.open("/account").text


def test_a_form_counts_once(browser: Visitor, provider: IdentityProvider) -> None:
    asked = go_to(browser, provider)
    secret = browser.flask.get_cookie(COOKIE, domain=HOST)
    assert secret is not None
    form = {"state": asked["state"], "id_token": provider.token(nonce=asked["nonce"])}
    come_back(browser, provider, **form)
    assert come_back(browser, provider, **form).status_code == 400
    browser.flask.set_cookie(COOKIE, secret.value, domain=HOST)
    answer = come_back(browser, provider, **form)
    assert answer.status_code == 401 and "Please start again." in answer.text
    assert count_sessions() == 1


def test_a_form_of_another_browser_signs_nobody_in(app: Flask, browser: Visitor, provider: IdentityProvider) -> None:
    """A stranger must not sign a visitor in to the stranger's account."""
    stranger = Visitor(app.test_client(), {"base_url": BASE})
    theirs = go_to(stranger, provider)
    form = {"state": theirs["state"], "id_token": provider.token(nonce=theirs["nonce"])}
    assert come_back(browser, provider, **form).status_code == 400
    asked = go_to(browser, provider)
    assert come_back(browser, provider, **form).status_code == 400
    answer = come_back(browser, provider, **{**form, "state": asked["state"]})
    assert answer.status_code == 401
    assert count_sessions() == 0


@pytest.mark.parametrize("state", ["", "x", "é", "a b.c.d"])
def test_a_form_without_its_state_signs_nobody_in(browser: Visitor, provider: IdentityProvider, state: str) -> None:
    asked = go_to(browser, provider)
    answer = come_back(browser, provider, state=state, id_token=provider.token(nonce=asked["nonce"]))
    assert answer.status_code == 400 and 'href="/sign-in"' in answer.text
    assert count_sessions() == 0


def test_a_form_after_ten_minutes_signs_nobody_in(browser: Visitor, provider: IdentityProvider) -> None:
    with time_machine.travel(0, tick=False) as clock:
        asked = go_to(browser, provider)
        clock.shift(601)
        answer = come_back(browser, provider, state=asked["state"], id_token="x")
    assert answer.status_code == 400


def test_who_declines_at_the_provider_is_back_at_the_form(browser: Visitor, provider: IdentityProvider) -> None:
    asked = go_to(browser, provider)
    answer = come_back(browser, provider, state=asked["state"], error="access_denied")
    assert answer.headers["Location"] == "/sign-in"


def test_an_address_that_the_provider_has_not_verified_says_so(browser: Visitor, provider: IdentityProvider) -> None:
    asked = go_to(browser, provider)
    token = provider.token(nonce=asked["nonce"], email_verified=False)
    answer = come_back(browser, provider, state=asked["state"], id_token=token)
    assert answer.status_code == 409 and "has not confirmed your e-mail address" in answer.text


def test_the_next_page_is_one_of_this_site(browser: Visitor, provider: IdentityProvider) -> None:
    asked = go_to(browser, provider, "?next=//evil.example")
    answer = come_back(browser, provider, state=asked["state"], id_token=provider.token(nonce=asked["nonce"]))
    assert answer.headers["Location"] == "/account"
