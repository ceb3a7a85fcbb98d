"""Signing in with Apple and Google, against a provider of our own over HTTP."""

import time
from collections.abc import Iterator
from threading import Barrier, Event
from typing import Any

import pytest
from flask import Flask
from pytest_httpserver import HTTPServer
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.accounts import sessions
from app.accounts.actions import external_login
from app.accounts.models import Account, ExternalIdentity
from app.config import Settings
from app.core.db import db
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction
from tests.clients.identity_provider import IdentityProvider
from tests.factories.accounts import PASSWORD, customer, mails_to, sign_in, signed_in
from tests.http import Client, data, problems, refusal
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


def test_new_identity_creates_a_customer_account(client: Client, google: IdentityProvider) -> None:
    found = data(by_google(client, google.token(sub="g-1", email="Frieda@Example.com", name="Frieda A")))
    assert found["user"]["email"] == ADDRESS and found["user"]["roles"] == ["customer"]
    me = data(client.as_(found["accessToken"]).get("/api/auth/me"))
    assert me["emailVerified"] is True and me["name"] == "Frieda A"


def test_apple_name_comes_from_the_request(client: Client, apple: IdentityProvider) -> None:
    token = apple.token(sub="a-1", email=ADDRESS, email_verified="true", name=None)
    body = {"identity_token": token, "full_name": "Frieda Amupolo", "email": "victim@example.com"}
    found = data(client.post("/api/auth/apple", body))
    assert found["user"]["name"] == "Frieda Amupolo" and found["user"]["email"] == ADDRESS


def test_linked_identity_signs_in_with_any_address(client: Client, google: IdentityProvider) -> None:
    first = data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    second = data(by_google(client, google.token(sub="g-1", email="moved@example.com")))
    assert first["user"]["id"] == second["user"]["id"]


def test_verified_address_links_to_verified_account(client: Client, google: IdentityProvider) -> None:
    owner = customer(email=ADDRESS)
    found = data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    assert found["user"]["id"] == owner.id and sign_in(client, ADDRESS, PASSWORD)
    assert "linked" in mails_to(ADDRESS)[0]["subject"]


