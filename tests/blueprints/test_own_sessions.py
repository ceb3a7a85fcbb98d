"""The sessions of an account, seen and ended by its owner through the API."""

import pytest
from sqlalchemy import text

from app.accounts.sessions import SessionOrigin, build_page_token, build_refresh_token, create_session
from app.core.addresses import truncate_address
from app.core.transaction import transaction
from app.web.session_origin import describe_device
from tests.factories.accounts import PASSWORD, create_customer, create_signed_in_client, sign_in
from tests.factories.merchants import create_merchant_account
from tests.http import Client, data, read_error

SESSIONS = "/api/auth/sessions"
FIREFOX = "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0"


def list_ids(client: Client) -> list[str]:
    return [item["id"] for item in data(client.get(SESSIONS))["sessions"]]


def test_a_session_shows_device_network_times_and_which_one_asks(client: Client) -> None:
    owner = create_customer()
    older = sign_in(client, owner.email)
    answer = client.post(
        "/api/auth/login",
        {"email": owner.email, "password": PASSWORD},
        headers={"User-Agent": FIREFOX},
        environ_overrides={"REMOTE_ADDR": "203.0.113.77"},
    )
    asking, other = data(client.as_(data(answer)["accessToken"]).get(SESSIONS))["sessions"]
    assert (asking["device"], asking["network"]) == ("Firefox on Android", "203.0.113.0/24")
    assert (asking["kind"], asking["current"], other["current"]) == ("api", True, False)
    assert asking["createdAt"] == asking["lastSeenAt"]
    assert other["id"] == older["refreshToken"].partition(".")[0]


def test_a_refresh_is_the_last_use(client: Client) -> None:
    signed_in = sign_in(client, create_customer().email)
    with transaction() as session:
        session.execute(text("UPDATE account_session SET rotated_at = now() - interval '1 hour'"))
    (before,) = data(client.as_(signed_in["accessToken"]).get(SESSIONS))["sessions"]
    data(client.post("/api/auth/refresh", {"refreshToken": signed_in["refreshToken"]}))
    (after,) = data(client.as_(signed_in["accessToken"]).get(SESSIONS))["sessions"]
    assert before["lastSeenAt"] < before["createdAt"] <= after["lastSeenAt"]


def test_ended_and_expired_sessions_are_not_listed(client: Client) -> None:
    owner = create_customer()
    first, second, third = (create_signed_in_client(client, owner) for _ in range(3))
    ids = list_ids(third)
    with transaction() as session:
        session.execute(text("UPDATE account_session SET ended_at = now() WHERE id = :id"), {"id": ids[1]})
        session.execute(text("UPDATE account_session SET idle_until = now() WHERE id = :id"), {"id": ids[2]})
    assert list_ids(third) == ids[:1]
    for ended in (first, second):
        assert read_error(ended.get(SESSIONS)) == (401, "SESSION_ENDED")


def test_ending_a_session_is_immediate_and_may_be_repeated(client: Client) -> None:
    owner = create_customer()
    other, asking = sign_in(client, owner.email), create_signed_in_client(client, owner)
    session_id = other["refreshToken"].partition(".")[0]
    for _ in range(2):
        data(asking.delete(f"{SESSIONS}/{session_id}"))
    assert read_error(client.as_(other["accessToken"]).get("/api/auth/me")) == (401, "SESSION_ENDED")
    refused = client.post("/api/auth/refresh", {"refreshToken": other["refreshToken"]})
    assert read_error(refused) == (401, "REFRESH_INVALID")
    assert len(list_ids(asking)) == 1


def test_the_session_that_asks_can_end_itself(client: Client) -> None:
    asking = create_signed_in_client(client, create_customer())
    data(asking.delete(f"{SESSIONS}/{list_ids(asking)[0]}"))
    assert read_error(asking.get(SESSIONS)) == (401, "SESSION_ENDED")


def test_a_session_of_another_account_is_not_found_and_goes_on(client: Client) -> None:
    stranger = create_signed_in_client(client, create_customer())
    asking = create_signed_in_client(client, create_customer())
    for session_id in (list_ids(stranger)[0], "0" * 24, "unknown"):
        assert read_error(asking.delete(f"{SESSIONS}/{session_id}")) == (404, "NOT_FOUND")
    data(stranger.get(SESSIONS))


def test_ending_all_others_leaves_this_one_and_other_accounts(client: Client) -> None:
    owner = create_customer()
    others = [create_signed_in_client(client, owner) for _ in range(3)]
    asking, stranger = create_signed_in_client(client, owner), create_signed_in_client(client, create_customer())
    data(asking.delete(f"{SESSIONS}/others"))
    assert {read_error(other.get(SESSIONS)) for other in others} == {(401, "SESSION_ENDED")}
    assert len(list_ids(asking)) == len(list_ids(stranger)) == 1


def test_a_session_of_the_pages_is_neither_a_bearer_nor_refreshed(client: Client) -> None:
    owner = create_customer()
    with transaction() as session:
        page_session = create_session(session, owner, SessionOrigin("console"))
    token = build_page_token(page_session.session_id)
    assert read_error(client.as_(token).get("/api/auth/me")) == (401, "TOKEN_INVALID")
    for refresh_token in (token, build_refresh_token(page_session.session_id, 0)):
        refused = client.post("/api/auth/refresh", {"refreshToken": refresh_token})
        assert read_error(refused) == (401, "REFRESH_INVALID")
    client.flask.set_cookie("sign-in", token)
    assert read_error(client.get("/api/auth/me")) == (401, "TOKEN_MISSING")


def test_an_access_token_that_names_a_session_of_the_pages_is_refused(client: Client) -> None:
    asking = create_signed_in_client(client, create_customer())
    with transaction() as session:
        session.execute(text("UPDATE account_session SET kind = 'console'"))
    assert read_error(asking.get("/api/auth/me")) == (401, "SESSION_ENDED")


@pytest.mark.parametrize(
    ("user_agent", "device"),
    [
        (FIREFOX, "Firefox on Android"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36 Edg/131.0",
            "Edge on Windows",
        ),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18.1 Mobile Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (X11; CrOS x86_64) AppleWebKit/537.36 Chrome/131.0 Safari/537.36", "Chrome on Chromebook"),
        ("MerchantApp/3.2 (build 14)", "MerchantApp/3.2"),
        ("<script>alert(1)</script>", None),
        ("", None),
        ("a" * 500, "a" * 80),
    ],
)
def test_a_device_is_described_in_words(user_agent: str, device: str | None) -> None:
    assert describe_device(user_agent) == device


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("unix:", None),
        (None, None),
    ],
)
def test_the_stored_network_is_no_exact_address(address: str | None, network: str | None) -> None:
    assert truncate_address(address) == network


def test_a_deletion_erases_devices_and_networks(client: Client) -> None:
    owner = create_merchant_account()
    for _ in range(2):
        signed_in = sign_in(client, owner.email)
    data(client.post("/api/auth/logout", {"refreshToken": signed_in["refreshToken"]}))
    asking = create_signed_in_client(client, owner)
    data(asking.post("/api/merchants/me/delete", {"confirmation": True, "currentPassword": PASSWORD}))
    with transaction() as session:
        kept = session.execute(text("SELECT count(*), count(device), count(network) FROM account_session")).one()
    assert tuple(kept) == (0, 0, 0)
