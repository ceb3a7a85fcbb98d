"""An unverified account whose address goes to another person is retired, and nothing of it works any more."""

from typing import Any

from flask import Flask

from app.accounts.actions import create_admin
from app.accounts.models import Account, ExternalIdentity
from app.audit.actions import Action
from app.core.db import db
from app.core.transaction import transaction
from app.merchants.models import Merchant
from tests.audit.scenes import get_entry
from tests.blueprints.test_codes import NEW_PASSWORD, advance_time, complete_reset, reset_token
from tests.blueprints.test_registration import build_body
from tests.factories import events, merchants
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    find_newest_code,
    list_mails_to,
    run_jobs,
    sign_in,
)
from tests.http import Client, data, read_error
from tests.races import run_concurrently

ADDRESS = "frieda@example.com"
SQUATTER_PASSWORD = "the squatter's own"


def register(client: Client, kind: str, password: str = PASSWORD) -> Client:
    """A client that has registered ADDRESS and signed in."""
    data(client.post(f"/api/auth/register/{kind}", build_body(kind, ADDRESS, password=password)), 201)
    return client.as_(sign_in(client, ADDRESS, password)["accessToken"])


def get_owner() -> Account:
    db.session.remove()
    return db.session.query(Account).filter_by(email=ADDRESS).one()


def login(client: Client, password: str) -> tuple[int, str] | None:
    response = client.post("/api/auth/login", {"email": ADDRESS, "password": password})
    return None if response.status_code == 200 else read_error(response)


