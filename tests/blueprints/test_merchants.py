"""A merchant's own account over HTTP: profile, password, pause, resume, delete."""

import pytest
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.merchants import deletion_hooks
from app.merchants.errors import BalanceNotZero
from app.merchants.models import Merchant, MerchantProfile
from tests.counting import record_statements
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to, sign_in
from tests.factories.merchants import create_merchant_account, create_merchant_client, update_merchant
from tests.http import Client, data, list_problems, read_error

ME = "/api/merchants/me"
NEW_PASSWORD = "the rain came late to Gobabis"
BANK = {
    "destination": "bank",
    "accountName": "Kapana Corner CC",
    "accountNumber": "62 0012 3456 7",
    "bankName": "Bank Windhoek",
    "branchCode": "482172",
}


def test_merchant_reads_own_account_with_defaults(client: Client) -> None:
    merchant_owner = create_merchant_account("Kapana Corner", phone="+264811234567", profile={"stall_name": "Gate B"})
    answer = create_signed_in_client(client, merchant_owner).get(ME)
    account_data = data(answer)
    assert {
        name: account_data[name] for name in ("id", "email", "roles", "phone", "businessName", "stallName", "status")
    } == {
        "id": merchant_owner.id,
        "email": merchant_owner.email,
        "roles": ["merchant"],
        "phone": "+264811234567",
        "businessName": "Kapana Corner",
        "stallName": "Gate B",
        "status": "active",
    }
    assert account_data["payoutDetails"] == {} and account_data["floorStatus"] == "closed"
    assert account_data["settings"] == {
        "language": "en",
        "timezone": "Africa/Windhoek",
        "autoAcceptInvites": False,
        "notifications": {"email": True, "sms": True, "push": True},
    }
    assert answer.headers["ETag"] == f'"{account_data["version"]}"'


def test_payout_details_and_settings_are_required_and_merged(client: Client) -> None:
    me = create_merchant_client(client)
    assert list_problems(me.patch(ME, {"name": "Ndapewa"})) == {"payoutDetails": "required", "settings": "required"}
    update_merchant(me, settings={"notifications": {"sms": False}, "language": "af-NA"}, payoutDetails=BANK)
    updated = update_merchant(me, settings={"autoAcceptInvites": True}, payoutDetails={"bankName": "FNB"})
    assert updated["settings"]["notifications"] == {"email": True, "sms": False, "push": True}
    assert (updated["settings"]["language"], updated["settings"]["autoAcceptInvites"]) == ("af-NA", True)
    assert (updated["payoutDetails"]["bankName"], updated["payoutDetails"]["accountNumber"]) == ("FNB", "••••4567")


def test_unknown_fields_are_refused_with_their_path(client: Client) -> None:
    body = {"payoutDetails": {"iban": "x"}, "settings": {"langauge": "en", "timezone": "Mars/Base"}}
    assert list_problems(create_merchant_client(client).patch(ME, body)) == {
        "payoutDetails.iban": "unknown_field",
        "settings.langauge": "unknown_field",
        "settings.timezone": "unknown_value",
    }


def test_masked_number_is_kept_and_other_masked_value_is_refused(client: Client) -> None:
    me = create_merchant_client(client)
    masked_details = update_merchant(me, payoutDetails={**BANK, "msisdn": "0811234567"})["payoutDetails"]
    assert (masked_details["accountNumber"], masked_details["msisdn"], masked_details["branchCode"]) == (
        "••••4567",
        "••••567",
        "482172",
    )
    before = data(me.get(ME))["version"]
    assert update_merchant(me, payoutDetails=masked_details)["version"] == before
    refused = me.patch(ME, {"payoutDetails": {"accountNumber": "••••9999"}, "settings": {}})
    assert list_problems(refused) == {"payoutDetails.accountNumber": "masked_value"}
    assert "msisdn" not in update_merchant(me, payoutDetails={"msisdn": None})["payoutDetails"]


def test_payout_details_are_encrypted_and_bound_to_their_row(client: Client) -> None:
    owner, other = create_merchant_account(), create_merchant_account()
    update_merchant(create_signed_in_client(client, owner), payoutDetails=BANK)
    update_merchant(create_signed_in_client(client, other), settings={"language": "de"})
    with transaction() as session:
        sealed = session.get_one(Merchant, owner.id).payout_details
        assert sealed is not None and b"62001234567" not in sealed and b"Kapana" not in sealed
        session.get_one(Merchant, other.id).payout_details = sealed
    assert data(create_signed_in_client(client, other).get(ME))["payoutDetails"] == {}


