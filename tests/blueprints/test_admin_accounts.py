"""Admins find accounts, suspend and restore them, and end their sessions."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    list_mails_to,
    run_jobs,
    sign_in,
)
from tests.factories.events import create_published_event
from tests.factories.merchants import create_merchant_account, update_merchant
from tests.factories.payouts import execute_sql, fetch_scalar, import_earnings, request_payout
from tests.http import Client, data, list_problems, read_error

ACCOUNTS = "/api/admin/accounts"
REASON = {"reason": "Three people reported payment requests."}


def create_admin_client(client: Client, tier: str = "admin") -> Client:
    return create_signed_in_client(client, create_account("admin", admin_tier=tier, name="Toini Kapewangolo"))


def suspend(admin: Client, account_id: str, **body: Any) -> dict[str, Any]:
    return data(admin.post(f"{ACCOUNTS}/{account_id}/suspend", {**REASON, **body}))


def list_found(admin: Client, q: str) -> list[str]:
    return [row["email"] for row in data(admin.get(ACCOUNTS, query_string={"q": q}))["accounts"]]


def test_accounts_are_found_by_id_address_and_name(client: Client) -> None:
    admin = create_admin_client(client, "support")
    frieda = create_customer(email="frieda@kapana.example", name="Frieda Amupolo-Müller")
    create_customer(email="fr_other@kapana.example", name="Somebody Else")
    for q in (frieda.id, "Frieda@", "frieda@kapana.example", "frieda", "amupolo", "MÜLL", "fried amu"):
        assert list_found(admin, q) == [frieda.email], q
    assert list_found(admin, "fr_o") == ["fr_other@kapana.example"] and list_found(admin, "fr_i") == []
    assert list_found(admin, "' & !") == list_found(admin, "%") == list_found(admin, "kapana") == []


def test_accounts_are_listed_in_pages_newest_first(client: Client) -> None:
    admin = create_admin_client(client)
    for number in range(3):
        create_customer(email=f"number{number}@example.com")
        execute_sql(
            "UPDATE account SET id = :id WHERE email = :email",
            id=f"6{number}" + "0" * 22,
            email=f"number{number}@example.com",
        )
    first = data(admin.get(ACCOUNTS, query_string={"q": "number", "limit": 2, "withTotal": "true"}))
    assert [row["email"] for row in first["accounts"]] == ["number2@example.com", "number1@example.com"]
    cursor = first["pagination"]["nextCursor"]
    rest = data(admin.get(ACCOUNTS, query_string={"q": "number", "limit": 2, "cursor": cursor}))
    assert [row["email"] for row in rest["accounts"]] == ["number0@example.com"]
    assert first["pagination"]["total"] == 3


def test_account_shows_status_and_sessions_but_no_secrets(client: Client) -> None:
    admin = create_admin_client(client, "support")
    owner = create_merchant_account(phone="+264811234567")
    me = create_signed_in_client(client, owner)
    update_merchant(me, payoutDetails={"msisdn": "+264817654321"})
    answer = admin.get(f"{ACCOUNTS}/{owner.id}")
    account = data(answer)
    assert (account["status"], account["sessions"], account["roles"]) == ("active", 1, ["merchant"])
    assert (account["phone"], account["emailVerified"], account["acts"]) == ("+264811234567", True, [])
    text = answer.get_data(as_text=True)
    assert "$argon2id" not in text and "4321" not in text and "password" not in text.lower()
    assert admin.get(f"{ACCOUNTS}/{owner.id}", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert read_error(admin.get(f"{ACCOUNTS}/{'0' * 24}")) == (404, "NOT_FOUND")


def test_suspension_ends_sessions_and_refuses_new_ones(client: Client) -> None:
    admin, owner = create_admin_client(client), create_customer()
    signed_in = sign_in(client, owner.email)
    me = client.as_(signed_in["accessToken"])
    account = suspend(admin, owner.id)
    assert (account["status"], account["sessions"]) == ("suspended", 0)
    assert (account["suspendedBecause"], account["suspendedAt"] is not None) == (REASON["reason"], True)
    assert read_error(me.get("/api/auth/me")) == (401, "SESSION_ENDED")
    refresh = client.post("/api/auth/refresh", {"refreshToken": signed_in["refreshToken"]})
    assert read_error(refresh) == (401, "REFRESH_INVALID")
    wrong = client.post("/api/auth/login", {"email": owner.email, "password": "wrong"})
    assert read_error(wrong) == (401, "INVALID_CREDENTIALS"), "only who knows the password learns of the suspension"
    right = client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD})
    assert read_error(right) == (403, "ACCOUNT_SUSPENDED")
    (mail,) = list_mails_to(owner.email)
    assert mail["subject"] == "Your account is suspended" and REASON["reason"] in mail["text"]


def test_refusal_and_mail_name_the_contact(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(app.extensions["settings"], CONTACT_EMAIL="help@festival.example")
    monkeypatch.setitem(app.extensions, "settings", settings)
    admin, owner = create_admin_client(client), create_customer()
    suspend(admin, owner.id)
    refusal = client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD})
    assert data(refusal, 403) == {"contact": "help@festival.example"}
    assert "help@festival.example" in refusal.get_json()["message"]
    (mail,) = list_mails_to(owner.email)
    assert "write to help@festival.example." in mail["text"] and "mailto:help@festival.example" in mail["html"]


def test_repeating_a_suspension_changes_nothing(client: Client) -> None:
    admin, owner = create_admin_client(client), create_customer()
    first = suspend(admin, owner.id)
    assert suspend(admin, owner.id, reason="Another one.") == first
    assert len(list_mails_to(owner.email)) == 1


def test_restored_owner_signs_in_again(client: Client) -> None:
    admin, owner = create_admin_client(client), create_customer()
    suspend(admin, owner.id)
    account = data(admin.post(f"{ACCOUNTS}/{owner.id}/restore", {"reason": "It was a mistake."}))
    assert (account["status"], account["suspendedBecause"]) == ("active", None)
    assert [act["verb"] for act in account["acts"]] == ["restored", "suspended"]
    sign_in(client, owner.email)
    data(admin.post(f"{ACCOUNTS}/{owner.id}/restore", {}))
    subjects = [mail["subject"] for mail in list_mails_to(owner.email)]
    assert subjects == ["Your account is restored", "Your account is suspended"]


def test_sessions_end_and_owner_signs_in_again(client: Client) -> None:
    admin, owner = create_admin_client(client), create_customer()
    me = create_signed_in_client(client, owner)
    data(admin.delete(f"{ACCOUNTS}/{owner.id}/sessions", json={"reason": "You asked us."}))
    assert read_error(me.get("/api/auth/me")) == (401, "SESSION_ENDED")
    sign_in(client, owner.email)
    (mail,) = list_mails_to(owner.email)
    assert mail["subject"] == "You were signed out everywhere" and "You asked us." in mail["text"]


@pytest.mark.parametrize("act", ["suspend", "restore", "sessions"])
def test_silence_needs_a_reason_which_is_recorded(client: Client, act: str) -> None:
    admin, owner = create_admin_client(client), create_customer()
    if act == "restore":
        suspend(admin, owner.id, tellOwner=False, notToldReason="Court order 17/2026")
    method, path = ("DELETE" if act == "sessions" else "POST"), f"{ACCOUNTS}/{owner.id}/{act}"
    body = {**REASON, "tellOwner": False}
    assert list_problems(admin.open(method, path, body)) == {"notToldReason": "required"}
    assert list_problems(admin.open(method, path, {**REASON, "notToldReason": "x"})) == {"notToldReason": "not_allowed"}
    data(admin.open(method, path, {**body, "notToldReason": "Court order 17/2026"}))
    newest = data(admin.get(f"{ACCOUNTS}/{owner.id}"))["acts"][0]
    assert (newest["ownerTold"], newest["notToldReason"]) == (False, "Court order 17/2026")
    assert list_mails_to(owner.email) == []


def test_suspension_needs_a_reason(client: Client) -> None:
    admin, owner = create_admin_client(client), create_customer()
    assert list_problems(admin.post(f"{ACCOUNTS}/{owner.id}/suspend", {})) == {"reason": "required"}


@pytest.mark.parametrize(
    ("own_tier", "other_tier", "expected"),
    [
        ("admin", "super_admin", (403, "TIER_TOO_HIGH")),
        ("admin", "admin", None),
        ("admin", "support", None),
        ("super_admin", "super_admin", None),
        ("support", "customer", (403, "ROLE_NOT_ALLOWED")),
    ],
)
def test_admins_act_on_accounts_up_to_their_tier(
    client: Client, own_tier: str, other_tier: str, expected: tuple[int, str] | None
) -> None:
    admin = create_admin_client(client, own_tier)
    owner = create_customer() if other_tier == "customer" else create_account("admin", admin_tier=other_tier)
    for method, act in (("POST", "suspend"), ("POST", "restore"), ("DELETE", "sessions")):
        answer = admin.open(method, f"{ACCOUNTS}/{owner.id}/{act}", REASON)
        assert (None if answer.status_code == 200 else read_error(answer)) == expected, act


def test_admins_do_not_act_on_their_own_account(client: Client) -> None:
    admin = create_account("admin")
    me = create_signed_in_client(client, admin)
    assert read_error(me.post(f"{ACCOUNTS}/{admin.id}/suspend", REASON)) == (409, "OWN_ACCOUNT")


@pytest.mark.parametrize("gone", ["email = id || '@deleted.invalid'", "retired_at = now()"])
def test_deleted_and_retired_accounts_are_read_only(client: Client, gone: str) -> None:
    admin, owner = create_admin_client(client), create_customer()
    execute_sql(f"UPDATE account SET {gone} WHERE id = :id", id=owner.id)
    assert data(admin.get(f"{ACCOUNTS}/{owner.id}"))["status"] in ("deleted", "retired")
    assert read_error(admin.post(f"{ACCOUNTS}/{owner.id}/suspend", REASON)) == (404, "NOT_FOUND")


def test_suspended_organisers_events_stay(client: Client) -> None:
    admin, owner = create_admin_client(client), create_account("organiser")
    event = create_published_event(create_signed_in_client(client, owner))
    suspend(admin, owner.id)
    assert client.get(f"/api/events/public/{event['id']}").status_code == 200


def test_payouts_of_a_suspended_merchant_wait(client: Client) -> None:
    admin, owner = create_admin_client(client), create_merchant_account()
    me = create_signed_in_client(client, owner)
    update_merchant(me, payoutDetails={"msisdn": "+264811234567"})
    import_earnings(owner, 1000)
    payout = request_payout(me, 1000)
    suspend(admin, owner.id)
    run_jobs()
    status_sql = "SELECT status FROM payout WHERE id = :id"
    assert fetch_scalar(status_sql, id=payout["id"]) == "requested"
    data(admin.post(f"{ACCOUNTS}/{owner.id}/restore", {}))
    execute_sql("UPDATE outbox SET run_at = now() WHERE kind = 'payouts.carry'")
    run_jobs()
    assert fetch_scalar(status_sql, id=payout["id"]) == "paid"


def test_suspended_account_is_not_deleted_until_it_is_restored(client: Client) -> None:
    admin, owner = create_admin_client(client), create_customer()
    data(create_signed_in_client(client, owner).delete("/api/auth/me"))
    suspend(admin, owner.id)
    execute_sql("UPDATE account SET deletion_due_at = now() WHERE deletion_due_at IS NOT NULL")
    account = data(admin.get(f"{ACCOUNTS}/{owner.id}"))
    assert (account["status"], account["deletesAt"] is not None) == ("suspended", True)
    data(admin.post(f"{ACCOUNTS}/{owner.id}/restore", {}))
    assert data(admin.get(f"{ACCOUNTS}/{owner.id}"))["status"] == "deletion_requested"
    assert fetch_scalar("SELECT deletion_due_at > now() + interval '6 days' FROM account WHERE id = :id", id=owner.id)


def test_api_keys_of_a_suspended_organiser_stop_until_it_is_restored(client: Client) -> None:
    admin, owner = create_admin_client(client), create_account("organiser")
    body = {"name": "Sync", "scopes": ["events"], "password": PASSWORD}
    made = data(create_signed_in_client(client, owner).post("/api/organisations/me/api-keys", body), 201)
    program = client.as_(made["key"])
    data(program.get("/api/events?mine=true"))
    suspend(admin, owner.id)
    assert read_error(program.get("/api/events?mine=true")) == (401, "SESSION_ENDED")
    data(admin.post(f"{ACCOUNTS}/{owner.id}/restore", {}))
    data(program.get("/api/events?mine=true"))


def test_acts_are_in_the_audit_trail_without_their_reasons(client: Client) -> None:
    admin, owner = create_admin_client(client), create_customer()
    suspend(admin, owner.id, tellOwner=False, notToldReason="Court order 17/2026")
    data(admin.post(f"{ACCOUNTS}/{owner.id}/restore", {}))
    data(admin.delete(f"{ACCOUNTS}/{owner.id}/sessions", json={}))
    rows = fetch_scalar(
        "SELECT json_agg(json_build_array(action, account_id, data) ORDER BY at) FROM audit_entry"
        " WHERE action LIKE 'access.account_%'"
    )
    assert rows == [
        ["access.account_suspended", owner.id, {"ownerTold": False}],
        ["access.account_restored", owner.id, {"ownerTold": True}],
        ["access.account_sessions_ended", owner.id, {"ownerTold": True}],
    ]
