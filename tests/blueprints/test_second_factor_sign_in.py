"""Signing in with a second factor: challenges, codes, limits, and every way in."""

from collections.abc import Iterator

import pytest
from flask import Flask
from pytest_httpserver import HTTPServer
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import second_factor
from app.accounts.errors import InvalidCredentials
from app.accounts.models import Account
from app.accounts.own_account_models import RecoveryCode
from app.accounts.sessions import create_session
from app.core.transaction import transaction
from tests.blueprints.test_external_login import configure_provider
from tests.clients.identity_provider import IdentityProvider
from tests.factories.accounts import PASSWORD, create_account, create_customer, create_signed_in_client, list_mails_to
from tests.factories.applications import EMAIL, build_activation_body, create_ready_application
from tests.factories.events import create_organiser_client
from tests.factories.second_factors import App, get_challenge, send_code, turn_on
from tests.http import Client, data, read_error
from tests.races import run_concurrently


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_customer()


@pytest.fixture
def phone(owner: Account) -> App:
    return turn_on(owner)


def age_challenges(interval: str) -> None:
    with transaction() as session:
        session.execute(text(f"UPDATE sign_in_challenge SET expires_at = expires_at - interval '{interval}'"))


def test_code_of_the_app_signs_in(client: Client, owner: Account, phone: App) -> None:
    signed_in = data(send_code(client, get_challenge(client, owner), phone.code()))
    assert data(client.as_(signed_in["accessToken"]).get("/api/auth/me"))["id"] == owner.id


def test_password_alone_gives_no_session(client: Client, owner: Account, phone: App) -> None:
    get_challenge(client, owner)
    with transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM account_session")) == 0


@pytest.mark.parametrize("steps", [-1, 1])
def test_code_of_a_neighbouring_step_signs_in(client: Client, owner: Account, phone: App, steps: int) -> None:
    data(send_code(client, get_challenge(client, owner), phone.code(steps)))


@pytest.mark.parametrize("steps", [-3, 3])
def test_older_and_later_codes_are_refused(client: Client, owner: Account, phone: App, steps: int) -> None:
    response = send_code(client, get_challenge(client, owner), phone.code(steps))
    assert read_error(response) == (422, "CODE_INVALID")


def test_code_works_once_and_older_ones_never_again(client: Client, owner: Account, phone: App) -> None:
    data(send_code(client, get_challenge(client, owner), phone.code()))
    challenge = get_challenge(client, owner)
    for code in (phone.code(), phone.code(-1)):
        assert read_error(send_code(client, challenge, code)) == (422, "CODE_INVALID")
    data(send_code(client, challenge, phone.code(1)))


def test_recovery_code_works_once_and_its_owner_gets_a_mail(client: Client, owner: Account, phone: App) -> None:
    typed = phone.recovery_codes[0].lower().replace("-", " ").replace("0", "o").replace("1", "l")
    data(send_code(client, get_challenge(client, owner), typed))
    again = send_code(client, get_challenge(client, owner), phone.recovery_codes[0])
    assert read_error(again) == (422, "CODE_INVALID")
    assert "9 codes are left" in list_mails_to(owner.email)[0]["text"]


def test_recovery_code_of_another_account_is_refused(client: Client, owner: Account, phone: App) -> None:
    other = turn_on(create_customer())
    response = send_code(client, get_challenge(client, owner), other.recovery_codes[0])
    assert read_error(response) == (422, "CODE_INVALID")


def test_challenge_works_once(client: Client, owner: Account, phone: App) -> None:
    challenge = get_challenge(client, owner)
    data(send_code(client, challenge, phone.code()))
    assert read_error(send_code(client, challenge, phone.recovery_codes[0])) == (401, "CHALLENGE_INVALID")


def test_challenge_expires_after_five_minutes(client: Client, owner: Account, phone: App) -> None:
    challenge = get_challenge(client, owner)
    age_challenges("5 minutes")
    assert read_error(send_code(client, challenge, phone.code())) == (401, "CHALLENGE_INVALID")


def test_challenge_takes_five_codes(client: Client, owner: Account, phone: App) -> None:
    challenge = get_challenge(client, owner)
    for _ in range(5):
        assert read_error(send_code(client, challenge, phone.wrong_code())) == (422, "CODE_INVALID")
    assert read_error(send_code(client, challenge, phone.code())) == (401, "CHALLENGE_INVALID")


