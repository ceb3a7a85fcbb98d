"""Turning the second factor on and off, and recovery codes."""

import pyotp
import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.models import Account
from app.core.transaction import transaction
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    find_newest_code,
    list_mails_to,
)
from tests.factories.second_factors import get_challenge, send_code, turn_on
from tests.http import Client, data, read_error

PATH = "/api/auth/second-factor"


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_customer()


@pytest.fixture
def me(client: Client, owner: Account) -> Client:
    return create_signed_in_client(client, owner)


def age_sign_ins() -> None:
    with transaction() as session:
        session.execute(text("UPDATE account_session SET created_at = created_at - interval '11 minutes'"))


def begin(me: Client) -> pyotp.TOTP:
    return pyotp.TOTP(data(me.post(PATH, {"password": PASSWORD}), 201)["secret"])


def test_code_of_the_app_turns_it_on(me: Client, owner: Account) -> None:
    enrolment = data(me.post(PATH, {"password": PASSWORD}), 201)
    assert enrolment["qrCode"].startswith("data:image/svg+xml") and enrolment["secret"] in enrolment["uri"]
    assert data(me.get(PATH))["enabled"] is False
    codes = data(me.post(f"{PATH}/confirm", {"code": pyotp.TOTP(enrolment["secret"]).now()}))["recoveryCodes"]
    assert len(set(codes)) == 10
    status = data(me.get(PATH))
    assert status["enabled"] is True and status["recoveryCodesLeft"] == 10 and status["since"]
    assert "now has a second factor" in list_mails_to(owner.email)[0]["subject"]


def test_code_of_the_setup_does_not_sign_in(client: Client, me: Client, owner: Account) -> None:
    code = begin(me).now()
    data(me.post(f"{PATH}/confirm", {"code": code}))
    assert read_error(send_code(client, get_challenge(client, owner), code)) == (422, "CODE_INVALID")


def test_wrong_code_does_not_turn_it_on(me: Client, client: Client, owner: Account) -> None:
    begin(me)
    assert read_error(me.post(f"{PATH}/confirm", {"code": "12345"})) == (422, "CODE_INVALID")
    assert client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD}).status_code == 200


def test_new_secret_replaces_an_unconfirmed_one(me: Client) -> None:
    first = begin(me)
    second = begin(me)
    assert read_error(me.post(f"{PATH}/confirm", {"code": first.now()})) == (422, "CODE_INVALID")
    data(me.post(f"{PATH}/confirm", {"code": second.now()}))


def test_second_setup_is_refused_while_it_is_on(me: Client, owner: Account) -> None:
    app = turn_on(owner)
    assert read_error(me.post(PATH, {"password": PASSWORD})) == (409, "SECOND_FACTOR_ON")
    assert read_error(me.post(f"{PATH}/confirm", {"code": app.code()})) == (409, "SECOND_FACTOR_ON")


@pytest.mark.parametrize("method, path", [("POST", PATH), ("POST", f"{PATH}/recovery-codes"), ("DELETE", PATH)])
def test_each_change_needs_password_or_recent_sign_in(me: Client, owner: Account, method: str, path: str) -> None:
    if path != PATH or method == "DELETE":
        turn_on(owner)
    age_sign_ins()
    assert read_error(me.open(method, path, {})) == (409, "CONFIRMATION_REQUIRED")
    assert read_error(me.open(method, path, {"password": "wrong"})) == (422, "CURRENT_PASSWORD_WRONG")
    assert me.open(method, path, {"password": PASSWORD}).status_code in (200, 201)


def test_delete_takes_the_password_from_the_header(me: Client, owner: Account) -> None:
    turn_on(owner)
    age_sign_ins()
    data(me.with_(X_Confirm_Password=PASSWORD).delete(PATH))
    assert data(me.get(PATH)) == {"enabled": False, "since": None, "recoveryCodesLeft": 0}
    assert "is off" in list_mails_to(owner.email)[0]["subject"]


def test_turned_off_the_password_alone_signs_in(me: Client, client: Client, owner: Account) -> None:
    challenge = (turn_on(owner), get_challenge(client, owner))[1]
    data(me.delete(PATH, json={"password": PASSWORD}))
    assert client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD}).status_code == 200
    assert read_error(send_code(client, challenge, "123456")) == (401, "CHALLENGE_INVALID")
    data(me.delete(PATH, json={"password": PASSWORD}))


