"""A merchant's own account over HTTP: profile, password, pause, resume, delete."""

import pytest
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.merchants import deletion_hooks
from app.merchants.errors import BalanceNotZero
from app.merchants.models import Merchant, MerchantProfile
from tests.counting import statements
from tests.factories.accounts import PASSWORD, account, mails_to, sign_in, signed_in
from tests.factories.merchants import changed, merchant, merchant_account
from tests.http import Client, data, problems, refusal

ME = "/api/merchants/me"
NEW = "the rain came late to Gobabis"
BANK = {
    "destination": "bank",
    "accountName": "Kapana Corner CC",
    "accountNumber": "62 0012 3456 7",
    "bankName": "Bank Windhoek",
    "branchCode": "482172",
}


def test_what_a_merchant_reads_of_himself(client: Client) -> None:
    who = merchant_account("Kapana Corner", phone="+264811234567", profile={"stall_name": "Gate B"})
    answer = signed_in(client, who).get(ME)
    found = data(answer)
    assert {name: found[name] for name in ("id", "email", "roles", "phone", "businessName", "stallName", "status")} == {
        "id": who.id,
        "email": who.email,
        "roles": ["merchant"],
        "phone": "+264811234567",
        "businessName": "Kapana Corner",
        "stallName": "Gate B",
        "status": "active",
    }
    assert found["payoutDetails"] == {} and found["floorStatus"] == "closed"
    assert found["settings"] == {
        "language": "en",
        "timezone": "Africa/Windhoek",
        "autoAcceptInvites": False,
        "notifications": {"email": True, "sms": True, "push": True},
    }
    assert answer.headers["ETag"] == f'"{found["version"]}"'


def test_both_objects_are_required_and_merged(client: Client) -> None:
    me = merchant(client)
    assert problems(me.patch(ME, {"name": "Ndapewa"})) == {"payoutDetails": "required", "settings": "required"}
    changed(me, settings={"notifications": {"sms": False}, "language": "af-NA"}, payoutDetails=BANK)
    now = changed(me, settings={"autoAcceptInvites": True}, payoutDetails={"bankName": "FNB"})
    assert now["settings"]["notifications"] == {"email": True, "sms": False, "push": True}
    assert (now["settings"]["language"], now["settings"]["autoAcceptInvites"]) == ("af-NA", True)
    assert (now["payoutDetails"]["bankName"], now["payoutDetails"]["accountNumber"]) == ("FNB", "••••4567")


def test_unknown_settings_are_refused_by_name(client: Client) -> None:
    body = {"payoutDetails": {"iban": "x"}, "settings": {"langauge": "en", "timezone": "Mars/Base"}}
    assert problems(merchant(client).patch(ME, body)) == {
        "payoutDetails.iban": "unknown_field",
        "settings.langauge": "unknown_field",
        "settings.timezone": "unknown_value",
    }


def test_a_masked_number_sent_back_stays_and_another_one_is_refused(client: Client) -> None:
    me = merchant(client)
    read = changed(me, payoutDetails={**BANK, "msisdn": "0811234567"})["payoutDetails"]
    assert (read["accountNumber"], read["msisdn"], read["branchCode"]) == ("••••4567", "••••567", "482172")
    before = data(me.get(ME))["version"]
    assert changed(me, payoutDetails=read)["version"] == before
    refused = me.patch(ME, {"payoutDetails": {"accountNumber": "••••9999"}, "settings": {}})
    assert problems(refused) == {"payoutDetails.accountNumber": "masked_value"}
    assert "msisdn" not in changed(me, payoutDetails={"msisdn": None})["payoutDetails"]


def test_payout_details_are_unreadable_at_rest_and_belong_to_their_row(client: Client) -> None:
    owner, other = merchant_account(), merchant_account()
    changed(signed_in(client, owner), payoutDetails=BANK)
    changed(signed_in(client, other), settings={"language": "de"})
    with transaction() as session:
        sealed = session.get_one(Merchant, owner.id).payout_details
        assert sealed is not None and b"62001234567" not in sealed and b"Kapana" not in sealed
        session.get_one(Merchant, other.id).payout_details = sealed
    assert data(signed_in(client, other).get(ME))["payoutDetails"] == {}


