"""Registration of customers, merchants and organisers, with new and with known addresses."""

import pytest
from flask import Flask

from app.accounts.queries import find_account_by_email
from tests.blueprints.test_codes import advance_time
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    find_newest_code,
    list_mails_to,
    sign_in,
)
from tests.http import Client, data, list_problems, read_error
from tests.settings import settings_for

BODIES = {
    "customer": {"firstName": "Frieda", "lastName": "Amupolo"},
    "merchant": {"name": "Tuli Hamutenya", "businessName": "Kapana Corner", "stallName": "Gate B"},
    "organiser": {"name": "Nangula Shikongo", "orgName": "Windhoek Lights"},
}


def build_body(role: str, email: str = "frieda@example.com", **fields: object) -> dict[str, object]:
    return {"email": email, "password": PASSWORD, **BODIES[role], **fields}


@pytest.mark.parametrize("role", BODIES)
def test_each_role_registers_verifies_and_signs_in(client: Client, role: str) -> None:
    assert data(client.post(f"/api/auth/register/{role}", build_body(role, "Frieda@Example.COM")), 201) == {}
    code = find_newest_code("frieda@example.com")
    data(client.post("/api/auth/verify-email", {"email": "frieda@example.com", "code": code}))
    login = sign_in(client, "FRIEDA@example.com")
    assert login["user"]["roles"] == [role] and login["expiresIn"] == 900 and login["tokenType"] == "Bearer"
    me = data(client.as_(login["accessToken"]).get("/api/auth/me"))
    assert me["email"] == "frieda@example.com" and me["emailVerified"] is True


def test_me_shows_the_profile_of_each_role(client: Client) -> None:
    data(client.post("/api/auth/register/merchant", build_body("merchant", phone="081 123 4567")), 201)
    me = data(client.as_(sign_in(client, "frieda@example.com")["accessToken"]).get("/api/auth/me"))
    assert me["merchant"] == {"businessName": "Kapana Corner", "stallName": "Gate B"}
    assert me["phone"] == "+264811234567" and me["emailVerified"] is False and "organiser" not in me


def test_signing_in_works_before_verification(client: Client) -> None:
    data(client.post("/api/auth/register/customer", build_body("customer")), 201)
    assert sign_in(client, "frieda@example.com")["user"]["email"] == "frieda@example.com"


def test_a_verified_address_gets_a_mail_and_nothing_changes(client: Client) -> None:
    owner = create_customer(email="frieda@example.com")
    response = client.post("/api/auth/register/merchant", build_body("merchant", password="another password"))
    assert data(response, 201) == {}
    assert "already" in list_mails_to("frieda@example.com")[0]["subject"]
    assert "/reset-password" in list_mails_to("frieda@example.com")[0]["text"]
    assert sign_in(client, owner.email)["user"]["roles"] == ["customer"]


def test_last_registration_owns_unverified_address(client: Client) -> None:
    data(client.post("/api/auth/register/organiser", build_body("organiser", password="the squatter's own")), 201)
    squatter = sign_in(client, "frieda@example.com", "the squatter's own")
    first_code = find_newest_code("frieda@example.com")
    data(client.post("/api/auth/register/customer", build_body("customer")), 201)

    assert read_error(client.as_(squatter["accessToken"]).get("/api/auth/me")) == (401, "SESSION_ENDED")
    old_login = {"email": "frieda@example.com", "password": "the squatter's own"}
    assert read_error(client.post("/api/auth/login", old_login)) == (401, "INVALID_CREDENTIALS")
    void_code_response = client.post("/api/auth/verify-email", {"email": "frieda@example.com", "code": first_code})
    assert read_error(void_code_response) == (422, "CODE_INVALID")
    me = data(client.as_(sign_in(client, "frieda@example.com")["accessToken"]).get("/api/auth/me"))
    assert me["roles"] == ["customer"] and "organiser" not in me


def test_signed_in_caller_adds_a_role_with_own_password(client: Client) -> None:
    owner = create_customer(email="frieda@example.com")
    caller = create_signed_in_client(client, owner)
    data(caller.post("/api/auth/register/organiser", build_body("organiser")), 201)
    me = data(caller.get("/api/auth/me"))
    assert me["roles"] == ["customer", "organiser"] and me["organiser"] == {"orgName": "Windhoek Lights"}
    data(caller.post("/api/auth/register/organiser", build_body("organiser")), 201)
    assert data(caller.get("/api/auth/me"))["roles"] == ["customer", "organiser"]


