"""Signing in with Apple and Google, against a provider of our own over HTTP."""

from collections.abc import Iterator

import pytest
from flask import Flask
from pytest_httpserver import HTTPServer

from app.accounts.models import Account
from app.config import Settings
from app.core.db import db
from tests.clients.identity_provider import IdentityProvider
from tests.factories.accounts import PASSWORD, customer, mails_to, sign_in, signed_in
from tests.http import Client, data, refusal
from tests.races import at_once
from tests.settings import settings_for

ADDRESS = "frieda@example.com"


@pytest.fixture
def google(app: Flask, httpserver: HTTPServer) -> Iterator[IdentityProvider]:
    yield from _configured(app, IdentityProvider(httpserver, "google"))


@pytest.fixture
def apple(app: Flask, httpserver: HTTPServer) -> Iterator[IdentityProvider]:
    yield from _configured(app, IdentityProvider(httpserver, "apple"))


def _configured(app: Flask, provider: IdentityProvider) -> Iterator[IdentityProvider]:
    usual: Settings = app.extensions["settings"]
    app.extensions.pop("identity_verifiers", None)
    app.extensions["settings"] = settings_for(
        database_url=usual.DATABASE_URL, redis_url=usual.REDIS_URL, data_dir=usual.DATA_DIR, **provider.settings
    )
    yield provider
    app.extensions["settings"] = usual
    app.extensions.pop("identity_verifiers", None)


def by_google(client: Client, token: str, **more: str) -> object:
    return client.post("/api/auth/google", {"id_token": token, **more})


def test_a_new_person_gets_a_customers_account(client: Client, google: IdentityProvider) -> None:
    found = data(by_google(client, google.token(sub="g-1", email="Frieda@Example.com", name="Frieda A")))
    assert found["user"]["email"] == ADDRESS and found["user"]["roles"] == ["customer"]
    me = data(client.as_(found["accessToken"]).get("/api/auth/me"))
    assert me["emailVerified"] is True and me["name"] == "Frieda A"


def test_apple_sends_the_name_beside_the_token(client: Client, apple: IdentityProvider) -> None:
    token = apple.token(sub="a-1", email=ADDRESS, email_verified="true", name=None)
    body = {"identity_token": token, "full_name": "Frieda Amupolo", "email": "victim@example.com"}
    found = data(client.post("/api/auth/apple", body))
    assert found["user"]["name"] == "Frieda Amupolo" and found["user"]["email"] == ADDRESS


def test_a_known_subject_signs_in_whatever_the_address_says_now(client: Client, google: IdentityProvider) -> None:
    first = data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    second = data(by_google(client, google.token(sub="g-1", email="moved@example.com")))
    assert first["user"]["id"] == second["user"]["id"]


def test_a_verified_address_links_to_its_verified_account(client: Client, google: IdentityProvider) -> None:
    owner = customer(email=ADDRESS)
    found = data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    assert found["user"]["id"] == owner.id and sign_in(client, ADDRESS, PASSWORD)
    assert "linked" in mails_to(ADDRESS)[0]["subject"]


def test_an_unverified_account_is_taken_over_by_whom_the_provider_vouches_for(
    client: Client, google: IdentityProvider
) -> None:
    squatter = customer(email=ADDRESS, verified=False)
    before = signed_in(client, squatter)
    found = data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    assert found["user"]["id"] == squatter.id
    assert refusal(before.get("/api/auth/me")) == (401, "SESSION_ENDED")
    old = client.post("/api/auth/login", {"email": ADDRESS, "password": PASSWORD})
    assert refusal(old) == (401, "INVALID_CREDENTIALS")


def test_an_unverified_address_of_the_provider_links_to_nothing(client: Client, google: IdentityProvider) -> None:
    customer(email=ADDRESS)
    answer = by_google(client, google.token(sub="g-1", email=ADDRESS, email_verified=False))
    assert refusal(answer) == (409, "EMAIL_NOT_VERIFIED_BY_PROVIDER")


def test_a_signed_in_caller_links_his_account(client: Client, google: IdentityProvider) -> None:
    owner = customer(email=ADDRESS)
    token = google.token(sub="g-1", email="other@example.com")
    found = data(by_google(signed_in(client, owner), token))
    assert found["user"]["id"] == owner.id
    again = data(by_google(client, google.token(sub="g-1", email="other@example.com")))
    assert again["user"]["id"] == owner.id


def test_a_subject_of_somebody_else_is_not_linked(client: Client, google: IdentityProvider) -> None:
    data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    caller = signed_in(client, customer())
    answer = by_google(caller, google.token(sub="g-1", email=ADDRESS))
    assert refusal(answer) == (409, "IDENTITY_LINKED_ELSEWHERE")


def test_a_token_counts_once(client: Client, google: IdentityProvider) -> None:
    token = google.token(sub="g-1", email=ADDRESS)
    assert data(by_google(client, token))
    assert refusal(by_google(client, token)) == (401, "IDENTITY_REJECTED")


def test_a_nonce_that_was_asked_for_must_be_in_the_token(client: Client, google: IdentityProvider) -> None:
    assert refusal(by_google(client, google.token(sub="g-1", email=ADDRESS, nonce="n-1"), nonce="n-2"))[0] == 401
    assert data(by_google(client, google.token(sub="g-1", email=ADDRESS, nonce="n-1"), nonce="n-1"))


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-app"},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"sub": None},
        {"email_verified": None, "iat": 1},
    ],
)
def test_a_token_that_is_not_for_us_is_401(client: Client, google: IdentityProvider, claims: dict[str, object]) -> None:
    token = google.token(**{"sub": "g-1", "email": ADDRESS, **claims})
    answer = by_google(client, token)
    assert refusal(answer) == (401, "IDENTITY_REJECTED") and answer.headers["WWW-Authenticate"] == "Bearer"
    assert db.session.query(Account).count() == 0


def test_an_outage_with_cached_keys_goes_unnoticed(client: Client, google: IdentityProvider) -> None:
    assert data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    google.down()
    assert data(by_google(client, google.token(sub="g-1", email=ADDRESS)))


def test_an_outage_before_the_first_key_is_503(client: Client, google: IdentityProvider) -> None:
    google.down()
    answer = by_google(client, google.token(sub="g-1", email=ADDRESS))
    assert refusal(answer) == (503, "PROVIDER_UNAVAILABLE") and answer.headers["Retry-After"]


def test_a_provider_that_is_not_set_up_is_503(client: Client) -> None:
    assert refusal(by_google(client, "a.b.c")) == (503, "PROVIDER_NOT_CONFIGURED")


def test_sixteen_first_sign_ins_at_once_make_one_account(client: Client, google: IdentityProvider) -> None:
    tokens = [google.token(sub="g-1", email=ADDRESS) for _ in range(16)]
    answers = at_once(16, lambda number: by_google(client, tokens[number]))
    assert {answer.status_code for answer in answers} == {200}
    assert len({data(answer)["user"]["id"] for answer in answers}) == 1