def test_concurrent_codes_count_five(client: Client, owner: Account, phone: App) -> None:
    challenge = get_challenge(client, owner)
    responses = run_concurrently(16, lambda _: read_error(send_code(client, challenge, phone.wrong_code())))
    assert responses.count((422, "CODE_INVALID")) == 5
    assert responses.count((401, "CHALLENGE_INVALID")) == 11


def test_new_password_voids_the_challenge(client: Client, owner: Account, phone: App) -> None:
    challenge = get_challenge(client, owner)
    me = create_client_past_second_factor(client, owner)
    changed = {"currentPassword": PASSWORD, "newPassword": "another evening at Sesriem"}
    data(me.post("/api/auth/change-password", changed))
    assert read_error(send_code(client, challenge, phone.code())) == (401, "CHALLENGE_INVALID")


def create_client_past_second_factor(client: Client, owner: Account) -> Client:
    return client.as_(data(send_code(client, get_challenge(client, owner), recovery(owner)))["accessToken"])


def recovery(owner: Account) -> str:
    with transaction() as session:
        return second_factor.replace_recovery_codes(session, owner.id)[0]


def test_made_up_challenges_are_refused(client: Client, phone: App) -> None:
    for challenge in ("x", "0" * 43, "\u20ac" * 20):
        assert read_error(send_code(client, challenge, phone.code())) == (401, "CHALLENGE_INVALID")


def test_twenty_wrong_codes_block_the_app_but_no_recovery_code(client: Client, owner: Account, phone: App) -> None:
    for number in range(20):
        if number % 5 == 0:
            challenge = get_challenge(client, owner)
        assert read_error(send_code(client, challenge, phone.wrong_code())) == (422, "CODE_INVALID")
    challenge = get_challenge(client, owner)
    blocked = send_code(client, challenge, phone.code())
    assert read_error(blocked) == (429, "RATE_LIMITED") and int(blocked.headers["Retry-After"]) > 3600
    data(send_code(client, challenge, phone.recovery_codes[0]))
    subjects = [mail["subject"] for mail in list_mails_to(owner.email)]
    assert sum("blocked" in subject for subject in subjects) == 1


def test_right_code_restores_the_limit(client: Client, owner: Account, phone: App) -> None:
    challenge = get_challenge(client, owner)
    for _ in range(4):
        send_code(client, challenge, phone.wrong_code())
    data(send_code(client, challenge, phone.code()))
    with transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM throttle WHERE key LIKE 'wrong-second-factors%'")) == 0


def test_right_password_does_not_clear_its_failures_before_the_code(client: Client, owner: Account, phone: App) -> None:
    client.post("/api/auth/login", {"email": owner.email, "password": "wrong"})
    challenge = get_challenge(client, owner)
    count = text("SELECT count(*) FROM throttle WHERE key LIKE 'login-address%'")
    with transaction() as session:
        assert session.scalar(count) == 1
    data(send_code(client, challenge, phone.code()))
    with transaction() as session:
        assert session.scalar(count) == 0


def test_session_from_before_goes_on(client: Client, owner: Account) -> None:
    me = create_signed_in_client(client, owner)
    turn_on(owner)
    data(me.get("/api/auth/me"))


def test_sign_in_that_began_before_it_was_turned_on_gets_no_session(client: Client, owner: Account) -> None:
    """The account was read without a second factor; the statement that starts the session sees it."""
    turn_on(owner)
    with transaction() as session, pytest.raises(InvalidCredentials):
        create_session(session, owner)


def test_code_used_concurrently_works_once(client: Client, owner: Account, phone: App) -> None:
    challenges = [get_challenge(client, owner) for _ in range(8)]
    code = phone.code()
    statuses = run_concurrently(8, lambda number: send_code(client, challenges[number], code).status_code)
    assert sorted(statuses) == [200] + [422] * 7


@pytest.mark.control
def test_without_the_condition_a_code_works_for_several(
    client: Client, owner: Account, phone: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_factor, "_use_step", lambda *_: True)
    challenges = [get_challenge(client, owner) for _ in range(8)]
    code = phone.code()
    statuses = run_concurrently(8, lambda number: send_code(client, challenges[number], code).status_code)
    assert statuses.count(200) > 1


