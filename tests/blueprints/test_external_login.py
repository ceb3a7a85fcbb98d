"""Signing in with Apple and Google, with a test provider over HTTP."""

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
from app.core.db import ReadOrWriteSession, db
from app.core.transaction import transaction
from tests.clients.identity_provider import IdentityProvider
from tests.factories.accounts import PASSWORD, create_customer, create_signed_in_client, list_mails_to, sign_in
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently
from tests.settings import settings_for

ADDRESS = "frieda@example.com"


@pytest.fixture
def google(app: Flask, httpserver: HTTPServer) -> Iterator[IdentityProvider]:
    yield from configure_provider(app, IdentityProvider(httpserver, "google"))


@pytest.fixture
def apple(app: Flask, httpserver: HTTPServer) -> Iterator[IdentityProvider]:
    yield from configure_provider(app, IdentityProvider(httpserver, "apple"))


def configure_provider(app: Flask, provider: IdentityProvider) -> Iterator[IdentityProvider]:
    original_settings: Settings = app.extensions["settings"]
    app.extensions.pop("identity_verifiers", None)
    app.extensions["settings"] = settings_for(
        database_url=original_settings.DATABASE_URL,
        redis_url=original_settings.REDIS_URL,
        data_dir=original_settings.DATA_DIR,
        **provider.settings,
    )
    yield provider
    app.extensions["settings"] = original_settings
    app.extensions.pop("identity_verifiers", None)


def sign_in_by_google(client: Client, token: str, **fields: str) -> object:
    return client.post("/api/auth/google", {"id_token": token, **fields})


def test_new_identity_creates_a_customer_account(client: Client, google: IdentityProvider) -> None:
    login = data(sign_in_by_google(client, google.token(sub="g-1", email="Frieda@Example.com", name="Frieda A")))
    assert login["user"]["email"] == ADDRESS and login["user"]["roles"] == ["customer"]
    me = data(client.as_(login["accessToken"]).get("/api/auth/me"))
    assert me["emailVerified"] is True and me["name"] == "Frieda A"


def test_apple_name_comes_from_the_request(client: Client, apple: IdentityProvider) -> None:
    token = apple.token(sub="a-1", email=ADDRESS, email_verified="true", name=None)
    body = {"identity_token": token, "full_name": "Frieda Amupolo", "email": "victim@example.com"}
    login = data(client.post("/api/auth/apple", body))
    assert login["user"]["name"] == "Frieda Amupolo" and login["user"]["email"] == ADDRESS


def test_linked_identity_signs_in_with_any_address(client: Client, google: IdentityProvider) -> None:
    first = data(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS)))
    second = data(sign_in_by_google(client, google.token(sub="g-1", email="moved@example.com")))
    assert first["user"]["id"] == second["user"]["id"]


def test_verified_address_links_to_verified_account(client: Client, google: IdentityProvider) -> None:
    owner = create_customer(email=ADDRESS)
    login = data(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS)))
    assert login["user"]["id"] == owner.id and sign_in(client, ADDRESS, PASSWORD)
    assert "linked" in list_mails_to(ADDRESS)[0]["subject"]


def test_a_verified_provider_address_retires_an_unverified_account(client: Client, google: IdentityProvider) -> None:
    squatter = create_customer(email=ADDRESS, verified=False)
    old_client = create_signed_in_client(client, squatter)
    login = data(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS)))
    assert login["user"]["id"] != squatter.id and login["user"]["email"] == ADDRESS
    assert read_error(old_client.get("/api/auth/me")) == (401, "SESSION_ENDED")
    response = client.post("/api/auth/login", {"email": ADDRESS, "password": PASSWORD})
    assert read_error(response) == (401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize("known", [True, False])
def test_unverified_provider_address_creates_no_account(client: Client, google: IdentityProvider, known: bool) -> None:
    if known:
        create_customer(email=ADDRESS)
    response = sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS, email_verified=False))
    assert read_error(response) == (409, "EMAIL_NOT_VERIFIED_BY_PROVIDER")
    assert db.session.query(Account).count() == known


