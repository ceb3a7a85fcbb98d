"""Admins: the first by the bootstrap secret, the others by admins."""

from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, account, customer, mails_to, sign_in, signed_in
from tests.http import Client, data, refusal
from tests.races import at_once
from tests.settings import BOOTSTRAP_SECRET


def body(email: str = "boss@example.com", **more: object) -> dict[str, object]:
    return {"email": email, "password": PASSWORD, "name": "The Boss", **more}


def admins() -> int:
    with transaction() as session:
        return int(session.execute(text("SELECT count(*) FROM account WHERE admin_tier IS NOT NULL")).scalar() or 0)


def test_bootstrap_secret_creates_one_super_admin(client: Client) -> None:
    data(client.post("/api/auth/register/admin", body(bootstrapSecret=BOOTSTRAP_SECRET, title="Founder")), 201)
    me = data(client.as_(sign_in(client, "boss@example.com")["accessToken"]).get("/api/auth/me"))
    assert me["admin"] == {"tier": "super_admin", "title": "Founder"}
    again = client.post("/api/auth/register/admin", body("second@example.com", bootstrapSecret=BOOTSTRAP_SECRET))
    assert refusal(again) == (403, "BOOTSTRAP_REFUSED") and admins() == 1


def test_concurrent_bootstraps_create_one_admin(client: Client) -> None:
    def register(number: int) -> int:
        who = body(f"boss{number}@example.com", bootstrapSecret=BOOTSTRAP_SECRET)
        return client.post(
            "/api/auth/register/admin", who, environ_base={"REMOTE_ADDR": f"127.0.{number}.1"}
        ).status_code

    answers = at_once(64, register)
    assert answers.count(201) == 1 and set(answers) <= {201, 403, 503} and admins() == 1


@pytest.mark.parametrize("secret", ["wrong", "", None])
def test_wrong_or_missing_secret_creates_no_admin(client: Client, secret: str | None) -> None:
    more = {} if secret is None else {"bootstrapSecret": secret}
    assert client.post("/api/auth/register/admin", body(**more)).status_code in (403, 422)
    assert admins() == 0


def test_five_wrong_secrets_block_the_network(client: Client) -> None:
    for _ in range(5):
        wrong = client.post("/api/auth/register/admin", body(bootstrapSecret="wrong"))
        assert refusal(wrong) == (403, "BOOTSTRAP_REFUSED")
    right = client.post("/api/auth/register/admin", body(bootstrapSecret=BOOTSTRAP_SECRET))
    assert refusal(right) == (429, "RATE_LIMITED") and admins() == 0


@pytest.mark.parametrize(
    ("holds", "gives", "answer"),
    [
        ("super_admin", "super_admin", 201),
        ("admin", "admin", 201),
        ("admin", "analyst", 201),
        ("admin", "super_admin", 403),
        ("support", "analyst", 403),
        ("analyst", "analyst", 403),
    ],
)
def test_admin_gives_at_most_own_tier(client: Client, holds: str, gives: str, answer: int) -> None:
    boss = signed_in(client, account("admin", admin_tier=holds))
    assert boss.post("/api/auth/register/admin", body("new@example.com", assignedTier=gives)).status_code == answer
    assert admins() == (2 if answer == 201 else 1)


def test_a_customer_cannot_make_admins(client: Client) -> None:
    caller = signed_in(client, customer())
    assert refusal(caller.post("/api/auth/register/admin", body())) == (403, "BOOTSTRAP_REFUSED")


def test_bootstrap_secret_makes_own_account_admin(client: Client) -> None:
    owner = customer(email="boss@example.com")
    data(signed_in(client, owner).post("/api/auth/register/admin", body(bootstrapSecret=BOOTSTRAP_SECRET)), 201)
    assert sign_in(client, owner.email)["user"]["roles"] == ["admin", "customer"]


def test_command_creates_admins_and_adds_the_role(app: Flask, client: Client) -> None:
    customer(email="frieda@example.com")
    run = app.test_cli_runner().invoke
    options = ["--name", "Frieda", "--password", PASSWORD, "--tier", "support"]
    assert run(args=["admin", "create", "--email", "Frieda@example.com", *options]).exit_code == 0
    assert run(args=["admin", "create", "--email", "new@example.com", *options]).exit_code == 0
    assert (
        run(args=["admin", "create", "--email", "new@example.com", "--name", "x", "--password", "short"]).exit_code == 2
    )
    assert sign_in(client, "frieda@example.com")["user"]["roles"] == ["admin", "customer"]
    assert sign_in(client, "new@example.com")["user"]["roles"] == ["admin"]
    assert "code" in mails_to("new@example.com")[0]["subject"]


def test_command_refuses_invisible_names(app: Flask, client: Client) -> None:
    run = app.test_cli_runner().invoke
    options = ["--email", "new@example.com", "--password", PASSWORD]
    assert run(args=["admin", "create", *options, "--name", "\u200b\u202e"]).exit_code == 2
    assert run(args=["admin", "create", *options, "--name", "Fri\u202eeda\u200b"]).exit_code == 0
    assert sign_in(client, "new@example.com")["user"]["name"] == "Frieda"


def test_command_refuses_invalid_or_reserved_addresses(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address has to be one that signing in takes: no reserved domain in production, and an address at all."""
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], APP_ENV="production"))
    run = app.test_cli_runner().invoke
    options = ["--name", "Frieda", "--password", PASSWORD]
    for address in ("admin@festival.example", "frieda"):
        refused = run(args=["admin", "create", "--email", address, *options])
        assert refused.exit_code == 2 and address in refused.output