def test_a_verified_provider_address_retires_an_unverified_account(client: Client, google: IdentityProvider) -> None:
    squatter = customer(email=ADDRESS, verified=False)
    before = signed_in(client, squatter)
    found = data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    assert found["user"]["id"] != squatter.id and found["user"]["email"] == ADDRESS
    assert refusal(before.get("/api/auth/me")) == (401, "SESSION_ENDED")
    old = client.post("/api/auth/login", {"email": ADDRESS, "password": PASSWORD})
    assert refusal(old) == (401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize("known", [True, False])
def test_unverified_provider_address_creates_no_account(client: Client, google: IdentityProvider, known: bool) -> None:
    if known:
        customer(email=ADDRESS)
    answer = by_google(client, google.token(sub="g-1", email=ADDRESS, email_verified=False))
    assert refusal(answer) == (409, "EMAIL_NOT_VERIFIED_BY_PROVIDER")
    assert db.session.query(Account).count() == known


def test_an_unverified_account_links_nothing(client: Client, google: IdentityProvider) -> None:
    caller = signed_in(client, customer(email=ADDRESS, verified=False))
    answer = by_google(caller, google.token(sub="g-1", email="squatter@example.com"))
    assert refusal(answer) == (403, "EMAIL_NOT_VERIFIED")
    assert data(caller.get("/api/auth/identities")) == {"identities": []}


def test_identities_are_listed_and_unlinked(client: Client, google: IdentityProvider) -> None:
    owner = customer(email=ADDRESS)
    caller, other = signed_in(client, owner), signed_in(client, owner)
    data(by_google(caller, google.token(sub="g-1", email=ADDRESS)))
    (linked,) = data(caller.get("/api/auth/identities"))["identities"]
    assert linked["provider"] == "google" and linked["linkedAt"].endswith("Z")
    assert refusal(caller.delete("/api/auth/identities/apple")) == (404, "NOT_FOUND")
    assert data(caller.delete("/api/auth/identities/google")) == {}
    assert data(caller.get("/api/auth/identities")) == {"identities": []}
    assert refusal(other.get("/api/auth/me")) == (401, "SESSION_ENDED"), "anyone who came by the identity is out"
    assert "removed" in mails_to(ADDRESS)[0]["subject"]


def test_last_sign_in_method_cannot_be_removed(client: Client, google: IdentityProvider) -> None:
    found = data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    caller = client.as_(found["accessToken"])
    assert refusal(caller.delete("/api/auth/identities/google")) == (409, "LAST_SIGN_IN_METHOD")
    assert len(data(caller.get("/api/auth/identities"))["identities"]) == 1


def passwordless(client: Client) -> Client:
    """A caller without a password, with Google and Apple linked."""
    owner = customer(email=ADDRESS, password_hash=None)
    with transaction() as session:
        for provider in ("google", "apple"):
            session.add(ExternalIdentity(provider=provider, subject=f"{provider}-1", account_id=owner.id))
    return signed_in(client, owner)


def unlinked_at_once(client: Client) -> list[int]:
    caller, providers = passwordless(client), ["google", "apple"]
    return sorted(
        answer.status_code
        for answer in at_once(2, lambda number: caller.delete(f"/api/auth/identities/{providers[number]}"))
    )


def test_concurrent_unlinks_keep_one_identity(client: Client) -> None:
    assert unlinked_at_once(client) == [200, 409]


@pytest.mark.control
def test_without_lock_both_identities_are_unlinked(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    meet = Barrier(2)

    def look_unlocked(session: Session, account: Account) -> bool:
        left = bool(session.scalar(text("SELECT 1 FROM external_identity WHERE account_id = :id"), {"id": account.id}))
        meet.wait(5)
        return left

    unlocked = ReadOrWriteSession.get_one
    monkeypatch.setattr(ReadOrWriteSession, "get_one", lambda *them, with_for_update=None: unlocked(*them))
    monkeypatch.setattr(external_login, "_has_identity", look_unlocked)
    monkeypatch.setattr(external_login.sessions, "end_all_sessions", lambda *_, **__: None)
    assert unlinked_at_once(client) == [200, 200]


def test_signed_in_caller_links_own_account(client: Client, google: IdentityProvider) -> None:
    owner = customer(email=ADDRESS)
    token = google.token(sub="g-1", email="other@example.com")
    found = data(by_google(signed_in(client, owner), token))
    assert found["user"]["id"] == owner.id
    again = data(by_google(client, google.token(sub="g-1", email="other@example.com")))
    assert again["user"]["id"] == owner.id


def test_ended_session_links_nothing(client: Client, google: IdentityProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reset ends the session of a stranger, whose request to link waits for the provider's keys."""
    owner = customer()
    check = external_login.verify_identity_token

    def reset_meanwhile(*given: Any, **more: Any) -> Any:
        identity = check(*given, **more)
        with transaction() as session:
            sessions.end_all_sessions(session, owner.id, "password_reset")
        return identity

    monkeypatch.setattr(external_login, "verify_identity_token", reset_meanwhile)
    answer = signed_in(client, owner).post("/api/auth/google", {"id_token": google.token()})
    assert refusal(answer) == (401, "INVALID_CREDENTIALS")
    assert db.session.query(ExternalIdentity).count() == 0


def sign_in_during_an_unlinking(
    client: Client, google: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int]:
    """The answers to a sign-in that has looked the identity up when it is unlinked, and to the unlinking."""
    caller, begin, looked_up = signed_in(client, customer(email=ADDRESS)), sessions.create_session, Event()
    data(by_google(caller, google.token(sub="g-1", email=ADDRESS)))
    token = google.token(sub="g-1", email="other@example.com")

    def begin_slowly(*about: Any) -> Any:
        looked_up.set()
        time.sleep(0.5)
        return begin(*about)

    def act(number: int) -> Any:
        if number == 0:
            return by_google(client, token)
        assert looked_up.wait(10)
        return caller.delete("/api/auth/identities/google")

    monkeypatch.setattr(sessions, "create_session", begin_slowly)
    signing_in, unlinking = at_once(2, act)
    return signing_in.status_code, unlinking.status_code


def test_sign_in_during_unlinking_creates_no_session(
    client: Client, google: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sign_in_during_an_unlinking(client, google, monkeypatch) == (401, 200)


@pytest.mark.control
def test_without_second_check_sign_in_during_unlinking_succeeds(
    client: Client, google: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_login, "_check_still_linked", lambda *about: None)
    assert sign_in_during_an_unlinking(client, google, monkeypatch) == (200, 200)


def test_identity_of_another_account_is_not_linked(client: Client, google: IdentityProvider) -> None:
    data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    caller = signed_in(client, customer())
    answer = by_google(caller, google.token(sub="g-1", email=ADDRESS))
    assert refusal(answer) == (409, "IDENTITY_LINKED_ELSEWHERE")


def test_identity_token_works_once(client: Client, google: IdentityProvider) -> None:
    token = google.token(sub="g-1", email=ADDRESS)
    assert data(by_google(client, token))
    assert refusal(by_google(client, token)) == (401, "IDENTITY_REJECTED")


def test_nonce_of_the_token_must_be_sent(client: Client, google: IdentityProvider) -> None:
    token = google.token(sub="g-1", email=ADDRESS, nonce="n-1")
    assert problems(by_google(client, token)) == {"nonce": "required"}
    assert data(by_google(client, token, nonce="n-1")), "the refusal has not used the token up"


def test_sent_nonce_must_be_in_the_token(client: Client, google: IdentityProvider) -> None:
    assert refusal(by_google(client, google.token(sub="g-1", email=ADDRESS), nonce="n-1"))[0] == 401
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
def test_invalid_identity_token_is_401(client: Client, google: IdentityProvider, claims: dict[str, object]) -> None:
    token = google.token(**{"sub": "g-1", "email": ADDRESS, **claims})
    answer = by_google(client, token)
    assert refusal(answer) == (401, "IDENTITY_REJECTED") and answer.headers["WWW-Authenticate"] == "Bearer"
    assert db.session.query(Account).count() == 0


def test_cached_keys_work_during_an_outage(client: Client, google: IdentityProvider) -> None:
    assert data(by_google(client, google.token(sub="g-1", email=ADDRESS)))
    google.down()
    assert data(by_google(client, google.token(sub="g-1", email=ADDRESS)))


def test_an_outage_before_the_first_key_is_503(client: Client, google: IdentityProvider) -> None:
    google.down()
    answer = by_google(client, google.token(sub="g-1", email=ADDRESS))
    assert refusal(answer) == (503, "PROVIDER_UNAVAILABLE") and answer.headers["Retry-After"]


def test_provider_without_settings_is_503(client: Client) -> None:
    assert refusal(by_google(client, "a.b.c")) == (503, "PROVIDER_NOT_CONFIGURED")


def test_concurrent_first_sign_ins_create_one_account(client: Client, google: IdentityProvider) -> None:
    tokens = [google.token(sub="g-1", email=ADDRESS) for _ in range(16)]
    answers = at_once(16, lambda number: by_google(client, tokens[number]))
    assert {answer.status_code for answer in answers} == {200}
    assert len({data(answer)["user"]["id"] for answer in answers}) == 1
