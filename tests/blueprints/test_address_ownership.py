"""An unverified account whose address changes hands is retired, and nothing of it goes on working."""

from typing import Any

from flask import Flask

from app.accounts.actions import create_admin
from app.accounts.models import Account, ExternalIdentity
from app.core.db import db
from app.core.transaction import transaction
from app.merchants.models import Merchant
from tests.blueprints.test_codes import NEW, completed, later, reset_token
from tests.blueprints.test_registration import body_of
from tests.factories import events, merchants
from tests.factories.accounts import PASSWORD, account, customer, deliver, mails_to, newest_code, sign_in, signed_in
from tests.http import Client, data, refusal
from tests.races import at_once

ADDRESS = "frieda@example.com"
SQUATTERS = "the squatter's own"


def registered(client: Client, kind: str, password: str = PASSWORD) -> Client:
    """A client that has registered the address and signed in."""
    data(client.post(f"/api/auth/register/{kind}", body_of(kind, ADDRESS, password=password)), 201)
    return client.as_(sign_in(client, ADDRESS, password)["accessToken"])


def holder() -> Account:
    db.session.remove()
    return db.session.query(Account).filter_by(email=ADDRESS).one()


def login(client: Client, password: str) -> tuple[int, str] | None:
    answer = client.post("/api/auth/login", {"email": ADDRESS, "password": password})
    return None if answer.status_code == 200 else refusal(answer)