def test_an_unverified_account_links_nothing(client: Client, google: IdentityProvider) -> None:
    caller = create_signed_in_client(client, create_customer(email=ADDRESS, verified=False))
    response = sign_in_by_google(caller, google.token(sub="g-1", email="squatter@example.com"))
    assert read_error(response) == (403, "EMAIL_NOT_VERIFIED")
    assert data(caller.get("/api/auth/identities")) == {"identities": []}


def test_identities_are_listed_and_unlinked(client: Client, google: IdentityProvider) -> None:
    owner = create_customer(email=ADDRESS)
    caller, other = create_signed_in_client(client, owner), create_signed_in_client(client, owner)
    data(sign_in_by_google(caller, google.token(sub="g-1", email=ADDRESS)))
    (identity,) = data(caller.get("/api/auth/identities"))["identities"]
    assert identity["provider"] == "google" and identity["linkedAt"].endswith("Z")
    assert read_error(caller.delete("/api/auth/identities/apple")) == (404, "NOT_FOUND")
    assert data(caller.delete("/api/auth/identities/google")) == {}
    assert data(caller.get("/api/auth/identities")) == {"identities": []}
    assert read_error(other.get("/api/auth/me")) == (401, "SESSION_ENDED"), "sessions of the identity have ended"
    assert "removed" in list_mails_to(ADDRESS)[0]["subject"]


def test_last_sign_in_method_cannot_be_removed(client: Client, google: IdentityProvider) -> None:
    login = data(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS)))
    caller = client.as_(login["accessToken"])
    assert read_error(caller.delete("/api/auth/identities/google")) == (409, "LAST_SIGN_IN_METHOD")
    assert len(data(caller.get("/api/auth/identities"))["identities"]) == 1


def create_passwordless_caller(client: Client) -> Client:
    """A caller without a password, with Google and Apple linked."""
    owner = create_customer(email=ADDRESS, password_hash=None)
    with transaction() as session:
        for provider in ("google", "apple"):
            session.add(ExternalIdentity(provider=provider, subject=f"{provider}-1", account_id=owner.id))
    return create_signed_in_client(client, owner)


def unlink_concurrently(client: Client) -> list[int]:
    caller, providers = create_passwordless_caller(client), ["google", "apple"]
    return sorted(
        response.status_code
        for response in run_concurrently(2, lambda number: caller.delete(f"/api/auth/identities/{providers[number]}"))
    )


def test_concurrent_unlinks_keep_one_identity(client: Client) -> None:
    assert unlink_concurrently(client) == [200, 409]