def test_recovery_code_used_concurrently_works_once(client: Client, owner: Account, phone: App) -> None:
    challenges = [get_challenge(client, owner) for _ in range(8)]
    code = phone.recovery_codes[0]
    statuses = run_concurrently(8, lambda number: send_code(client, challenges[number], code).status_code)
    assert sorted(statuses) == [200] + [422] * 7


@pytest.mark.control
def test_without_the_condition_a_recovery_code_works_for_several(
    client: Client, owner: Account, phone: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is looked up first and marked afterwards, without a condition."""

    def redeem(session: OrmSession, account_id: str, code: str) -> bool:
        is_it = RecoveryCode.code_hash == second_factor._hash_recovery_code(account_id, code)
        is_unused = session.scalar(select(RecoveryCode.used_at.is_(None)).where(is_it))
        session.execute(select(func.pg_sleep(0.2)))
        session.execute(update(RecoveryCode).where(is_it).values(used_at=func.now()))
        return bool(is_unused)

    monkeypatch.setattr(second_factor, "redeem_recovery_code", redeem)
    challenges = [get_challenge(client, owner) for _ in range(8)]
    code = phone.recovery_codes[0]
    statuses = run_concurrently(8, lambda number: send_code(client, challenges[number], code).status_code)
    assert statuses.count(200) > 1


def test_challenge_met_concurrently_by_two_codes_gives_one_session(client: Client, owner: Account, phone: App) -> None:
    challenge = get_challenge(client, owner)
    codes = phone.recovery_codes[:4]
    statuses = run_concurrently(4, lambda number: send_code(client, challenge, codes[number]).status_code)
    assert sorted(statuses) == [200, 401, 401, 401]


@pytest.fixture
def google(app: Flask, httpserver: HTTPServer) -> Iterator[IdentityProvider]:
    yield from configure_provider(app, IdentityProvider(httpserver, "google"))


@pytest.mark.parametrize("way_in", ["password", "google", "google with a token", "activation"])
def test_every_way_in_asks_for_the_code(client: Client, google: IdentityProvider, way_in: str) -> None:
    owner = create_customer(email=EMAIL)
    me = create_signed_in_client(client, owner)
    phone = turn_on(owner)
    token = create_ready_application(client, create_organiser_client(client)) if way_in == "activation" else ""
    id_token = {"id_token": google.token(sub="g-1", email=EMAIL)}
    responses = {
        "password": lambda: client.post("/api/auth/login", {"email": EMAIL, "password": PASSWORD}),
        "google": lambda: client.post("/api/auth/google", id_token),
        "google with a token": lambda: me.post("/api/auth/google", id_token),
        "activation": lambda: client.post(
            f"/api/merchant-activation/{token}", build_activation_body(password=PASSWORD)
        ),
    }
    response = responses[way_in]()
    assert read_error(response) == (401, "SECOND_FACTOR_REQUIRED")
    assert response.get_json()["data"]["expiresIn"] == 300
    signed_in = data(send_code(client, response.get_json()["data"]["challenge"], phone.code()))
    assert signed_in["user"]["id"] == owner.id
    if way_in == "activation":
        assert "merchant" in signed_in["user"]["roles"], "the activation is complete"


def test_unlinked_identity_voids_its_challenge(client: Client, google: IdentityProvider) -> None:
    owner = create_customer(email=EMAIL)
    me = create_signed_in_client(client, owner)
    phone = turn_on(owner)
    response = client.post("/api/auth/google", {"id_token": google.token(sub="g-1", email=EMAIL)})
    data(me.delete("/api/auth/identities/google"))
    step = send_code(client, response.get_json()["data"]["challenge"], phone.code())
    assert read_error(step) == (401, "CHALLENGE_INVALID")


def test_deleted_merchant_leaves_no_second_factor(client: Client, app: Flask) -> None:
    owner = create_account("merchant")
    with transaction() as session:
        statement = text("INSERT INTO merchant_profile (account_id, business_name) VALUES (:id, 'Kapana Corner')")
        session.execute(statement, {"id": owner.id})
    me = create_signed_in_client(client, owner)
    turn_on(owner)
    get_challenge(client, owner)
    data(me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}))
    with transaction() as session:
        for table in ("second_factor", "recovery_code", "sign_in_challenge"):
            assert session.scalar(text(f"SELECT count(*) FROM {table}")) == 0, table