def test_owner_gets_one_notice_about_new_payout_details(client: Client) -> None:
    merchant_owner = create_merchant_account()
    me = create_signed_in_client(client, merchant_owner)
    update_merchant(me, payoutDetails=BANK)
    update_merchant(me, payoutDetails=BANK, name="Somebody Else")
    assert [item["subject"] for item in list_mails_to(merchant_owner.email)] == ["Your payout details were changed"]


def test_lengths_are_checked_and_optional_fields_can_be_removed(client: Client) -> None:
    me = create_merchant_client(client, profile={"stall_name": "Gate B"}, phone="+264811234567")
    invalid_body = {
        "name": "x",
        "phone": "12",
        "businessName": "y",
        "stallName": "z" * 101,
        "payoutDetails": {},
        "settings": {},
    }
    assert set(list_problems(me.patch(ME, invalid_body))) == {"name", "phone", "businessName", "stallName"}
    updated = update_merchant(me, phone=None, stallName=None, city="Lüderitz", category="Food")
    assert "phone" not in updated and updated["stallName"] is None
    assert (updated["city"], updated["category"]) == ("Lüderitz", "Food")


def test_change_with_stale_etag_is_refused(client: Client) -> None:
    me = create_merchant_client(client)
    etag = me.get(ME).headers["ETag"]
    assert me.get(ME, headers={"If-None-Match": etag}).status_code == 304
    body = {"payoutDetails": {}, "settings": {}, "name": "Ndapewa Haufiku"}
    answer = me.patch(ME, body, headers={"If-Match": etag})
    assert data(answer)["name"] == "Ndapewa Haufiku"
    assert answer.headers["ETag"] == me.get(ME).headers["ETag"] != etag
    assert read_error(me.patch(ME, body, headers={"If-Match": etag})) == (412, "STALE_VERSION")


def test_new_password_ends_other_sessions_and_notifies_owner(client: Client) -> None:
    merchant_owner = create_merchant_account()
    me, elsewhere = create_signed_in_client(client, merchant_owner), create_signed_in_client(client, merchant_owner)
    data(me.post("/api/merchants/change-password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}))
    data(me.get(ME))
    assert read_error(elsewhere.get(ME)) == (401, "SESSION_ENDED")
    sign_in(client, merchant_owner.email, NEW_PASSWORD)
    assert [item["subject"] for item in list_mails_to(merchant_owner.email)] == ["Your password was changed"]


def test_wrong_current_passwords_count_like_failed_sign_ins(client: Client) -> None:
    merchant_owner = create_merchant_account()
    me = create_signed_in_client(client, merchant_owner)
    body = {"currentPassword": "wrong", "newPassword": NEW_PASSWORD}
    for _ in range(10):
        assert read_error(me.post("/api/merchants/change-password", body)) == (422, "CURRENT_PASSWORD_WRONG")
    refused = me.post("/api/merchants/me/resume", {"currentPassword": PASSWORD, "confirmation": "RESUME"})
    assert read_error(refused) == (429, "RATE_LIMITED") and int(refused.headers["Retry-After"]) > 0
    assert client.post("/api/auth/login", {"email": merchant_owner.email, "password": PASSWORD}).status_code == 429


def test_pause_needs_only_token_and_resume_needs_password_and_confirmation(client: Client) -> None:
    me = create_merchant_client(client)
    assert data(me.post(f"{ME}/pause"))["status"] == "paused"
    first = data(me.get(ME))["version"]
    assert data(me.post(f"{ME}/pause"))["status"] == "paused"
    assert data(me.get(ME))["version"] == first and data(me.get(ME))["status"] == "paused"
    for word in ("", "yes", "DELETE", False, 1, None):
        field_problems = list_problems(me.post(f"{ME}/resume", {"currentPassword": PASSWORD, "confirmation": word}))
        assert set(field_problems) == {"confirmation"}, word
    refused = me.post(f"{ME}/resume", {"currentPassword": "wrong", "confirmation": "RESUME"})
    assert read_error(refused) == (422, "CURRENT_PASSWORD_WRONG")
    for word in ("resume", True):
        body = {"currentPassword": PASSWORD, "confirmation": word}
        assert data(me.post(f"{ME}/resume", body)) == {"status": "active", "pausedAt": None}


def test_deletion_erases_personal_data_and_frees_address(client: Client) -> None:
    merchant_owner = create_merchant_account(phone="+264811234567")
    me, email = create_signed_in_client(client, merchant_owner), merchant_owner.email
    update_merchant(me, payoutDetails=BANK)
    assert data(me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "delete"}))["status"] == "deleted"
    assert read_error(me.get(ME)) == (401, "SESSION_ENDED")
    row = db.session.execute(text("SELECT email, name, phone, password_hash, roles FROM account")).one()
    assert row == (f"{merchant_owner.id}@deleted.invalid", "Deleted merchant", None, None, [])
    assert db.session.execute(text("SELECT status, payout_details, profile_id FROM merchant")).one() == (
        "deleted",
        None,
        None,
    )
    assert db.session.get(MerchantProfile, merchant_owner.id) is None
    assert [item["subject"] for item in list_mails_to(email)][0] == "Your business is deleted"
    registration = {"email": email, "password": PASSWORD, "name": "Frieda", "businessName": "Kapana Corner"}
    data(client.post("/api/auth/register/merchant", registration), 201)
    new = client.as_(sign_in(client, email)["accessToken"])
    assert data(new.get(ME))["payoutDetails"] == {}