def test_registration_retires_unverified_account(client: Client) -> None:
    squatter = registered(client, "organiser", SQUATTERS)
    old = holder().id
    owner = registered(client, "customer")
    assert holder().id != old
    assert refusal(squatter.get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert login(client, SQUATTERS) == (401, "INVALID_CREDENTIALS")
    me = data(owner.get("/api/auth/me"))
    assert me["roles"] == ["customer"] and "organiser" not in me
    retired = db.session.get_one(Account, old)
    assert retired.retired_at and retired.email == f"{old}@retired.invalid" and retired.roles == []
    assert "Nangula" not in retired.name and retired.password_hash is None


def test_identity_of_retired_account_is_unlinked(client: Client) -> None:
    registered(client, "customer", SQUATTERS)
    with transaction() as session:
        session.add(ExternalIdentity(provider="google", subject="squatter", account_id=holder().id))
    registered(client, "customer")
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": _code_after_gap()}))
    assert db.session.query(ExternalIdentity).count() == 0


def test_payout_details_are_erased_with_retired_account(client: Client) -> None:
    squatter = merchants.merchant_account(email=ADDRESS, verified=False)
    with transaction() as session:
        session.add(Merchant(account_id=squatter.id, profile_id=squatter.id, payout_details=b"sealed"))
    owner = registered(client, "merchant")
    assert not data(owner.get("/api/merchants/me")).get("payoutDetails")
    deliver()
    db.session.remove()
    assert db.session.get_one(Merchant, squatter.id).payout_details is None


def test_events_and_links_of_retired_account_end(client: Client) -> None:
    """They were made before publishing and inviting needed a verified address."""
    squatter = signed_in(client, account("organiser", email=ADDRESS))
    event = events.published(squatter)
    link = data(squatter.post(f"/api/events/{event['id']}/merchant-invite", {"businessName": "Braai"}), 201)
    with transaction() as session:
        session.execute(db.text("UPDATE account SET email_verified_at = NULL"))
    owner = registered(client, "organiser")
    deliver()
    assert data(owner.get("/api/events?mine=true"))["events"] == []
    assert client.get(f"/api/events/merchant-invite/{link['slug']}").status_code == 410
    assert client.get(f"/api/events/{event['id']}").status_code in (401, 404)
    assert data(client.get("/api/events"))["events"] == []


def test_reset_retires_unverified_account_and_keeps_roles(client: Client) -> None:
    squatter = registered(client, "organiser", SQUATTERS)
    old = holder().id
    assert completed(client, reset_token(client)) == (200, "SUCCESS")
    assert refusal(squatter.get("/api/auth/me")) == (401, "SESSION_ENDED")
    owner = client.as_(sign_in(client, ADDRESS, NEW)["accessToken"])
    me = data(owner.get("/api/auth/me"))
    assert me["id"] != old and me["roles"] == ["organiser"] and me["emailVerified"] is True
    assert me["name"] == "frieda" and "organiser" not in me


def test_owner_registers_organiser_profile_after_reset(client: Client) -> None:
    registered(client, "organiser", SQUATTERS)
    completed(client, reset_token(client))
    owner = client.as_(sign_in(client, ADDRESS, NEW)["accessToken"])
    data(owner.post("/api/auth/register/organiser", body_of("organiser", ADDRESS, password=NEW)), 201)
    assert data(owner.get("/api/auth/me"))["organiser"] == {"orgName": "Windhoek Lights"}


def test_unverified_admin_stays_admin_after_reset(client: Client) -> None:
    boss = account("admin", email=ADDRESS, verified=False, admin_tier="support")
    assert completed(client, reset_token(client)) == (200, "SUCCESS")
    me = data(client.as_(sign_in(client, ADDRESS, NEW)["accessToken"]).get("/api/auth/me"))
    assert me["id"] != boss.id and me["admin"]["tier"] == "support"


def test_a_reset_of_a_verified_account_keeps_the_account(client: Client) -> None:
    owner = customer(email=ADDRESS)
    assert completed(client, reset_token(client)) == (200, "SUCCESS")
    assert holder().id == owner.id


def link_squatters_google() -> None:
    with transaction() as session:
        session.add(ExternalIdentity(provider="google", subject="squatter", account_id=holder().id))


def test_reset_unlinks_identities_of_strangers(client: Client) -> None:
    """A stranger registers in the owner's name between the owner's registration and code. The owner enters the next
    code and so verifies an account whose password is the stranger's, who links a Google account to it."""
    registered(client, "customer")
    registered(client, "customer", SQUATTERS)
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": _code_after_gap()}))
    assert login(client, SQUATTERS) is None
    link_squatters_google()
    later("61 seconds")
    assert completed(client, reset_token(client)) == (200, "SUCCESS")
    assert db.session.query(ExternalIdentity).count() == 0
    assert login(client, SQUATTERS) == (401, "INVALID_CREDENTIALS") and login(client, NEW) is None
    assert "were unlinked" in mails_to(ADDRESS)[0]["text"]


def test_verification_unlinks_earlier_identities(client: Client) -> None:
    """Earlier releases let it link."""
    registered(client, "customer")
    link_squatters_google()
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": newest_code(ADDRESS)}))
    assert db.session.query(ExternalIdentity).count() == 0


def test_registration_does_not_void_reset_token(client: Client) -> None:
    registered(client, "customer", SQUATTERS)
    token = reset_token(client)
    registered(client, "customer", SQUATTERS)
    assert completed(client, token) == (200, "SUCCESS")
    assert login(client, SQUATTERS) == (401, "INVALID_CREDENTIALS") and login(client, NEW) is None


def test_code_of_retired_account_is_void(client: Client) -> None:
    registered(client, "organiser", SQUATTERS)
    first = newest_code(ADDRESS)
    registered(client, "customer")
    early = client.post("/api/auth/verify-email", {"email": ADDRESS, "code": first})
    assert refusal(early) == (422, "CODE_INVALID")
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": _code_after_gap()}))
    assert holder().email_verified_at and holder().roles == ["customer"]


def _code_after_gap() -> str:
    """The code that waited for the gap between two mails."""
    later("61 seconds")
    with transaction() as session:
        session.execute(db.text("UPDATE outbox SET run_at = now() WHERE state = 'ready'"))
    return newest_code(ADDRESS)


def test_registration_within_resend_interval_keeps_mailed_code(client: Client) -> None:
    for _ in range(3):
        registered(client, "customer")
    code = _code_after_gap()
    later("61 seconds")
    deliver()
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": code}))


def test_command_replaces_unverified_account(app: Flask, client: Client) -> None:
    squatter = registered(client, "customer", SQUATTERS)
    create_admin(email=ADDRESS, password=PASSWORD, name="Boss", tier="super_admin")
    assert refusal(squatter.get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert login(client, SQUATTERS) == (401, "INVALID_CREDENTIALS")
    assert sign_in(client, ADDRESS)["user"]["roles"] == ["admin"]


def test_concurrent_registrations_resets_and_codes_leave_one_account(client: Client) -> None:
    registered(client, "customer", SQUATTERS)
    code, token = newest_code(ADDRESS), reset_token(client)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("password-reset/complete", {"email": ADDRESS, "resetToken": token, "password": NEW}),
        ("verify-email", {"email": ADDRESS, "code": code}),
        *[("register/customer", body_of("customer", ADDRESS, password=SQUATTERS))] * 4,
        ("resend-verification", {"email": ADDRESS}),
        ("login", {"email": ADDRESS, "password": SQUATTERS}),
    ]
    answers = at_once(len(calls), lambda number: client.post(f"/api/auth/{calls[number][0]}", calls[number][1]))
    assert {answer.status_code for answer in answers} <= {200, 201, 401, 422, 429}
    assert holder().retired_at is None