@pytest.mark.control
def test_without_lock_both_identities_are_unlinked(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    barrier = Barrier(2)

    def check_without_lock(session: Session, account: Account) -> bool:
        has_identity = bool(
            session.scalar(text("SELECT 1 FROM external_identity WHERE account_id = :id"), {"id": account.id})
        )
        barrier.wait(90)
        return has_identity

    original_get_one = ReadOrWriteSession.get_one
    monkeypatch.setattr(
        ReadOrWriteSession, "get_one", lambda *arguments, with_for_update=None: original_get_one(*arguments)
    )
    monkeypatch.setattr(external_login, "_has_identity", check_without_lock)
    monkeypatch.setattr(external_login.sessions, "end_all_sessions", lambda *_, **__: None)
    assert unlink_concurrently(client) == [200, 200]


def test_signed_in_caller_links_own_account(client: Client, google: IdentityProvider) -> None:
    owner = create_customer(email=ADDRESS)
    token = google.token(sub="g-1", email="other@example.com")
    login = data(sign_in_by_google(create_signed_in_client(client, owner), token))
    assert login["user"]["id"] == owner.id
    second_login = data(sign_in_by_google(client, google.token(sub="g-1", email="other@example.com")))
    assert second_login["user"]["id"] == owner.id


def test_ended_session_links_nothing(client: Client, google: IdentityProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reset ends the session while the request to link waits for the provider's keys."""
    owner = create_customer()
    original_verify = external_login.verify_identity_token

    def verify_and_reset(*arguments: Any, **fields: Any) -> Any:
        identity = original_verify(*arguments, **fields)
        with transaction() as session:
            sessions.end_all_sessions(session, owner.id, "password_reset")
        return identity

    monkeypatch.setattr(external_login, "verify_identity_token", verify_and_reset)
    response = create_signed_in_client(client, owner).post("/api/auth/google", {"id_token": google.token()})
    assert read_error(response) == (401, "INVALID_CREDENTIALS")
    assert db.session.query(ExternalIdentity).count() == 0


def sign_in_during_an_unlinking(
    client: Client, google: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int]:
    """The statuses of a sign-in whose identity is unlinked after its lookup, and of the unlinking."""
    caller, original_create, lookup_done = (
        create_signed_in_client(client, create_customer(email=ADDRESS)),
        sessions.create_session,
        Event(),
    )
    data(sign_in_by_google(caller, google.token(sub="g-1", email=ADDRESS)))
    token = google.token(sub="g-1", email="other@example.com")

    def create_slowly(*arguments: Any) -> Any:
        lookup_done.set()
        time.sleep(0.5)
        return original_create(*arguments)

    def run(number: int) -> Any:
        if number == 0:
            return sign_in_by_google(client, token)
        assert lookup_done.wait(90)
        return caller.delete("/api/auth/identities/google")

    monkeypatch.setattr(sessions, "create_session", create_slowly)
    login_response, unlink_response = run_concurrently(2, run)
    return login_response.status_code, unlink_response.status_code


def test_sign_in_during_unlinking_creates_no_session(
    client: Client, google: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sign_in_during_an_unlinking(client, google, monkeypatch) == (401, 200)


@pytest.mark.control
def test_without_second_check_sign_in_during_unlinking_succeeds(
    client: Client, google: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_login, "_check_still_linked", lambda *arguments: None)
    assert sign_in_during_an_unlinking(client, google, monkeypatch) == (200, 200)


def test_identity_of_another_account_is_not_linked(client: Client, google: IdentityProvider) -> None:
    data(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS)))
    caller = create_signed_in_client(client, create_customer())
    response = sign_in_by_google(caller, google.token(sub="g-1", email=ADDRESS))
    assert read_error(response) == (409, "IDENTITY_LINKED_ELSEWHERE")


def test_identity_token_works_once(client: Client, google: IdentityProvider) -> None:
    token = google.token(sub="g-1", email=ADDRESS)
    assert data(sign_in_by_google(client, token))
    assert read_error(sign_in_by_google(client, token)) == (401, "IDENTITY_REJECTED")


def test_nonce_of_the_token_must_be_sent(client: Client, google: IdentityProvider) -> None:
    token = google.token(sub="g-1", email=ADDRESS, nonce="n-1")
    assert list_problems(sign_in_by_google(client, token)) == {"nonce": "required"}
    assert data(sign_in_by_google(client, token, nonce="n-1")), "the refused request has not used the token"


def test_sent_nonce_must_be_in_the_token(client: Client, google: IdentityProvider) -> None:
    assert read_error(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS), nonce="n-1"))[0] == 401
    assert (
        read_error(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS, nonce="n-1"), nonce="n-2"))[0]
        == 401
    )
    assert data(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS, nonce="n-1"), nonce="n-1"))


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
    response = sign_in_by_google(client, token)
    assert read_error(response) == (401, "IDENTITY_REJECTED") and response.headers["WWW-Authenticate"] == "Bearer"
    assert db.session.query(Account).count() == 0


def test_cached_keys_work_during_an_outage(client: Client, google: IdentityProvider) -> None:
    assert data(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS)))
    google.down()
    assert data(sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS)))


def test_an_outage_before_the_first_key_is_503(client: Client, google: IdentityProvider) -> None:
    google.down()
    response = sign_in_by_google(client, google.token(sub="g-1", email=ADDRESS))
    assert read_error(response) == (503, "PROVIDER_UNAVAILABLE") and response.headers["Retry-After"]


def test_provider_without_settings_is_503(client: Client) -> None:
    assert read_error(sign_in_by_google(client, "a.b.c")) == (503, "PROVIDER_NOT_CONFIGURED")


def test_concurrent_first_sign_ins_create_one_account(client: Client, google: IdentityProvider) -> None:
    tokens = [google.token(sub="g-1", email=ADDRESS) for _ in range(16)]
    responses = run_concurrently(16, lambda number: sign_in_by_google(client, tokens[number]))
    assert {response.status_code for response in responses} == {200}
    assert len({data(response)["user"]["id"] for response in responses}) == 1