def test_deletion_keeps_other_role_and_merchant_can_register_again(client: Client) -> None:
    merchant_owner = create_merchant_account(roles=["customer", "merchant"])
    me = create_signed_in_client(client, merchant_owner)
    update_merchant(me, payoutDetails=BANK, settings={"language": "de"})
    data(me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": True}))
    remaining_client = create_signed_in_client(client, merchant_owner)
    assert data(remaining_client.get("/api/auth/me"))["roles"] == ["customer"]
    assert read_error(remaining_client.get(ME)) == (403, "ROLE_NOT_ALLOWED")
    body = {"email": merchant_owner.email, "password": PASSWORD, "name": "Frieda", "businessName": "Kapana Two"}
    data(remaining_client.post("/api/auth/register/merchant", body), 201)
    assert data(remaining_client.get(ME))["payoutDetails"] == {}
    updated = update_merchant(remaining_client, settings={})
    assert (updated["status"], updated["settings"]["language"], updated["businessName"]) == (
        "active",
        "en",
        "Kapana Two",
    )


def test_merchant_with_open_money_cannot_be_deleted(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_deletion(session: object, account_id: str) -> None:
        raise BalanceNotZero(balanceMinor=1)

    monkeypatch.setattr(deletion_hooks, "_deletion_checks", [refuse_deletion])
    me = create_merchant_client(client)
    refused = me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"})
    assert read_error(refused) == (409, "BALANCE_NOT_ZERO")
    assert data(me.get(ME))["status"] == "active"


def test_new_owner_of_unverified_address_sees_no_old_payout_details(client: Client) -> None:
    squatter = create_merchant_account(email="frieda@example.com")
    update_merchant(create_signed_in_client(client, squatter), payoutDetails=BANK)
    with transaction() as session:
        session.execute(text("UPDATE account SET email_verified_at = NULL"))
    body = {"email": "frieda@example.com", "password": NEW_PASSWORD, "name": "Frieda", "businessName": "Kapana"}
    data(client.post("/api/auth/register/merchant", body), 201)
    owner = client.as_(sign_in(client, "frieda@example.com", NEW_PASSWORD)["accessToken"])
    assert data(owner.get(ME))["payoutDetails"] == {}
    assert update_merchant(owner, settings={"language": "de"})["payoutDetails"] == {}


@pytest.mark.parametrize("first", ["pause", "patch"])
def test_merchant_without_profile_gets_one_with_account_name(client: Client, first: str) -> None:
    me = create_signed_in_client(client, create_account("merchant", name="Ndapewa Haufiku"))
    assert data(me.get(ME))["businessName"] is None
    data(me.post(f"{ME}/pause")) if first == "pause" else update_merchant(me, city="Outjo")
    assert data(me.get(ME))["businessName"] == "Ndapewa Haufiku"


def test_only_merchants_have_access(client: Client) -> None:
    for role in ("customer", "organiser", "admin"):
        assert read_error(create_signed_in_client(client, create_account(role)).get(ME)) == (403, "ROLE_NOT_ALLOWED")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"payoutDetails": BANK, "settings": {"language": "de"}, "name": "N H", "city": "Outjo"}),
        ("POST", "/pause", None),
        ("POST", "/resume", {"currentPassword": PASSWORD, "confirmation": True}),
        ("POST", "/delete", {"currentPassword": PASSWORD, "confirmation": True}),
        ("POST", "/../change-password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}),
    ],
)
def test_operations_stay_within_statement_limits(client: Client, method: str, path: str, body: object) -> None:
    me = create_merchant_client(client)
    if path == "/resume":
        data(me.post(f"{ME}/pause"))
    with record_statements() as executed:
        data(me.open(method, (ME + path).replace("/me/..", ""), body))
    # Deleting also erases what crew, payouts, invitations, applications, subscriptions and teams know, one statement
    # each.
    counted = [statement for statement in executed if "audit_entry" not in statement]
    assert len(counted) <= (26 if path == "/delete" else 6), "\n".join(counted)