def test_registration_retires_unverified_account(client: Client) -> None:
    squatter = register(client, "organiser", SQUATTER_PASSWORD)
    old_id = get_owner().id
    owner = register(client, "customer")
    assert get_owner().id != old_id
    assert read_error(squatter.get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert login(client, SQUATTER_PASSWORD) == (401, "INVALID_CREDENTIALS")
    me = data(owner.get("/api/auth/me"))
    assert me["roles"] == ["customer"] and "organiser" not in me
    retired = db.session.get_one(Account, old_id)
    assert retired.retired_at and retired.email == f"{old_id}@retired.invalid" and retired.roles == []
    assert "Nangula" not in retired.name and retired.password_hash is None


def test_identity_of_retired_account_is_unlinked(client: Client) -> None:
    register(client, "customer", SQUATTER_PASSWORD)
    with transaction() as session:
        session.add(ExternalIdentity(provider="google", subject="squatter", account_id=get_owner().id))
    register(client, "customer")
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": _get_delayed_code()}))
    assert db.session.query(ExternalIdentity).count() == 0


def test_payout_details_are_erased_with_retired_account(client: Client) -> None:
    squatter = merchants.create_merchant_account(email=ADDRESS, verified=False)
    with transaction() as session:
        session.add(Merchant(account_id=squatter.id, profile_id=squatter.id, payout_details=b"sealed"))
    owner = register(client, "merchant")
    assert not data(owner.get("/api/merchants/me")).get("payoutDetails")
    run_jobs()
    db.session.remove()
    assert db.session.get_one(Merchant, squatter.id).payout_details is None


def test_events_and_links_of_retired_account_end(client: Client) -> None:
    """They date from before publishing and inviting needed a verified address."""
    squatter = create_signed_in_client(client, create_account("organiser", email=ADDRESS))
    event = events.create_published_event(squatter)
    link = data(squatter.post(f"/api/events/{event['id']}/merchant-invite", {"businessName": "Braai"}), 201)
    with transaction() as session:
        session.execute(db.text("UPDATE account SET email_verified_at = NULL"))
    owner = register(client, "organiser")
    run_jobs()
    assert data(owner.get("/api/events?mine=true"))["events"] == []
    assert client.get(f"/api/events/merchant-invite/{link['slug']}").status_code == 410
    assert client.get(f"/api/events/{event['id']}").status_code in (401, 404)
    entry = get_entry(Action.EVENT_CANCELLED)
    assert (entry["actor_kind"], entry["event_id"], entry["organisation_id"]) == (
        "system",
        event["id"],
        event["organiserId"],
    )
    assert data(client.get("/api/events"))["events"] == []


def test_reset_retires_unverified_account_and_keeps_roles(client: Client) -> None:
    squatter = register(client, "organiser", SQUATTER_PASSWORD)
    old_id = get_owner().id
    assert complete_reset(client, reset_token(client)) == (200, "SUCCESS")
    assert read_error(squatter.get("/api/auth/me")) == (401, "SESSION_ENDED")
    owner = client.as_(sign_in(client, ADDRESS, NEW_PASSWORD)["accessToken"])
    me = data(owner.get("/api/auth/me"))
    assert me["id"] != old_id and me["roles"] == ["organiser"] and me["emailVerified"] is True
    assert me["name"] == "frieda" and "organiser" not in me


def test_owner_registers_organiser_profile_after_reset(client: Client) -> None:
    register(client, "organiser", SQUATTER_PASSWORD)
    complete_reset(client, reset_token(client))
    owner = client.as_(sign_in(client, ADDRESS, NEW_PASSWORD)["accessToken"])
    data(owner.post("/api/auth/register/organiser", build_body("organiser", ADDRESS, password=NEW_PASSWORD)), 201)
    assert data(owner.get("/api/auth/me"))["organiser"] == {"orgName": "Windhoek Lights"}


def test_unverified_admin_stays_admin_after_reset(client: Client) -> None:
    admin = create_account("admin", email=ADDRESS, verified=False, admin_tier="support")
    assert complete_reset(client, reset_token(client)) == (200, "SUCCESS")
    me = data(client.as_(sign_in(client, ADDRESS, NEW_PASSWORD)["accessToken"]).get("/api/auth/me"))
    assert me["id"] != admin.id and me["admin"]["tier"] == "support"


def test_a_reset_of_a_verified_account_keeps_the_account(client: Client) -> None:
    owner = create_customer(email=ADDRESS)
    assert complete_reset(client, reset_token(client)) == (200, "SUCCESS")
    assert get_owner().id == owner.id


def link_google_of_squatter() -> None:
    with transaction() as session:
        session.add(ExternalIdentity(provider="google", subject="squatter", account_id=get_owner().id))


def test_reset_unlinks_identities_of_strangers(client: Client) -> None:
    """A stranger registers in the owner's name between the owner's registration and code. The owner enters the next
    code and so verifies an account whose password is the stranger's, who links a Google account to it."""
    register(client, "customer")
    register(client, "customer", SQUATTER_PASSWORD)
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": _get_delayed_code()}))
    assert login(client, SQUATTER_PASSWORD) is None
    link_google_of_squatter()
    advance_time("61 seconds")
    assert complete_reset(client, reset_token(client)) == (200, "SUCCESS")
    assert db.session.query(ExternalIdentity).count() == 0
    assert login(client, SQUATTER_PASSWORD) == (401, "INVALID_CREDENTIALS") and login(client, NEW_PASSWORD) is None
    assert "were unlinked" in list_mails_to(ADDRESS)[0]["text"]


def test_verification_unlinks_earlier_identities(client: Client) -> None:
    """Earlier releases let unverified accounts link identities."""
    register(client, "customer")
    link_google_of_squatter()
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": find_newest_code(ADDRESS)}))
    assert db.session.query(ExternalIdentity).count() == 0


def test_registration_does_not_void_reset_token(client: Client) -> None:
    register(client, "customer", SQUATTER_PASSWORD)
    token = reset_token(client)
    register(client, "customer", SQUATTER_PASSWORD)
    assert complete_reset(client, token) == (200, "SUCCESS")
    assert login(client, SQUATTER_PASSWORD) == (401, "INVALID_CREDENTIALS") and login(client, NEW_PASSWORD) is None


def test_code_of_retired_account_is_void(client: Client) -> None:
    register(client, "organiser", SQUATTER_PASSWORD)
    first_code = find_newest_code(ADDRESS)
    register(client, "customer")
    response = client.post("/api/auth/verify-email", {"email": ADDRESS, "code": first_code})
    assert read_error(response) == (422, "CODE_INVALID")
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": _get_delayed_code()}))
    assert get_owner().email_verified_at and get_owner().roles == ["customer"]


def _get_delayed_code() -> str:
    """The code that waited for RESEND_INTERVAL."""
    advance_time("61 seconds")
    with transaction() as session:
        session.execute(db.text("UPDATE outbox SET run_at = now() WHERE state = 'ready'"))
    return find_newest_code(ADDRESS)


def test_registration_within_resend_interval_keeps_mailed_code(client: Client) -> None:
    for _ in range(3):
        register(client, "customer")
    code = _get_delayed_code()
    advance_time("61 seconds")
    run_jobs()
    data(client.post("/api/auth/verify-email", {"email": ADDRESS, "code": code}))


def test_command_replaces_unverified_account(app: Flask, client: Client) -> None:
    squatter = register(client, "customer", SQUATTER_PASSWORD)
    create_admin(email=ADDRESS, password=PASSWORD, name="Boss", tier="super_admin")
    assert read_error(squatter.get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert login(client, SQUATTER_PASSWORD) == (401, "INVALID_CREDENTIALS")
    assert sign_in(client, ADDRESS)["user"]["roles"] == ["admin"]


def test_concurrent_registrations_resets_and_codes_leave_one_account(client: Client) -> None:
    register(client, "customer", SQUATTER_PASSWORD)
    code, token = find_newest_code(ADDRESS), reset_token(client)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("password-reset/complete", {"email": ADDRESS, "resetToken": token, "password": NEW_PASSWORD}),
        ("verify-email", {"email": ADDRESS, "code": code}),
        *[("register/customer", build_body("customer", ADDRESS, password=SQUATTER_PASSWORD))] * 4,
        ("resend-verification", {"email": ADDRESS}),
        ("login", {"email": ADDRESS, "password": SQUATTER_PASSWORD}),
    ]
    responses = run_concurrently(
        len(calls), lambda number: client.post(f"/api/auth/{calls[number][0]}", calls[number][1])
    )
    assert {response.status_code for response in responses} <= {200, 201, 401, 422, 429}
    assert get_owner().retired_at is None
