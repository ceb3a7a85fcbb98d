"""Access: accounts, sessions, passwords, merchants, teams, devices and keys."""

from app.accounts.actions import create_admin
from app.accounts.actions.external_login import _link_identity, unlink_identity
from app.accounts.models import Account
from app.accounts.queries import find_caller
from app.audit.actions import Action
from app.clients.identity import Identity
from app.core.db import db
from app.core.transaction import transaction
from tests.audit.scenes import records
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, find_newest_code, sign_in
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import create_merchant_client
from tests.http import Client, data, read_error
from tests.teams.test_devices import add_device, pair
from tests.teams.test_members import MEMBERS, create_team, invite
from tests.teams.test_second_factor_rule import create_profiled_owner

NEW_PASSWORD = "the rain came late to Gobabis"
EMAIL = "tuli@example.com"


@records(Action.REGISTERED, Action.EMAIL_VERIFIED, Action.SIGNED_IN, Action.ROLE_ADDED, Action.SIGNED_OUT)
def registering_and_coming_and_going(client: Client) -> None:
    names = {"firstName": "Tuli", "lastName": "Hamutenya"}
    data(client.post("/api/auth/register/customer", {"email": EMAIL, "password": PASSWORD, **names}), 201)
    data(client.post("/api/auth/verify-email", {"email": EMAIL, "code": find_newest_code(EMAIL)}))
    login = sign_in(client, EMAIL)
    body = {"email": EMAIL, "password": PASSWORD, "name": "Tuli", "businessName": "Kapana Corner"}
    data(client.as_(login["accessToken"]).post("/api/auth/register/merchant", body), 201)
    data(client.post("/api/auth/logout", {"refreshToken": login["refreshToken"]}))


@records(Action.ADMIN_CREATED)
def creating_an_admin(client: Client) -> None:
    create_admin(email=EMAIL, password=PASSWORD, name="Tuli", tier="support")


@records(Action.SIGN_IN_LOCKED)
def guessing_a_password(client: Client) -> None:
    owner = create_account()
    for _ in range(10):
        client.post("/api/auth/login", {"email": owner.email, "password": "wrong"})


@records(Action.SESSION_REUSED)
def using_a_refresh_token_again(client: Client) -> None:
    first = sign_in(client, create_account().email)["refreshToken"]
    second = data(client.post("/api/auth/refresh", {"refreshToken": first}))["refreshToken"]
    data(client.post("/api/auth/refresh", {"refreshToken": second}))
    assert read_error(client.post("/api/auth/refresh", {"refreshToken": first})) == (401, "REFRESH_REUSED")


@records(Action.SESSION_ENDED, Action.OTHER_SESSIONS_ENDED)
def ending_other_sessions(client: Client) -> None:
    owner = create_account()
    me, _ = create_signed_in_client(client, owner), create_signed_in_client(client, owner)
    other = next(item for item in data(me.get("/api/auth/sessions"))["sessions"] if not item["current"])
    for _ in range(2):
        data(me.delete(f"/api/auth/sessions/{other['id']}"))
    data(me.delete("/api/auth/sessions/others"))


@records(Action.PASSWORD_RESET)
def resetting_a_password(client: Client) -> None:
    owner = create_account()
    data(client.post("/api/auth/password-reset/request", {"email": owner.email}))
    body = {"email": owner.email, "code": find_newest_code(owner.email)}
    token = data(client.post("/api/auth/password-reset/verify", body))["resetToken"]
    body = {"email": owner.email, "resetToken": token, "password": NEW_PASSWORD}
    data(client.post("/api/auth/password-reset/complete", body))


@records(Action.IDENTITY_LINKED, Action.IDENTITY_UNLINKED)
def linking_and_unlinking_an_identity(client: Client) -> None:
    owner = create_account()
    create_signed_in_client(client, owner)
    identity = Identity(
        provider="google",
        subject="g-1",
        email=owner.email,
        email_verified=True,
        name=None,
        token_hash="0" * 64,
        expires_at=owner.created_at,
    )
    with transaction() as session:
        _link_identity(session, identity, session.get_one(Account, owner.id))
    session_id = db.session.execute(db.text("SELECT id FROM account_session")).scalar_one()
    caller = find_caller(session_id)
    assert caller is not None
    unlink_identity(caller=caller, provider="google")


@records(Action.PASSWORD_CHANGED, Action.MERCHANT_PAUSED, Action.MERCHANT_RESUMED, Action.MERCHANT_DELETED)
def pausing_and_leaving(client: Client) -> None:
    me = create_merchant_client(client)
    changes = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    data(me.post("/api/merchants/change-password", changes))
    for _ in range(2):
        data(me.post("/api/merchants/me/pause"))
    data(me.post("/api/merchants/me/resume", {"currentPassword": NEW_PASSWORD, "confirmation": "RESUME"}))
    data(me.post("/api/merchants/me/delete", {"currentPassword": NEW_PASSWORD, "confirmation": "DELETE"}))


@records(
    Action.MEMBER_INVITED,
    Action.MEMBER_JOINED,
    Action.MEMBER_CHANGED,
    Action.MEMBER_REMOVED,
    Action.MEMBER_INVITE_WITHDRAWN,
)
def forming_a_team(client: Client) -> None:
    owner, _, _ = create_team(client)
    member = next(item for item in data(owner.get(MEMBERS))["members"] if item["role"] == "manager")
    data(owner.patch(f"{MEMBERS}/{member['id']}", {"role": "door"}))
    data(owner.delete(f"{MEMBERS}/{member['id']}"))
    data(owner.delete(f"{MEMBERS}/{invite(owner, EMAIL)['id']}"))


@records(Action.DEVICE_ADDED, Action.DEVICE_PAIRED, Action.DEVICE_ENDED)
def serving_an_event_by_a_device(client: Client) -> None:
    owner = create_organiser_client(client)
    event_id = create_event(owner)["id"]
    device = add_device(owner, event_id)
    pair(client, device["pairingCode"])
    for _ in range(2):
        data(owner.delete(f"/api/events/{event_id}/devices/{device['id']}"))


@records(Action.API_KEY_CREATED, Action.API_KEY_ENDED)
def making_and_ending_a_key(client: Client) -> None:
    owner = create_organiser_client(client)
    keys = "/api/organisations/me/api-keys"
    key = data(owner.post(keys, {"name": "Shop", "scopes": ["gate"], "password": PASSWORD}), 201)
    for _ in range(2):
        data(owner.delete(f"{keys}/{key['id']}"))


@records(Action.ORGANISATION_CHANGED)
def changing_an_organisation(client: Client) -> None:
    owner = create_profiled_owner(client)
    data(owner.patch("/api/organisations/me", {"vatNumber": "1234567015"}))
