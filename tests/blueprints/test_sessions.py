"""Signing in, refreshing, signing out."""

import pytest
from sqlalchemy import text

from app.accounts.errors import InvalidCredentials
from app.accounts.models import Account, AccountSession
from app.accounts.sessions import create_session
from app.core.db import db
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, customer, mails_to, sign_in, signed_in
from tests.http import Client, data, refusal
from tests.races import at_once


def shift(column: str, interval: str) -> None:
    """Moves a time of every session, as if that much time had gone by."""
    with transaction() as session:
        session.execute(text(f"UPDATE account_session SET {column} = {column} - interval '{interval}'"))


def refreshed(client: Client, token: str) -> dict[str, object]:
    return data(client.post("/api/auth/refresh", {"refreshToken": token}))


def test_unknown_address_and_wrong_password_get_the_same_response(client: Client) -> None:
    customer(email="frieda@example.com")
    wrong = client.post("/api/auth/login", {"email": "frieda@example.com", "password": "wrong"}).get_json()
    unknown = client.post("/api/auth/login", {"email": "nobody@example.com", "password": "wrong"}).get_json()
    for body in (wrong, unknown):
        del body["timestamp"], body["requestId"]
    assert wrong == unknown and wrong["shortMessage"] == "INVALID_CREDENTIALS"


def test_refresh_returns_a_new_token(client: Client) -> None:
    first = sign_in(client, customer().email)
    second = refreshed(client, first["refreshToken"])
    assert second["refreshToken"] != first["refreshToken"]
    third = refreshed(client, str(second["refreshToken"]))
    data(client.as_(str(third["accessToken"])).get("/api/auth/me"))


def test_refresh_repeated_within_ten_seconds_returns_the_same_token(client: Client) -> None:
    first = sign_in(client, customer().email)
    successor = refreshed(client, first["refreshToken"])["refreshToken"]
    assert refreshed(client, first["refreshToken"])["refreshToken"] == successor


def test_refresh_token_reused_after_ten_seconds_ends_the_session(client: Client) -> None:
    owner = customer()
    first = sign_in(client, owner.email)
    second = refreshed(client, first["refreshToken"])
    shift("rotated_at", "11 seconds")
    reused = client.post("/api/auth/refresh", {"refreshToken": first["refreshToken"]})
    assert refusal(reused) == (401, "REFRESH_REUSED")
    later = client.post("/api/auth/refresh", {"refreshToken": second["refreshToken"]})
    assert later.status_code == 401
    assert refusal(client.as_(str(second["accessToken"])).get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert "signed out" in mails_to(owner.email)[0]["subject"]


def test_refresh_token_before_the_previous_one_ends_the_session(client: Client) -> None:
    first = sign_in(client, customer().email)
    second = refreshed(client, first["refreshToken"])
    refreshed(client, str(second["refreshToken"]))
    assert refusal(client.post("/api/auth/refresh", {"refreshToken": first["refreshToken"]}))[1] == "REFRESH_REUSED"


def test_invalid_refresh_tokens_are_refused(client: Client) -> None:
    real = sign_in(client, customer().email)["refreshToken"]
    session_id, counter, mac = real.split(".")
    forged = [
        "x",
        "a.b.c",
        f"{session_id}.1.{mac}",
        f"{session_id}.{counter}.{mac[:-1]}x",
        f"{'0' * 24}.0.{mac}",
        f"{session_id}.٠.{mac}",
        f"{session_id}.{'9' * 30}.{mac}",
        "\x00" * 40,
    ]
    for token in forged:
        assert client.post("/api/auth/refresh", {"refreshToken": token}).status_code == 401, token
    assert refreshed(client, real)


def test_concurrent_refreshes_return_one_token(client: Client) -> None:
    token = sign_in(client, customer().email)["refreshToken"]
    answers = at_once(32, lambda _: client.post("/api/auth/refresh", {"refreshToken": token}))
    assert {answer.status_code for answer in answers} == {200}
    assert len({data(answer)["refreshToken"] for answer in answers}) == 1


def test_session_ends_thirty_days_after_last_use(client: Client) -> None:
    signed = sign_in(client, customer().email)
    shift("idle_until", "31 days")
    assert client.post("/api/auth/refresh", {"refreshToken": signed["refreshToken"]}).status_code == 401
    assert refusal(client.as_(signed["accessToken"]).get("/api/auth/me")) == (401, "SESSION_ENDED")


def test_session_ends_after_ninety_days(client: Client) -> None:
    signed = sign_in(client, customer().email)
    shift("ends_at", "90 days")
    assert client.post("/api/auth/refresh", {"refreshToken": signed["refreshToken"]}).status_code == 401


def test_oldest_session_ends_over_limit(client: Client) -> None:
    owner = customer()
    tokens = [sign_in(client, owner.email)["accessToken"] for _ in range(21)]
    assert refusal(client.as_(tokens[0]).get("/api/auth/me")) == (401, "SESSION_ENDED")
    data(client.as_(tokens[1]).get("/api/auth/me"))
    living = db.session.query(AccountSession).filter(AccountSession.ended_at.is_(None)).count()
    assert living == 20


def test_logout_ends_access_and_refresh_tokens(client: Client) -> None:
    signed = sign_in(client, customer().email)
    for _ in range(2):
        assert data(client.post("/api/auth/logout", {"refreshToken": signed["refreshToken"]})) == {}
    assert refusal(client.as_(signed["accessToken"]).get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert client.post("/api/auth/refresh", {"refreshToken": signed["refreshToken"]}).status_code == 401
    assert data(client.post("/api/auth/logout", {"refreshToken": "never seen before"})) == {}


def test_eleventh_failure_is_throttled_and_owner_is_notified(client: Client) -> None:
    owner = customer()
    going_on = signed_in(client, owner)
    wrong = {"email": owner.email, "password": "wrong"}
    codes = [client.post("/api/auth/login", wrong).status_code for _ in range(11)]
    assert codes == [401] * 10 + [429]
    throttled = client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD})
    assert refusal(throttled) == (429, "RATE_LIMITED") and 0 < int(throttled.headers["Retry-After"]) <= 900
    data(going_on.get("/api/auth/me"))
    mails = [item for item in mails_to(owner.email) if "paused" in item["subject"]]
    assert len(mails) == 1 and "10 times" in mails[0]["text"]
    with transaction() as session:
        session.execute(text("UPDATE throttle SET ends_at = now()"))
    assert sign_in(client, owner.email)