def test_turning_off_a_changed_account_is_stale(me: Client, owner: Account) -> None:
    turn_on(owner)
    assert read_error(me.with_(If_Match='"77"').delete(PATH, json={"password": PASSWORD})) == (412, "STALE_VERSION")


def test_new_recovery_codes_replace_the_earlier_ones(me: Client, client: Client, owner: Account) -> None:
    app = turn_on(owner)
    codes = data(me.post(f"{PATH}/recovery-codes", {"password": PASSWORD}))["recoveryCodes"]
    challenge = get_challenge(client, owner)
    assert read_error(send_code(client, challenge, app.recovery_codes[0])) == (422, "CODE_INVALID")
    data(send_code(client, challenge, codes[0]))
    assert "recovery codes" in list_mails_to(owner.email)[1]["subject"]


def test_recovery_codes_need_a_second_factor(me: Client) -> None:
    assert read_error(me.post(f"{PATH}/recovery-codes", {"password": PASSWORD})) == (409, "SECOND_FACTOR_OFF")


def test_unverified_address_gets_no_second_factor(client: Client, app: Flask) -> None:
    stranger = create_signed_in_client(client, create_customer(verified=False))
    assert read_error(stranger.post(PATH, {"password": PASSWORD})) == (403, "EMAIL_NOT_VERIFIED")


def test_neither_secret_nor_codes_are_stored_in_the_clear(owner: Account) -> None:
    app = turn_on(owner)
    with transaction() as session:
        rows = session.execute(text("SELECT secret::text FROM second_factor UNION SELECT code_hash FROM recovery_code"))
        stored = " ".join(row[0] for row in rows)
    assert app.secret not in stored
    assert not any(code in stored or code.replace("-", "") in stored for code in app.recovery_codes)


def test_secret_of_another_account_does_not_decrypt(client: Client, owner: Account) -> None:
    other = create_customer()
    app = turn_on(owner)
    turn_on(other)
    with transaction() as session:
        session.execute(
            text(
                "UPDATE second_factor SET secret = (SELECT secret FROM second_factor WHERE account_id = :from_id) "
                "WHERE account_id = :to_id"
            ),
            {"from_id": owner.id, "to_id": other.id},
        )
    assert read_error(send_code(client, get_challenge(client, other), app.code())) == (422, "CODE_INVALID")


def test_password_reset_keeps_the_second_factor(client: Client, owner: Account) -> None:
    turn_on(owner)
    client.post("/api/auth/password-reset/request", {"email": owner.email})
    verified = {"email": owner.email, "code": find_newest_code(owner.email)}
    token = data(client.post("/api/auth/password-reset/verify", verified))["resetToken"]
    new = {"email": owner.email, "resetToken": token, "password": "another evening at Sesriem"}
    data(client.post("/api/auth/password-reset/complete", new))
    get_challenge(client, owner, new["password"])


def test_operators_reset_it_by_a_command(app: Flask, client: Client, me: Client, owner: Account) -> None:
    turn_on(owner)
    result = app.test_cli_runner().invoke(args=["accounts", "reset-second-factor", owner.email])
    assert result.exit_code == 0, result.output
    assert read_error(me.get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD}).status_code == 200
    assert "is off" in list_mails_to(owner.email)[0]["subject"]
    assert app.test_cli_runner().invoke(args=["accounts", "reset-second-factor", owner.email]).exit_code == 2


@pytest.fixture
def production(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(app.extensions["settings"]), "production", True)


@pytest.mark.usefixtures("production")
def test_admin_in_production_must_turn_it_on_first(client: Client) -> None:
    admin = create_account("admin")
    me = create_signed_in_client(client, admin)
    for method, path in (("GET", "/api/events"), ("PATCH", "/api/auth/me"), ("POST", "/api/auth/register/admin")):
        assert read_error(me.open(method, path, {} if method != "GET" else None)) == (
            403,
            "SECOND_FACTOR_SETUP_REQUIRED",
        )
    assert data(me.get("/api/auth/me"))["id"] == admin.id
    data(me.post(f"{PATH}/confirm", {"code": begin(me).now()}))
    assert me.get("/api/events").status_code == 200


@pytest.mark.usefixtures("production")
def test_others_in_production_may_go_without(client: Client) -> None:
    organiser = create_signed_in_client(client, create_account("organiser"))
    assert organiser.get("/api/events").status_code == 200


def test_admin_in_development_may_go_without(client: Client) -> None:
    assert create_signed_in_client(client, create_account("admin")).get("/api/events").status_code == 200
