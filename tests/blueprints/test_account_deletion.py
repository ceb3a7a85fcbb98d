"""A person deletes their account: the grace period, what holds it, and what is erased."""

from typing import Any

import pytest

from app.accounts.models import Account
from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    list_mails_to,
    run_jobs,
    sign_in,
)
from tests.factories.events import create_event
from tests.factories.merchants import create_merchant_account, update_merchant
from tests.factories.payouts import execute_sql, fetch_scalar, import_earnings, request_payout
from tests.http import Client, data, read_error
from tests.teams.test_members import MEMBERS, create_team, find_token

ME, KEEP = "/api/auth/me", "/api/auth/me/keep"


def delete_due_accounts() -> None:
    """Lets the grace period of all accounts end, and runs the jobs of that hour."""
    execute_sql("UPDATE account SET deletion_due_at = now() WHERE deletion_due_at IS NOT NULL")
    with transaction():
        enqueue("accounts.delete_due_accounts")
    for _ in range(3):
        run_jobs()


def is_erased(owner: Account) -> bool:
    return bool(fetch_scalar("SELECT email LIKE '%@deleted.invalid' FROM account WHERE id = :id", id=owner.id))


def request_deletion(client: Client, owner: Account) -> Client:
    me = create_signed_in_client(client, owner)
    data(me.delete(ME))
    return me


def test_account_is_marked_for_seven_days_and_its_owner_gets_a_mail(client: Client) -> None:
    owner = create_customer()
    other, me = create_signed_in_client(client, owner), create_signed_in_client(client, owner)
    answer = data(me.delete(ME, json={"password": PASSWORD}))
    assert answer["status"] == "deletion_requested" and answer["moneyMayReturnUntil"] is None
    assert fetch_scalar("SELECT deletion_due_at - now() BETWEEN '6 days 23 hours' AND '7 days' FROM account")
    assert read_error(other.get(ME)) == (401, "SESSION_ENDED") and me.get(ME).status_code == 200
    (mail,) = list_mails_to(owner.email)
    assert mail["subject"] == "Your account will be deleted" and "/account/data" in mail["text"]


def test_repeating_a_deletion_changes_nothing(client: Client) -> None:
    owner = create_customer()
    me = create_signed_in_client(client, owner)
    assert data(me.delete(ME))["deletesAt"] == data(me.delete(ME))["deletesAt"]
    assert len(list_mails_to(owner.email)) == 1


def test_deletion_needs_the_password_or_a_recent_sign_in(client: Client) -> None:
    me = create_signed_in_client(client, create_customer())
    execute_sql("UPDATE account_session SET created_at = now() - interval '11 minutes'")
    assert read_error(me.delete(ME)) == (409, "CONFIRMATION_REQUIRED")
    assert read_error(me.delete(ME, json={"password": "wrong"})) == (422, "CURRENT_PASSWORD_WRONG")
    data(me.delete(ME, headers={"X-Confirm-Password": PASSWORD}))


def test_deletion_honours_if_match(client: Client) -> None:
    me = create_signed_in_client(client, create_customer())
    assert read_error(me.delete(ME, headers={"If-Match": '"7"'})) == (412, "STALE_VERSION")
    data(me.delete(ME, headers={"If-Match": me.get(ME).headers["ETag"]}))


def test_owner_signs_in_and_keeps_the_account(client: Client) -> None:
    owner = create_customer()
    request_deletion(client, owner)
    me = client.as_(sign_in(client, owner.email)["accessToken"])
    data(me.post(KEEP))
    data(me.post(KEEP))
    assert [mail["subject"] for mail in list_mails_to(owner.email)] == [
        "Your account stays",
        "Your account will be deleted",
    ]
    delete_due_accounts()
    assert not is_erased(owner) and me.get(ME).status_code == 200


