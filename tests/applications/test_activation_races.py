"""Passwords that change, and accounts that go, between the look at the password and what it opens."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from app.accounts.actions import registration
from app.accounts.models import Account
from app.applications import account_activation as activating
from app.core.db import db
from app.merchants import actions as deleting
from tests.applications.test_erasure import ME, delete_me
from tests.factories.accounts import PASSWORD, account, customer, newest_code, signed_in
from tests.factories.applications import EMAIL, activation, ready
from tests.factories.events import organiser
from tests.http import Client, data, refusal

PATH, REGISTER = "/api/merchant-activation", "/api/auth/register/organiser"
NEW_PASSWORD = "the dunes are red at dawn"


def meanwhile(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, happens: Callable[[], None]) -> None:
    """Has something happen once the password was found right."""
    look = getattr(place, name)

    def look_and_wait(*about: Any) -> Any:
        found = look(*about)
        happens()
        return found

    monkeypatch.setattr(place, name, look_and_wait)


def standing(account_id: str) -> tuple[Any, ...]:
    """Roles and telephone number of an account, how many profiles it has, and how many living sessions."""
    question = """SELECT roles, phone, (SELECT count(*) FROM merchant_profile WHERE account_id = a.id)
                       + (SELECT count(*) FROM organiser_profile WHERE account_id = a.id),
                         (SELECT count(*) FROM account_session WHERE account_id = a.id AND ended_at IS NULL)
                    FROM account a WHERE id = :id"""
    with db.engine.connect() as connection:
        return tuple(connection.execute(text(question), {"id": account_id}).one())


def owner_and_link(client: Client, role: str, **details: Any) -> tuple[Account, str]:
    """An account with the address of an application, and where that is activated."""
    owner = account(role, email=EMAIL, **details)
    return owner, f"{PATH}/{ready(client, organiser(client))}"


def reset_token(client: Client) -> dict[str, str]:
    """What completes a reset."""
    data(client.post("/api/auth/password-reset/request", {"email": EMAIL}))
    proof = {"email": EMAIL, "code": newest_code(EMAIL)}
    token = data(client.post("/api/auth/password-reset/verify", proof))["resetToken"]
    return {"email": EMAIL, "resetToken": token, "password": NEW_PASSWORD}


def test_a_password_that_a_reset_has_replaced_meanwhile_deletes_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = account("merchant", email=EMAIL)
    me, body = signed_in(client, owner), reset_token(client)
    meanwhile(
        monkeypatch,
        deleting,
        "find_own_password_version",
        lambda: data(client.post("/api/auth/password-reset/complete", body)),
    )
    wanted = {"currentPassword": PASSWORD, "confirmation": "DELETE"}
    assert refusal(me.post(f"{ME}/delete", wanted)) == (422, "CURRENT_PASSWORD_WRONG")
    assert standing(owner.id)[0] == ["merchant"]


def test_a_password_that_a_reset_has_replaced_meanwhile_activates_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, path = owner_and_link(client, "customer")
    body = reset_token(client)
    meanwhile(
        monkeypatch,
        activating,
        "_check_existing_password",
        lambda: data(client.post("/api/auth/password-reset/complete", body)),
    )
    assert refusal(client.post(path, activation(password=PASSWORD))) == (422, "CURRENT_PASSWORD_WRONG")
    assert standing(owner.id) == (["customer"], None, 0, 0)


def test_an_account_that_is_deleted_meanwhile_is_not_revived(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, path = owner_and_link(client, "merchant", verified=False)
    me = signed_in(client, owner)
    meanwhile(monkeypatch, activating, "_check_existing_password", lambda: delete_me(me))
    assert refusal(client.post(path, activation(password=PASSWORD))) == (422, "CURRENT_PASSWORD_WRONG")
    assert standing(owner.id) == ([], None, 0, 0)


def test_an_account_that_is_deleted_meanwhile_gets_no_role(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = account("merchant", email=EMAIL)
    me, other = signed_in(client, owner), signed_in(client, owner)
    meanwhile(monkeypatch, registration, "verify_own_password", lambda: delete_me(other))
    body = {"email": EMAIL, "password": PASSWORD, "name": "Tuli", "orgName": "Kapana Fair", "phone": "+264811234567"}
    assert refusal(me.post(REGISTER, body)) == (422, "CURRENT_PASSWORD_WRONG")
    assert standing(owner.id) == ([], None, 0, 0)


def test_who_is_there_still_gets_the_role(client: Client) -> None:
    owner = customer(email=EMAIL)
    body = {"email": EMAIL, "password": PASSWORD, "name": "Tuli", "orgName": "Kapana Fair"}
    data(signed_in(client, owner).post(REGISTER, body), 201)
    assert standing(owner.id) == (["customer", "organiser"], None, 1, 1)
