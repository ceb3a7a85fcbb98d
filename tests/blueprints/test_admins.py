"""Admins: the first by the bootstrap secret, the others by admins."""

from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    list_mails_to,
    sign_in,
)
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.settings import BOOTSTRAP_SECRET


def build_body(email: str = "boss@example.com", **fields: object) -> dict[str, object]:
    return {"email": email, "password": PASSWORD, "name": "The Boss", **fields}


def count_admins() -> int:
    with transaction() as session:
        return int(session.execute(text("SELECT count(*) FROM account WHERE admin_tier IS NOT NULL")).scalar() or 0)


def test_bootstrap_secret_creates_one_super_admin(client: Client) -> None:
    data(client.post("/api/auth/register/admin", build_body(bootstrapSecret=BOOTSTRAP_SECRET, title="Founder")), 201)
    me = data(client.as_(sign_in(client, "boss@example.com")["accessToken"]).get("/api/auth/me"))
    assert me["admin"] == {"tier": "super_admin", "title": "Founder"}
    response = client.post(
        "/api/auth/register/admin", build_body("second@example.com", bootstrapSecret=BOOTSTRAP_SECRET)
    )
    assert read_error(response) == (403, "BOOTSTRAP_REFUSED") and count_admins() == 1


def test_concurrent_bootstraps_create_one_admin(client: Client) -> None:
    def register(number: int) -> int:
        registration = build_body(f"boss{number}@example.com", bootstrapSecret=BOOTSTRAP_SECRET)
        return client.post(
            "/api/auth/register/admin", registration, environ_base={"REMOTE_ADDR": f"127.0.{number}.1"}
        ).status_code

    statuses = run_concurrently(64, register)
    assert statuses.count(201) == 1 and set(statuses) <= {201, 403, 503} and count_admins() == 1


@pytest.mark.parametrize("secret", ["wrong", "", None])
def test_wrong_or_missing_secret_creates_no_admin(client: Client, secret: str | None) -> None:
    fields = {} if secret is None else {"bootstrapSecret": secret}
    assert client.post("/api/auth/register/admin", build_body(**fields)).status_code in (403, 422)
    assert count_admins() == 0


def test_five_wrong_secrets_block_the_network(client: Client) -> None:
    for _ in range(5):
        response = client.post("/api/auth/register/admin", build_body(bootstrapSecret="wrong"))
        assert read_error(response) == (403, "BOOTSTRAP_REFUSED")
    response = client.post("/api/auth/register/admin", build_body(bootstrapSecret=BOOTSTRAP_SECRET))
    assert read_error(response) == (429, "RATE_LIMITED") and count_admins() == 0


@pytest.mark.parametrize(
    ("own_tier", "assigned_tier", "status"),
    [
        ("super_admin", "super_admin", 201),
        ("admin", "admin", 201),
        ("admin", "analyst", 201),
        ("admin", "super_admin", 403),
        ("support", "analyst", 403),
        ("analyst", "analyst", 403),
    ],
)
def test_admin_gives_at_most_own_tier(client: Client, own_tier: str, assigned_tier: str, status: int) -> None:
    admin_client = create_signed_in_client(client, create_account("admin", admin_tier=own_tier))
    assert (
        admin_client.post(
            "/api/auth/register/admin", build_body("new@example.com", assignedTier=assigned_tier)
        ).status_code
        == status
    )
    assert count_admins() == (2 if status == 201 else 1)


def test_a_customer_cannot_make_admins(client: Client) -> None:
    caller = create_signed_in_client(client, create_customer())
    assert read_error(caller.post("/api/auth/register/admin", build_body())) == (403, "BOOTSTRAP_REFUSED")


def test_bootstrap_secret_makes_own_account_admin(client: Client) -> None:
    owner = create_customer(email="boss@example.com")
    data(
        create_signed_in_client(client, owner).post(
            "/api/auth/register/admin", build_body(bootstrapSecret=BOOTSTRAP_SECRET)
        ),
        201,
    )
    assert sign_in(client, owner.email)["user"]["roles"] == ["admin", "customer"]


def test_command_creates_admins_and_adds_the_role(app: Flask, client: Client) -> None:
    create_customer(email="frieda@example.com")
    invoke = app.test_cli_runner().invoke
    options = ["--name", "Frieda", "--password", PASSWORD, "--tier", "support"]
    assert invoke(args=["admin", "create", "--email", "Frieda@example.com", *options]).exit_code == 0
    assert invoke(args=["admin", "create", "--email", "new@example.com", *options]).exit_code == 0
    assert (
        invoke(args=["admin", "create", "--email", "new@example.com", "--name", "x", "--password", "short"]).exit_code
        == 2
    )
    assert sign_in(client, "frieda@example.com")["user"]["roles"] == ["admin", "customer"]
    assert sign_in(client, "new@example.com")["user"]["roles"] == ["admin"]
    assert "code" in list_mails_to("new@example.com")[0]["subject"]


def test_command_refuses_invisible_names(app: Flask, client: Client) -> None:
    invoke = app.test_cli_runner().invoke
    options = ["--email", "new@example.com", "--password", PASSWORD]
    assert invoke(args=["admin", "create", *options, "--name", "\u200b\u202e"]).exit_code == 2
    assert invoke(args=["admin", "create", *options, "--name", "Fri\u202eeda\u200b"]).exit_code == 0
    assert sign_in(client, "new@example.com")["user"]["name"] == "Frieda"


def test_command_refuses_invalid_or_reserved_addresses(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address must be valid, and in production its domain must not be reserved."""
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], APP_ENV="production"))
    invoke = app.test_cli_runner().invoke
    options = ["--name", "Frieda", "--password", PASSWORD]
    for address in ("admin@festival.example", "frieda"):
        result = invoke(args=["admin", "create", "--email", address, *options])
        assert result.exit_code == 2 and address in result.output
