"""Signing in, failure limits, refreshing and signing out."""

import pytest
from sqlalchemy import text

from app.accounts.errors import InvalidCredentials
from app.accounts.models import Account, AccountSession
from app.accounts.sessions import create_session
from app.core.db import db
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, create_customer, create_signed_in_client, list_mails_to, sign_in
from tests.http import Client, data, read_error
from tests.races import run_concurrently


def age_sessions(column: str, interval: str) -> None:
    """Moves a time of every session into the past."""
    with transaction() as session:
        session.execute(text(f"UPDATE account_session SET {column} = {column} - interval '{interval}'"))


def refresh(client: Client, token: str) -> dict[str, object]:
    return data(client.post("/api/auth/refresh", {"refreshToken": token}))


def test_unknown_address_and_wrong_password_get_the_same_response(client: Client) -> None:
    create_customer(email="frieda@example.com")
    wrong = client.post("/api/auth/login", {"email": "frieda@example.com", "password": "wrong"}).get_json()
    unknown = client.post("/api/auth/login", {"email": "nobody@example.com", "password": "wrong"}).get_json()
    for body in (wrong, unknown):
        del body["timestamp"], body["requestId"]
    assert wrong == unknown and wrong["shortMessage"] == "INVALID_CREDENTIALS"


def test_refresh_returns_a_new_token(client: Client) -> None:
    first = sign_in(client, create_customer().email)
    second = refresh(client, first["refreshToken"])
    assert second["refreshToken"] != first["refreshToken"]
    third = refresh(client, str(second["refreshToken"]))
    data(client.as_(str(third["accessToken"])).get("/api/auth/me"))


def test_refresh_repeated_within_ten_seconds_returns_the_same_token(client: Client) -> None:
    first = sign_in(client, create_customer().email)
    successor = refresh(client, first["refreshToken"])["refreshToken"]
    assert refresh(client, first["refreshToken"])["refreshToken"] == successor


def test_refresh_token_reused_after_ten_seconds_ends_the_session(client: Client) -> None:
    owner = create_customer()
    first = sign_in(client, owner.email)
    second = refresh(client, first["refreshToken"])
    age_sessions("rotated_at", "11 seconds")
    reused = client.post("/api/auth/refresh", {"refreshToken": first["refreshToken"]})
    assert read_error(reused) == (401, "REFRESH_REUSED")
    later = client.post("/api/auth/refresh", {"refreshToken": second["refreshToken"]})
    assert later.status_code == 401
    assert read_error(client.as_(str(second["accessToken"])).get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert "signed out" in list_mails_to(owner.email)[0]["subject"]


def test_refresh_token_before_the_previous_one_ends_the_session(client: Client) -> None:
    first = sign_in(client, create_customer().email)
    second = refresh(client, first["refreshToken"])
    refresh(client, str(second["refreshToken"]))
    assert read_error(client.post("/api/auth/refresh", {"refreshToken": first["refreshToken"]}))[1] == "REFRESH_REUSED"


def test_invalid_refresh_tokens_are_refused(client: Client) -> None:
    valid_token = sign_in(client, create_customer().email)["refreshToken"]
    session_id, counter, mac = valid_token.split(".")
    forged_tokens = [
        "x",
        "a.b.c",
        f"{session_id}.1.{mac}",
        f"{session_id}.{counter}.{mac[:-1]}x",
        f"{'0' * 24}.0.{mac}",
        f"{session_id}.٠.{mac}",
        f"{session_id}.{'9' * 30}.{mac}",
        "\x00" * 40,
    ]
    for token in forged_tokens:
        assert client.post("/api/auth/refresh", {"refreshToken": token}).status_code == 401, token
    assert refresh(client, valid_token)


def test_concurrent_refreshes_return_one_token(client: Client) -> None:
    token = sign_in(client, create_customer().email)["refreshToken"]
    responses = run_concurrently(32, lambda _: client.post("/api/auth/refresh", {"refreshToken": token}))
    assert {response.status_code for response in responses} == {200}
    assert len({data(response)["refreshToken"] for response in responses}) == 1


def test_session_ends_thirty_days_after_last_use(client: Client) -> None:
    login_data = sign_in(client, create_customer().email)
    age_sessions("idle_until", "31 days")
    assert client.post("/api/auth/refresh", {"refreshToken": login_data["refreshToken"]}).status_code == 401
    assert read_error(client.as_(login_data["accessToken"]).get("/api/auth/me")) == (401, "SESSION_ENDED")


def test_session_ends_after_ninety_days(client: Client) -> None:
    login_data = sign_in(client, create_customer().email)
    age_sessions("ends_at", "90 days")
    assert client.post("/api/auth/refresh", {"refreshToken": login_data["refreshToken"]}).status_code == 401


def test_oldest_session_ends_over_limit(client: Client) -> None:
    owner = create_customer()
    tokens = [sign_in(client, owner.email)["accessToken"] for _ in range(21)]
    assert read_error(client.as_(tokens[0]).get("/api/auth/me")) == (401, "SESSION_ENDED")
    data(client.as_(tokens[1]).get("/api/auth/me"))
    active_sessions = db.session.query(AccountSession).filter(AccountSession.ended_at.is_(None)).count()
    assert active_sessions == 20


def test_logout_ends_access_and_refresh_tokens(client: Client) -> None:
    login_data = sign_in(client, create_customer().email)
    for _ in range(2):
        assert data(client.post("/api/auth/logout", {"refreshToken": login_data["refreshToken"]})) == {}
    assert read_error(client.as_(login_data["accessToken"]).get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert client.post("/api/auth/refresh", {"refreshToken": login_data["refreshToken"]}).status_code == 401
    assert data(client.post("/api/auth/logout", {"refreshToken": "never seen before"})) == {}


def test_eleventh_failure_is_throttled_and_owner_is_notified(client: Client) -> None:
    owner = create_customer()
    active_client = create_signed_in_client(client, owner)
    wrong = {"email": owner.email, "password": "wrong"}
    statuses = [client.post("/api/auth/login", wrong).status_code for _ in range(11)]
    assert statuses == [401] * 10 + [429]
    throttled = client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD})
    assert read_error(throttled) == (429, "RATE_LIMITED") and 0 < int(throttled.headers["Retry-After"]) <= 900
    data(active_client.get("/api/auth/me"))
    mails = [item for item in list_mails_to(owner.email) if "paused" in item["subject"]]
    assert len(mails) == 1 and "10 times" in mails[0]["text"]
    with transaction() as session:
        session.execute(text("UPDATE throttle SET ends_at = now()"))
    assert sign_in(client, owner.email)