def test_new_payout_details_are_told_to_their_owner(client: Client) -> None:
    who = merchant_account()
    me = signed_in(client, who)
    changed(me, payoutDetails=BANK)
    changed(me, payoutDetails=BANK, name="Somebody Else")
    assert [item["subject"] for item in mails_to(who.email)] == ["Your payout details were changed"]


def test_names_are_bounded_and_optional_ones_can_be_emptied(client: Client) -> None:
    me = merchant(client, profile={"stall_name": "Gate B"}, phone="+264811234567")
    too = {"name": "x", "phone": "12", "businessName": "y", "stallName": "z" * 101, "payoutDetails": {}, "settings": {}}
    assert set(problems(me.patch(ME, too))) == {"name", "phone", "businessName", "stallName"}
    now = changed(me, phone=None, stallName=None, city="Lüderitz", category="Food")
    assert "phone" not in now and now["stallName"] is None
    assert (now["city"], now["category"]) == ("Lüderitz", "Food")


def test_a_change_of_what_has_changed_meanwhile_is_refused(client: Client) -> None:
    me = merchant(client)
    tag = me.get(ME).headers["ETag"]
    assert me.get(ME, headers={"If-None-Match": tag}).status_code == 304
    body = {"payoutDetails": {}, "settings": {}, "name": "Ndapewa Haufiku"}
    answer = me.patch(ME, body, headers={"If-Match": tag})
    assert data(answer)["name"] == "Ndapewa Haufiku"
    assert answer.headers["ETag"] == me.get(ME).headers["ETag"] != tag
    assert refusal(me.patch(ME, body, headers={"If-Match": tag})) == (412, "STALE_VERSION")


def test_a_new_password_ends_all_other_sessions_and_is_told(client: Client) -> None:
    who = merchant_account()
    me, elsewhere = signed_in(client, who), signed_in(client, who)
    data(me.post("/api/merchants/change-password", {"currentPassword": PASSWORD, "newPassword": NEW}))
    data(me.get(ME))
    assert refusal(elsewhere.get(ME)) == (401, "SESSION_ENDED")
    sign_in(client, who.email, NEW)
    assert [item["subject"] for item in mails_to(who.email)] == ["Your password was changed"]


def test_wrong_current_passwords_count_like_failed_sign_ins(client: Client) -> None:
    who = merchant_account()
    me = signed_in(client, who)
    body = {"currentPassword": "wrong", "newPassword": NEW}
    for _ in range(10):
        assert refusal(me.post("/api/merchants/change-password", body)) == (422, "CURRENT_PASSWORD_WRONG")
    refused = me.post("/api/merchants/me/resume", {"currentPassword": PASSWORD, "confirmation": "RESUME"})
    assert refusal(refused) == (429, "RATE_LIMITED") and int(refused.headers["Retry-After"]) > 0
    assert client.post("/api/auth/login", {"email": who.email, "password": PASSWORD}).status_code == 429


def test_pausing_needs_nothing_and_resuming_the_password_and_a_word(client: Client) -> None:
    me = merchant(client)
    assert data(me.post(f"{ME}/pause"))["status"] == "paused"
    first = data(me.get(ME))["version"]
    assert data(me.post(f"{ME}/pause"))["status"] == "paused"
    assert data(me.get(ME))["version"] == first and data(me.get(ME))["status"] == "paused"
    for word in ("", "yes", "DELETE", False, 1, None):
        said = problems(me.post(f"{ME}/resume", {"currentPassword": PASSWORD, "confirmation": word}))
        assert set(said) == {"confirmation"}, word
    refused = me.post(f"{ME}/resume", {"currentPassword": "wrong", "confirmation": "RESUME"})
    assert refusal(refused) == (422, "CURRENT_PASSWORD_WRONG")
    for word in ("resume", True):
        body = {"currentPassword": PASSWORD, "confirmation": word}
        assert data(me.post(f"{ME}/resume", body)) == {"status": "active", "pausedAt": None}


