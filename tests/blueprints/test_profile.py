"""The details and the password of the own account."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.models import Account
from app.core.transaction import transaction
from tests.factories.accounts import (
    PASSWORD,
    create_customer,
    create_signed_in_client,
    list_mails_to,
    sign_in,
)
from tests.http import Client, data, list_problems, read_error

NEW_PASSWORD = "another evening at Sesriem"


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_customer()


@pytest.fixture
def me(client: Client, owner: Account) -> Client:
    return create_signed_in_client(client, owner)


def test_profile_changes_the_fields_that_are_sent(me: Client) -> None:
    changed = data(me.patch("/api/auth/me", {"language": "af", "phone": "081 123 4567"}))
    assert changed["language"] == "af" and changed["phone"] == "+264811234567"
    changed = data(me.patch("/api/auth/me", {"name": "Frieda Nangolo", "phone": None}))
    assert changed["name"] == "Frieda Nangolo" and "phone" not in changed
    assert data(me.get("/api/auth/me"))["language"] == "af"
    assert "language" not in data(me.patch("/api/auth/me", {"language": None}))


def test_profile_change_needs_the_present_version(me: Client) -> None:
    tag = me.get("/api/auth/me").headers["ETag"]
    response = me.with_(If_Match=tag).patch("/api/auth/me", {"name": "Frieda Nangolo"})
    assert response.headers["ETag"] != tag == '"1"'
    assert read_error(me.with_(If_Match=tag).patch("/api/auth/me", {"name": "Frida"})) == (412, "STALE_VERSION")


def test_profile_refuses_what_it_does_not_know(me: Client) -> None:
    body = {"language": "fr", "name": "F", "phone": "12", "email": "new@example.com"}
    assert list_problems(me.patch("/api/auth/me", body)) == {
        "language": "unknown_value",
        "name": "too_short",
        "phone": "invalid_phone",
        "email": "unknown_field",
    }


def test_new_password_ends_other_sessions_and_notifies_owner(client: Client, me: Client, owner: Account) -> None:
    other = create_signed_in_client(client, owner)
    data(me.post("/api/auth/change-password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}))
    assert read_error(other.get("/api/auth/me")) == (401, "SESSION_ENDED")
    data(me.get("/api/auth/me"))
    assert sign_in(client, owner.email, NEW_PASSWORD)
    assert "changed" in list_mails_to(owner.email)[0]["subject"]


def test_wrong_current_password_counts_like_a_failed_sign_in(client: Client, me: Client, owner: Account) -> None:
    body = {"currentPassword": "wrong", "newPassword": NEW_PASSWORD}
    for _ in range(10):
        assert read_error(me.post("/api/auth/change-password", body)) == (422, "CURRENT_PASSWORD_WRONG")
    assert read_error(me.post("/api/auth/change-password", body)) == (429, "RATE_LIMITED")
    assert client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD}).status_code == 429


def test_account_with_a_password_must_send_it(me: Client) -> None:
    response = me.post("/api/auth/change-password", {"newPassword": NEW_PASSWORD})
    assert list_problems(response) == {"currentPassword": "required"}


def test_first_password_needs_a_recent_sign_in(client: Client, app: Flask) -> None:
    owner = create_customer(password_hash=None)
    me = create_signed_in_client(client, owner)
    with transaction() as session:
        session.execute(text("UPDATE account_session SET created_at = created_at - interval '11 minutes'"))
    body = {"newPassword": NEW_PASSWORD}
    assert read_error(me.post("/api/auth/change-password", body)) == (409, "CONFIRMATION_REQUIRED")
    data(create_signed_in_client(client, owner).post("/api/auth/change-password", body))
    assert sign_in(client, owner.email, NEW_PASSWORD)