def exhaust_network_limit(client: Client) -> None:
    """Uses up the failure limit of the network with unknown addresses."""
    statuses = {
        client.post("/api/auth/login", {"email": f"nobody{number}@example.com", "password": "wrong"}).status_code
        for number in range(50)
    }
    assert statuses == {401}


def new_browser(client: Client) -> Client:
    return Client(client.flask.application.test_client())


def login(client: Client, owner: Account, password: str = PASSWORD, **fields: str) -> int:
    return client.post("/api/auth/login", {"email": owner.email, "password": password, **fields}).status_code


def test_network_limit_does_not_apply_to_known_browser(client: Client) -> None:
    owner, browser = create_customer(), new_browser(client)
    response = browser.post("/api/auth/login", {"email": owner.email, "password": PASSWORD})
    cookie = response.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/api/auth/login" in cookie
    exhaust_network_limit(client)
    assert login(client, owner) == 429 and login(browser, owner) == 200
    assert login(browser, create_customer()) == 429, "a mark belongs to one account"


def test_network_limit_does_not_apply_to_app_with_refresh_token(client: Client) -> None:
    owner = create_customer()
    token = sign_in(new_browser(client), owner.email)["refreshToken"]
    data(client.post("/api/auth/logout", {"refreshToken": token}))
    exhaust_network_limit(client)
    assert login(client, owner) == 429
    assert login(new_browser(client), owner, refreshToken=token) == 200
    assert login(client, create_customer(), refreshToken=token) == 429, "a refresh token belongs to one account"
    assert login(client, owner, refreshToken=token[:-1] + "x") == 429


def test_failures_of_known_device_count_only_for_the_address(client: Client) -> None:
    owner, browser = create_customer(), new_browser(client)
    assert login(browser, owner) == 200
    assert [login(browser, owner, "wrong") for _ in range(11)] == [401] * 10 + [429]
    assert login(browser, owner) == 429, "the limit of the address applies to known devices"
    for _ in range(40):
        login(client, owner, "wrong")
    assert login(client, create_customer()) == 200, "failures of known devices do not count for the network"


def test_forged_or_old_device_mark_is_ignored(client: Client) -> None:
    owner, browser, forger = create_customer(), new_browser(client), new_browser(client)
    forger.flask.set_cookie(f"device-{owner.id}", "x" * 43, path="/api/auth/login")
    assert login(browser, owner) == 200
    exhaust_network_limit(client)
    assert login(forger, owner) == 429 and login(browser, owner) == 200
    with transaction() as session:
        session.execute(text("UPDATE account SET password_version = password_version + 1"))
    assert login(browser, owner) == 429, "a new password voids marks"


def test_concurrent_wrong_passwords_stay_within_the_limit(client: Client) -> None:
    owner = create_customer()
    responses = run_concurrently(
        64, lambda _: client.post("/api/auth/login", {"email": owner.email, "password": "wrong"})
    )
    statuses = [response.status_code for response in responses]
    assert statuses.count(401) == 10 and statuses.count(429) == 54


def test_me_has_an_etag(client: Client) -> None:
    caller = create_signed_in_client(client, create_customer())
    etag = caller.get("/api/auth/me").headers["ETag"]
    assert caller.get("/api/auth/me", headers={"If-None-Match": etag}).status_code == 304


def test_no_session_for_a_password_that_has_changed(client: Client) -> None:
    owner = create_customer()
    with transaction() as session:
        session.execute(text("UPDATE account SET password_version = password_version + 1"))
    with pytest.raises(InvalidCredentials), transaction() as session:
        create_session(session, owner)
    assert db.session.query(AccountSession).count() == 0