def test_nothing_is_erased_within_the_grace_period(client: Client) -> None:
    owner = create_customer()
    request_deletion(client, owner)
    with transaction():
        enqueue("accounts.delete_due_accounts")
        enqueue("accounts.erase", account_id=owner.id)
    run_jobs()
    run_jobs()
    assert not is_erased(owner)


def test_erasure_leaves_an_anonymous_row_and_frees_the_address(client: Client) -> None:
    owner = create_customer(phone="+264811234567")
    me = request_deletion(client, owner)
    execute_sql(
        "INSERT INTO external_identity (provider, subject, account_id) VALUES ('google', 's', :id)", id=owner.id
    )
    data(me.post("/api/notifications/devices", {"token": "t" * 40, "platform": "android"}), 201)
    delete_due_accounts()
    row = fetch_scalar("SELECT row_to_json(a) FROM account a WHERE id = :id", id=owner.id)
    assert (row["email"], row["name"], row["phone"]) == (f"{owner.id}@deleted.invalid", "Deleted account", None)
    assert (row["roles"], row["password_hash"], row["deletion_due_at"]) == ([], None, None)
    for table in ("account_session", "external_identity", "push_device"):
        assert fetch_scalar(f"SELECT count(*) FROM {table}") == 0, table
    assert read_error(me.get(ME)) == (401, "SESSION_ENDED")
    login = client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD})
    assert read_error(login) == (401, "INVALID_CREDENTIALS")
    assert list_mails_to(owner.email)[0]["subject"] == "Your account is deleted"
    body = {"email": owner.email, "password": PASSWORD, "firstName": "Frieda", "lastName": "Amupolo"}
    data(client.post("/api/auth/register/customer", body), 201)
    assert fetch_scalar("SELECT count(*) FROM account WHERE email = :email", email=owner.email) == 1


def test_farewell_leaves_no_address_in_the_outbox(client: Client) -> None:
    owner = create_customer()
    request_deletion(client, owner)
    delete_due_accounts()
    assert fetch_scalar("SELECT payload::text FROM outbox WHERE kind = 'accounts.mail_farewell'") == "{}"


def test_merchant_with_money_cannot_leave(client: Client) -> None:
    owner = create_merchant_account()
    me = create_signed_in_client(client, owner)
    import_earnings(owner, 1000)
    assert read_error(me.delete(ME)) == (409, "BALANCE_NOT_ZERO")
    update_merchant(me, payoutDetails={"msisdn": "+264811234567"})
    request_payout(me, 1000)
    assert read_error(me.delete(ME)) == (409, "PAYOUT_IN_PROGRESS")
    assert fetch_scalar("SELECT count(*) FROM account WHERE deletion_due_at IS NOT NULL") == 0


def test_money_that_comes_meanwhile_keeps_the_account_and_its_owner_is_told(client: Client) -> None:
    owner = create_merchant_account()
    request_deletion(client, owner)
    import_earnings(owner, 1000)
    delete_due_accounts()
    assert not is_erased(owner)
    mail = list_mails_to(owner.email)[0]
    assert mail["subject"] == "Your account could not be deleted" and "There is money on the balance" in mail["text"]
    assert fetch_scalar("SELECT count(*) FROM account WHERE deletion_due_at IS NOT NULL") == 0


def test_business_of_a_deleted_account_is_erased_and_its_payouts_stay(client: Client) -> None:
    owner = create_merchant_account()
    me = create_signed_in_client(client, owner)
    update_merchant(me, payoutDetails={"msisdn": "+264811234567"})
    import_earnings(owner, 1000)
    request_payout(me, 1000)
    run_jobs()
    assert data(me.delete(ME))["moneyMayReturnUntil"] is not None
    delete_due_accounts()
    assert is_erased(owner) and fetch_scalar("SELECT count(*) FROM merchant_profile") == 0
    assert fetch_scalar("SELECT m.status || p.shown_as || (m.payout_details IS NULL) FROM merchant m, payout p") == (
        "deleteddeletedtrue"
    )
    assert fetch_scalar("SELECT count(*) FROM ledger_entry WHERE owner_id = :id", id=owner.id) > 0
    assert "send your last payout back until" in list_mails_to(owner.email)[0]["text"]