def test_a_role_is_not_added_with_a_wrong_password(client: Client) -> None:
    caller = create_signed_in_client(client, create_customer(email="frieda@example.com"))
    wrong_password = caller.post("/api/auth/register/organiser", build_body("organiser", password="not the password"))
    assert read_error(wrong_password) == (422, "CURRENT_PASSWORD_WRONG")
    assert data(caller.get("/api/auth/me"))["roles"] == ["customer"]


def test_admin_is_not_replaced_by_registration(client: Client) -> None:
    admin = create_account("admin", email="boss@example.com", verified=False)
    data(
        client.post("/api/auth/register/customer", build_body("customer", "boss@example.com", password="mine, mine")),
        201,
    )
    assert sign_in(client, admin.email)["user"]["roles"] == ["admin"]


def request_after_registration(client: Client, role: str, known: bool) -> list[int]:
    """The statuses of the requests that a stranger makes after registering an address."""
    address = f"{role}-{known}@example.com"
    if known:
        create_customer(email=address)
    paths = ["resend-verification", "resend-verification", "password-reset/request", "password-reset/request"]
    data(client.post(f"/api/auth/register/{role}", build_body(role, address)), 201)
    return [client.post(f"/api/auth/{path}", {"email": address}).status_code for path in paths]


@pytest.mark.parametrize("role", BODIES)
def test_requests_after_registration_do_not_reveal_accounts(client: Client, role: str) -> None:
    assert (
        request_after_registration(client, role, known=True)
        == request_after_registration(client, role, known=False)
        == [429, 429, 200, 429]
    )


def test_verified_owner_gets_one_registration_mail_a_minute(client: Client) -> None:
    create_customer(email="frieda@example.com")
    callers = [
        client,
        create_signed_in_client(client, create_customer()),
        create_signed_in_client(client, create_customer()),
    ]
    for caller in callers * 3:
        data(caller.post("/api/auth/register/customer", build_body("customer")), 201)
        assert len(list_mails_to("frieda@example.com")) == 1
    for _ in range(11):
        advance_time("61 seconds")
        data(client.post("/api/auth/register/customer", build_body("customer")), 201)
        list_mails_to("frieda@example.com")
    assert len(list_mails_to("frieda@example.com")) == 10, "the daily limit"


def test_signed_in_registrations_count_for_their_network(client: Client) -> None:
    callers = [client, *(create_signed_in_client(client, create_customer()) for _ in range(3))]
    statuses = [
        callers[number % 4].post("/api/auth/register/customer", {"email": "no address"}).status_code
        for number in range(21)
    ]
    assert statuses == [422] * 20 + [429]


@pytest.mark.parametrize("extra", ["roles", "tier", "assignedTier", "emailVerified", "id"])
def test_privileged_fields_are_refused(client: Client, extra: str) -> None:
    response = client.post("/api/auth/register/customer", build_body("customer", **{extra: "super_admin"}))
    assert list_problems(response) == {extra: "unknown_field"}


def test_registration_response_lists_all_problems(client: Client) -> None:
    invalid_body = {"email": "no address", "password": "short", "firstName": "", "phone": "12", "lastname": "A"}
    assert list_problems(client.post("/api/auth/register/customer", invalid_body)) == {
        "email": "invalid_email",
        "password": "too_short",
        "firstName": "too_short",
        "phone": "invalid_phone",
        "lastName": "required",
        "lastname": "unknown_field",
    }


def test_all_characters_of_a_password_count(client: Client) -> None:
    long = "ǃ" * 127 + "x"
    data(client.post("/api/auth/register/customer", build_body("customer", password=long)), 201)
    wrong_password = {"email": "frieda@example.com", "password": long[:-1] + "y"}
    assert read_error(client.post("/api/auth/login", wrong_password)) == (401, "INVALID_CREDENTIALS")
    assert sign_in(client, "frieda@example.com", long)


def test_production_refuses_common_passwords_and_reserved_domains(app: Flask, client: Client) -> None:
    development = app.extensions["settings"]
    app.extensions["settings"] = settings_for(
        database_url=development.DATABASE_URL,
        redis_url=development.REDIS_URL,
        APP_ENV="production",
        PAYRAIL_MODE="disabled",
    )
    try:
        common = client.post("/api/auth/register/customer", build_body("customer", "f@gmail.com", password="Password1"))
        assert list_problems(common) == {"password": "too_common"}
        reserved = client.post("/api/auth/register/customer", build_body("customer"))
        assert reserved.status_code == 201, "example.com is a real domain; only the top-level domain is reserved"
        assert list_problems(client.post("/api/auth/register/customer", build_body("customer", "f@shop.test")))
    finally:
        app.extensions["settings"] = development
    assert find_account_by_email("f@gmail.com") is None