def crowded(client: Client) -> None:
    """Uses up what a client network may get wrong, on addresses of nobody."""
    statuses = {
        client.post("/api/auth/login", {"email": f"nobody{number}@example.com", "password": "wrong"}).status_code
        for number in range(50)
    }
    assert statuses == {401}


def a_new_browser(client: Client) -> Client:
    return Client(client.flask.application.test_client())


def login(client: Client, owner: Account, password: str = PASSWORD, **more: str) -> int:
    return client.post("/api/auth/login", {"email": owner.email, "password": password, **more}).status_code


def test_network_limit_does_not_apply_to_known_browser(client: Client) -> None:
    owner, browser = customer(), a_new_browser(client)
    answer = browser.post("/api/auth/login", {"email": owner.email, "password": PASSWORD})
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/api/auth/login" in cookie
    crowded(client)
    assert login(client, owner) == 429 and login(browser, owner) == 200
    assert login(browser, customer()) == 429, "the mark is of one account"


def test_network_limit_does_not_apply_to_app_with_refresh_token(client: Client) -> None:
    owner = customer()
    token = sign_in(a_new_browser(client), owner.email)["refreshToken"]
    data(client.post("/api/auth/logout", {"refreshToken": token}))
    crowded(client)
    assert login(client, owner) == 429
    assert login(a_new_browser(client), owner, refreshToken=token) == 200
    assert login(client, customer(), refreshToken=token) == 429, "it is of one account"
    assert login(client, owner, refreshToken=token[:-1] + "x") == 429


def test_failures_of_known_device_count_only_for_the_address(client: Client) -> None:
    owner, browser = customer(), a_new_browser(client)
    assert login(browser, owner) == 200
    assert [login(browser, owner, "wrong") for _ in range(11)] == [401] * 10 + [429]
    assert login(browser, owner) == 429, "no device gets past the ten of an address"
    for _ in range(40):
        login(client, owner, "wrong")
    assert login(client, customer()) == 200, "its failures are none of the network's"


def test_forged_or_old_device_mark_is_ignored(client: Client) -> None:
    owner, browser, forger = customer(), a_new_browser(client), a_new_browser(client)
    forger.flask.set_cookie(f"device-{owner.id}", "x" * 43, path="/api/auth/login")
    assert login(browser, owner) == 200
    crowded(client)
    assert login(forger, owner) == 429 and login(browser, owner) == 200
    with transaction() as session:
        session.execute(text("UPDATE account SET password_version = password_version + 1"))
    assert login(browser, owner) == 429, "a new password makes marks void"


def test_concurrent_wrong_passwords_stay_within_the_limit(client: Client) -> None:
    owner = customer()
    answers = at_once(64, lambda _: client.post("/api/auth/login", {"email": owner.email, "password": "wrong"}))
    codes = [answer.status_code for answer in answers]
    assert codes.count(401) == 10 and codes.count(429) == 54


def test_me_has_an_etag(client: Client) -> None:
    caller = signed_in(client, customer())
    tag = caller.get("/api/auth/me").headers["ETag"]
    assert caller.get("/api/auth/me", headers={"If-None-Match": tag}).status_code == 304


def test_no_session_for_a_password_that_has_changed(client: Client) -> None:
    owner = customer()
    with transaction() as session:
        session.execute(text("UPDATE account SET password_version = password_version + 1"))
    with pytest.raises(InvalidCredentials), transaction() as session:
        create_session(session, owner)
    assert db.session.query(AccountSession).count() == 0