def test_deleting_erases_the_person_and_frees_the_address(client: Client) -> None:
    who = merchant_account(phone="+264811234567")
    me, email = signed_in(client, who), who.email
    changed(me, payoutDetails=BANK)
    assert data(me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "delete"}))["status"] == "deleted"
    assert refusal(me.get(ME)) == (401, "SESSION_ENDED")
    row = db.session.execute(text("SELECT email, name, phone, password_hash, roles FROM account")).one()
    assert row == (f"{who.id}@deleted.invalid", "Deleted merchant", None, None, [])
    assert db.session.execute(text("SELECT status, payout_details, profile_id FROM merchant")).one() == (
        "deleted",
        None,
        None,
    )
    assert db.session.get(MerchantProfile, who.id) is None
    assert [item["subject"] for item in mails_to(email)][0] == "Your business is deleted"
    again = {"email": email, "password": PASSWORD, "name": "Frieda", "businessName": "Kapana Corner"}
    data(client.post("/api/auth/register/merchant", again), 201)
    new = client.as_(sign_in(client, email)["accessToken"])
    assert data(new.get(ME))["payoutDetails"] == {}


def test_an_account_with_another_role_keeps_that_and_can_come_back(client: Client) -> None:
    who = merchant_account(roles=["customer", "merchant"])
    me = signed_in(client, who)
    changed(me, payoutDetails=BANK, settings={"language": "de"})
    data(me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": True}))
    left = signed_in(client, who)
    assert data(left.get("/api/auth/me"))["roles"] == ["customer"]
    assert refusal(left.get(ME)) == (403, "ROLE_NOT_ALLOWED")
    body = {"email": who.email, "password": PASSWORD, "name": "Frieda", "businessName": "Kapana Two"}
    data(left.post("/api/auth/register/merchant", body), 201)
    assert data(left.get(ME))["payoutDetails"] == {}
    now = changed(left, settings={})
    assert (now["status"], now["settings"]["language"], now["businessName"]) == ("active", "en", "Kapana Two")


def test_open_money_keeps_a_merchant_from_going(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def owes(session: object, account_id: str) -> None:
        raise BalanceNotZero(balanceMinor=1)

    monkeypatch.setattr(deletion_hooks, "_deletion_checks", [owes])
    me = merchant(client)
    refused = me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"})
    assert refusal(refused) == (409, "BALANCE_NOT_ZERO")
    assert data(me.get(ME))["status"] == "active"


def test_whoever_takes_an_unverified_address_over_finds_nothing_of_the_one_before(client: Client) -> None:
    squatter = merchant_account(email="frieda@example.com")
    changed(signed_in(client, squatter), payoutDetails=BANK)
    with transaction() as session:
        session.execute(text("UPDATE account SET email_verified_at = NULL"))
    body = {"email": "frieda@example.com", "password": NEW, "name": "Frieda", "businessName": "Kapana"}
    data(client.post("/api/auth/register/merchant", body), 201)
    owner = client.as_(sign_in(client, "frieda@example.com", NEW)["accessToken"])
    assert data(owner.get(ME))["payoutDetails"] == {}
    assert changed(owner, settings={"language": "de"})["payoutDetails"] == {}


@pytest.mark.parametrize("first", ["pause", "patch"])
def test_a_role_without_a_profile_gets_one_by_its_own_name(client: Client, first: str) -> None:
    me = signed_in(client, account("merchant", name="Ndapewa Haufiku"))
    assert data(me.get(ME))["businessName"] is None
    data(me.post(f"{ME}/pause")) if first == "pause" else changed(me, city="Outjo")
    assert data(me.get(ME))["businessName"] == "Ndapewa Haufiku"


def test_others_may_not(client: Client) -> None:
    for role in ("customer", "organiser", "admin"):
        assert refusal(signed_in(client, account(role)).get(ME)) == (403, "ROLE_NOT_ALLOWED")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"payoutDetails": BANK, "settings": {"language": "de"}, "name": "N H", "city": "Outjo"}),
        ("POST", "/pause", None),
        ("POST", "/resume", {"currentPassword": PASSWORD, "confirmation": True}),
        ("POST", "/delete", {"currentPassword": PASSWORD, "confirmation": True}),
        ("POST", "/../change-password", {"currentPassword": PASSWORD, "newPassword": NEW}),
    ],
)
def test_no_operation_asks_more_than_six_times(client: Client, method: str, path: str, body: object) -> None:
    me = merchant(client)
    if path == "/resume":
        data(me.post(f"{ME}/pause"))
    with statements() as seen:
        data(me.open(method, (ME + path).replace("/me/..", ""), body))
    # Deleting also erases what crew, payouts, invitations, applications and subscriptions know, one statement each.
    assert len(seen) <= (11 if path == "/delete" else 6), "\n".join(seen)
