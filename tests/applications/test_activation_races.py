"""Passwords that change, and accounts that are deleted, between the password check and the action it allows."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from app.accounts.actions import registration
from app.accounts.models import Account
from app.applications.actions import activation
from app.core.db import db
from app.merchants import actions as merchant_actions
from tests.applications.test_erasure import ME, delete_me
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    find_newest_code,
)
from tests.factories.applications import EMAIL, build_activation_body, create_ready_application
from tests.factories.events import create_organiser_client
from tests.http import Client, data, read_error

PATH, REGISTER = "/api/merchant-activation", "/api/auth/register/organiser"
NEW_PASSWORD = "the dunes are red at dawn"


def run_after_check(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, action: Callable[[], None]) -> None:
    """Runs the action directly after the password check."""
    check = getattr(module, name)

    def check_then_act(*arguments: Any) -> Any:
        check_result = check(*arguments)
        action()
        return check_result

    monkeypatch.setattr(module, name, check_then_act)


def load_account_state(account_id: str) -> tuple[Any, ...]:
    """Roles, phone, number of profiles, and number of open sessions of an account."""
    statement = """SELECT roles, phone, (SELECT count(*) FROM merchant_profile WHERE account_id = a.id)
                       + (SELECT count(*) FROM organiser_profile WHERE account_id = a.id),
                         (SELECT count(*) FROM account_session WHERE account_id = a.id AND ended_at IS NULL)
                    FROM account a WHERE id = :id"""
    with db.engine.connect() as connection:
        return tuple(connection.execute(text(statement), {"id": account_id}).one())


def make_account_and_link(client: Client, role: str, **details: Any) -> tuple[Account, str]:
    """An account with the email of an application, and the path of its activation."""
    owner = create_account(role, email=EMAIL, **details)
    return owner, f"{PATH}/{create_ready_application(client, create_organiser_client(client))}"


def reset_token(client: Client) -> dict[str, str]:
    """The body that completes a password reset."""
    data(client.post("/api/auth/password-reset/request", {"email": EMAIL}))
    proof = {"email": EMAIL, "code": find_newest_code(EMAIL)}
    token = data(client.post("/api/auth/password-reset/verify", proof))["resetToken"]
    return {"email": EMAIL, "resetToken": token, "password": NEW_PASSWORD}


def test_deletion_fails_if_a_reset_replaces_the_password(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = create_account("merchant", email=EMAIL)
    me, body = create_signed_in_client(client, owner), reset_token(client)
    run_after_check(
        monkeypatch,
        merchant_actions,
        "find_own_password_version",
        lambda: data(client.post("/api/auth/password-reset/complete", body)),
    )
    deletion_body = {"currentPassword": PASSWORD, "confirmation": "DELETE"}
    assert read_error(me.post(f"{ME}/delete", deletion_body)) == (422, "CURRENT_PASSWORD_WRONG")
    assert load_account_state(owner.id)[0] == ["merchant"]


def test_activation_fails_if_a_reset_replaces_the_password(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, path = make_account_and_link(client, "customer")
    body = reset_token(client)
    run_after_check(
        monkeypatch,
        activation,
        "_check_existing_password",
        lambda: data(client.post("/api/auth/password-reset/complete", body)),
    )
    assert read_error(client.post(path, build_activation_body(password=PASSWORD))) == (422, "CURRENT_PASSWORD_WRONG")
    assert load_account_state(owner.id) == (["customer"], None, 0, 0)


def test_activation_does_not_revive_a_deleted_account(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, path = make_account_and_link(client, "merchant", verified=False)
    me = create_signed_in_client(client, owner)
    run_after_check(monkeypatch, activation, "_check_existing_password", lambda: delete_me(me))
    assert read_error(client.post(path, build_activation_body(password=PASSWORD))) == (422, "CURRENT_PASSWORD_WRONG")
    assert load_account_state(owner.id) == ([], None, 0, 0)


def test_deleted_account_gets_no_new_role(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = create_account("merchant", email=EMAIL)
    me, other = create_signed_in_client(client, owner), create_signed_in_client(client, owner)
    run_after_check(monkeypatch, registration, "verify_own_password", lambda: delete_me(other))
    body = {"email": EMAIL, "password": PASSWORD, "name": "Tuli", "orgName": "Kapana Fair", "phone": "+264811234567"}
    assert read_error(me.post(REGISTER, body)) == (422, "CURRENT_PASSWORD_WRONG")
    assert load_account_state(owner.id) == ([], None, 0, 0)


def test_existing_account_gets_the_role(client: Client) -> None:
    owner = create_customer(email=EMAIL)
    body = {"email": EMAIL, "password": PASSWORD, "name": "Tuli", "orgName": "Kapana Fair"}
    data(create_signed_in_client(client, owner).post(REGISTER, body), 201)
    assert load_account_state(owner.id) == (["customer", "organiser"], None, 1, 1)