def test_organiser_with_events_to_come_cannot_leave(client: Client) -> None:
    owner = create_account("organiser")
    me = create_signed_in_client(client, owner)
    event = create_event(me, name="Windhoek Lights")
    answer = me.delete(ME)
    assert read_error(answer) == (409, "EVENTS_NOT_OVER")
    (listed,) = data(answer, 409)["events"]
    assert (listed["id"], listed["name"]) == (event["id"], "Windhoek Lights")
    data(me.delete(f"/api/events/{event['id']}"))
    data(me.delete(ME))


def test_past_events_stay_without_the_organiser(client: Client) -> None:
    owner = create_account("organiser")
    me = create_signed_in_client(client, owner)
    event = create_event(me)
    execute_sql("UPDATE event SET starts_at = now() - interval '2 days', ends_at = now() - interval '1 day'")
    data(me.delete(ME))
    delete_due_accounts()
    assert is_erased(owner)
    assert fetch_scalar("SELECT count(*) FROM event WHERE id = :id", id=event["id"]) == 1
    assert fetch_scalar("SELECT count(*) FROM organiser_profile") == 0


def test_last_super_admin_stays(client: Client) -> None:
    owner = create_account("admin")
    me = create_signed_in_client(client, owner)
    assert read_error(me.delete(ME)) == (409, "LAST_SUPER_ADMIN")
    create_account("admin", verified=False)
    assert read_error(me.delete(ME)) == (409, "LAST_SUPER_ADMIN"), "an unverified one may be nobody"
    create_account("admin")
    data(me.delete(ME))


@pytest.mark.parametrize("body", [{"password": 7}, {"reason": "x"}, []])
def test_bad_bodies_are_refused(client: Client, body: Any) -> None:
    me = create_signed_in_client(client, create_customer())
    assert me.delete(ME, json=body).status_code == 422


def test_owner_of_another_accounts_team_passes_it_on_first(client: Client) -> None:
    owner, member, account = create_team(client)
    (row,) = (item for item in data(owner.get(MEMBERS))["members"] if item["role"] == "manager")
    data(owner.post(f"{MEMBERS}/{row['id']}/offer-ownership", {"password": PASSWORD}), 201)
    data(member.post(f"/api/team-invites/{find_token(account.email)}/accept"))
    for leaving in (member, owner):
        answer = leaving.delete(ME)
        assert read_error(answer) == (409, "TEAM_NEEDS_OWNER") and len(data(answer, 409)["teams"]) == 1


def test_deleted_account_leaves_its_teams_and_ends_its_own(client: Client) -> None:
    owner, member, account = create_team(client)
    data(
        owner.post("/api/organisations/me/api-keys", {"name": "Sync", "scopes": ["events"], "password": PASSWORD}), 201
    )
    data(member.delete(ME))
    delete_due_accounts()
    assert is_erased(account) and [row["role"] for row in data(owner.get(MEMBERS))["members"]] == ["owner"]
    assert fetch_scalar("SELECT email LIKE '%@deleted.invalid' FROM team_invite")
    data(owner.delete(ME))
    delete_due_accounts()
    assert fetch_scalar("SELECT count(*) FROM api_key WHERE ended_at IS NULL") == 0


def test_acts_are_in_the_audit_trail(client: Client) -> None:
    owner = create_customer()
    me = request_deletion(client, owner)
    data(me.post(KEEP))
    data(me.delete(ME))
    delete_due_accounts()
    actions = fetch_scalar("SELECT array_agg(action ORDER BY at) FROM audit_entry WHERE subject_kind = 'account'")
    assert actions == [
        "access.deletion_requested",
        "access.account_kept",
        "access.deletion_requested",
        "access.account_deleted",
    ]
