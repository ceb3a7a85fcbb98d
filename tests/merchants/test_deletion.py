"""The deletion of a merchant: concurrent requests, old jobs, and a new registration of the same account."""

from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import IntegrityError

from app.accounts.models import Account
from app.core.outbox import enqueue
from app.core.outbox.lease import expire_leases
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from app.merchants import deletion_hooks, queries
from app.payouts.reviews import RETIRED_WITH_MONEY, create_review
from app.subscriptions import actions as subscription_actions
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to
from tests.factories.crew import load_crew, replace_crew
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import (
    DELETE,
    answer_invitation,
    create_merchant_account,
    invite_merchants,
    update_merchant,
)
from tests.factories.payouts import execute_sql, fetch_scalar, import_earnings, request_payout, run_all_jobs
from tests.http import Client, data
from tests.races import run_concurrently

DELETE_BODY = {"currentPassword": PASSWORD, "confirmation": "DELETE"}


def register_again(client: Client, merchant_owner: Account) -> Client:
    me = create_signed_in_client(client, merchant_owner)
    body = {"email": merchant_owner.email, "password": PASSWORD, "name": "Frieda", "businessName": "Kapana Two"}
    data(me.post("/api/auth/register/merchant", body), 201)
    return me


HAS_DESTINATION_SQL = "SELECT sealed_to IS NOT NULL AND wallet_mark IS NOT NULL FROM payout WHERE id = :id"
COUNT_FORMER_CREW_SQL = "SELECT count(*) FROM crew_member WHERE name = 'Former crew'"


def run_old_job(merchant_owner: Account, **payload: Any) -> None:
    """Runs the job that a deletion by an older release has enqueued."""
    with transaction():
        enqueue(
            "merchants.farewell",
            account_id=merchant_owner.id,
            email=merchant_owner.email,
            name=merchant_owner.name,
            **payload,
        )
    run_all_jobs()


def join_event_with_crew_and_payout(
    client: Client, organiser_client: Client, merchant_owner: Account
) -> tuple[Client, str, dict[str, Any]]:
    """A merchant with a stall: the client, the path of the crew, and a paid payout."""
    new_event = create_event(organiser_client)
    path = f"/api/merchants/me/events/{new_event['id']}/crew"
    me = create_signed_in_client(client, merchant_owner)
    update_merchant(me, payoutDetails={"msisdn": "+264811234567"})
    import_earnings(merchant_owner, 1000)
    answer_invitation(me, invite_merchants(organiser_client, new_event["id"], merchant_owner)["invited"][0]["inviteId"])
    replace_crew(me, path, {"name": "Selma", "phone": "0811111111"}, {"name": "Jonas"})
    first_payout = request_payout(me, 1000)
    run_all_jobs()
    return me, path, first_payout


def test_deletion_erases_all_data_before_the_response(client: Client) -> None:
    organiser_client, merchant_owner = create_organiser_client(client), create_merchant_account()
    me, _, payout = join_event_with_crew_and_payout(client, organiser_client, merchant_owner)
    invite_id = invite_merchants(
        organiser_client, create_event(organiser_client, name="Another")["id"], merchant_owner
    )["invited"][0]["inviteId"]
    data(me.post("/api/notifications/devices", {"token": "t" * 40, "platform": "android"}), 201)
    data(me.post(DELETE, DELETE_BODY))
    assert (fetch_scalar(HAS_DESTINATION_SQL, id=payout["id"]), fetch_scalar(COUNT_FORMER_CREW_SQL)) == (False, 2)
    assert fetch_scalar("SELECT status FROM event_invite WHERE id = :id", id=invite_id) == "withdrawn"
    assert fetch_scalar("SELECT count(*) FROM push_device") == 0


def test_finished_jobs_of_a_deletion_have_no_payload(client: Client) -> None:
    merchant_owner = create_merchant_account()
    data(create_signed_in_client(client, merchant_owner).post(DELETE, DELETE_BODY))
    run_all_jobs()
    assert [item["subject"] for item in list_mails_to(merchant_owner.email)] == ["Your business is deleted"]
    run_old_job(merchant_owner)
    finished_jobs_sql = "SELECT count(*) FROM outbox WHERE kind LIKE 'merchants.%' AND state = 'done'"
    assert (fetch_scalar(finished_jobs_sql), fetch_scalar(f"{finished_jobs_sql} AND payload = '{{}}'")) == (3, 3)


def test_failed_deletion_mail_loses_its_payload(client: Client) -> None:
    merchant_owner = create_merchant_account()
    data(create_signed_in_client(client, merchant_owner).post(DELETE, DELETE_BODY))
    execute_sql(
        "UPDATE outbox SET state = 'leased', lease_until = now() - interval '1 s', lost = 99"
        " WHERE kind = 'merchants.mail_farewell'"
    )
    expire_leases(get_tuning())
    assert fetch_scalar("SELECT state || payload FROM outbox WHERE kind = 'merchants.mail_farewell'") == "dead{}"


def test_old_job_erases_data_if_merchant_did_not_return(client: Client) -> None:
    organiser_client, merchant_owner = create_organiser_client(client), create_merchant_account()
    _, _, payout = join_event_with_crew_and_payout(client, organiser_client, merchant_owner)
    execute_sql("UPDATE account SET roles = '{}' WHERE id = :id", id=merchant_owner.id)
    execute_sql("DELETE FROM merchant_profile WHERE account_id = :id", id=merchant_owner.id)
    run_old_job(merchant_owner)
    assert (fetch_scalar(HAS_DESTINATION_SQL, id=payout["id"]), fetch_scalar(COUNT_FORMER_CREW_SQL)) == (False, 2)


def test_late_erasure_keeps_data_of_the_new_profile(client: Client) -> None:
    organiser_client = create_organiser_client(client)
    merchant_owner = create_merchant_account(roles=["customer", "merchant"])
    me, path, first_payout = join_event_with_crew_and_payout(client, organiser_client, merchant_owner)
    data(me.post(DELETE, DELETE_BODY))
    me = register_again(client, merchant_owner)
    update_merchant(me, payoutDetails={"msisdn": "+264811234567"})
    import_earnings(merchant_owner, 1000)
    crew = replace_crew(me, path, {"name": "Selma", "phone": "0811111111"}, {"name": "Maria"})
    second_payout = request_payout(me, 400)
    other = create_event(organiser_client, name="Another")
    invite_id = invite_merchants(organiser_client, other["id"], merchant_owner)["invited"][0]["inviteId"]
    run_all_jobs()
    run_old_job(merchant_owner, erased_at="2030-01-01T00:00:00+00:00")
    assert (
        fetch_scalar(HAS_DESTINATION_SQL, id=first_payout["id"]),
        fetch_scalar(HAS_DESTINATION_SQL, id=second_payout["id"]),
    ) == (False, True)
    assert [item["name"] for item in load_crew(me, path)] == [item["name"] for item in crew] == ["Selma", "Maria"]
    assert fetch_scalar(COUNT_FORMER_CREW_SQL) == 2, "Selma and Jonas of the old crew"
    assert fetch_scalar("SELECT status FROM event_invite WHERE id = :id", id=invite_id) == "pending"


def test_review_of_an_account_names_account_not_payout(client: Client) -> None:
    operator, merchant_owner = create_account("admin"), create_merchant_account()
    with transaction() as session:
        create_review(session, merchant_owner.id, RETIRED_WITH_MONEY, balanceMinor=1000)
    run_all_jobs()
    (mail,) = list_mails_to(operator.email)
    assert all(
        f"Account {merchant_owner.id}" in mail[part] and f"Payout {merchant_owner.id}" not in mail[part]
        for part in ("text", "html")
    )


def test_deletion_without_payouts_has_no_return_time(client: Client) -> None:
    merchant_owner = create_merchant_account()
    assert (
        data(create_signed_in_client(client, merchant_owner).post(DELETE, DELETE_BODY))["moneyMayReturnUntil"] is None
    )
    assert "send your last payout back" not in list_mails_to(merchant_owner.email)[0]["text"]


CHANGES = {
    "pause": ("POST", "/api/merchants/me/pause", None),
    "patch": ("PATCH", "/api/merchants/me", {"payoutDetails": {}, "settings": {"language": "de"}, "city": "Outjo"}),
    "resume": ("POST", "/api/merchants/me/resume", {"currentPassword": PASSWORD, "confirmation": True}),
    "delete": ("POST", DELETE, DELETE_BODY),
    "payout": (
        "POST",
        "/api/merchants/me/payout-requests",
        {"amountMinor": 1, "destination": "payrail", "mode": "now", "payrailMsisdn": "+264811234567"},
    ),
}


def change_during_deletion(
    client: Client, monkeypatch: pytest.MonkeyPatch, change: str, *, row: bool
) -> tuple[int, int]:
    """The statuses of a deletion, and of a change that starts while the deletion holds its locks."""
    merchant_owner = create_merchant_account()
    me = create_signed_in_client(client, merchant_owner)
    if row:
        update_merchant(me, city="Windhoek")
    locked, go_on = Event(), Event()

    def wait(*_: Any) -> None:
        locked.set()
        go_on.wait(0.4)

    monkeypatch.setattr(deletion_hooks, "_deletion_checks", [wait])

    def act(number: int) -> int:
        if number == 0:
            return me.post(DELETE, DELETE_BODY).status_code
        locked.wait(90)
        method, path, body = CHANGES[change]
        return me.open(method, path, body).status_code

    deletion_status, other = run_concurrently(2, act)
    return deletion_status, other


@pytest.mark.parametrize("row", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_change_during_deletion_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch, change: str, row: bool
) -> None:
    deletion_status, other = change_during_deletion(client, monkeypatch, change, row=row)
    assert deletion_status == 200 and other in (401, 409)
    assert fetch_scalar("SELECT count(*) FROM merchant_profile") == 0, "the deleted merchant has no new profile"
    assert fetch_scalar("SELECT count(*) FROM merchant WHERE status <> 'deleted'") == 0


def write_during_deletion(client: Client, monkeypatch: pytest.MonkeyPatch, kind: str) -> tuple[int, int]:
    """The statuses of a deletion, and of a write about the merchant while the deletion holds its locks."""
    organiser_client, merchant_owner = create_organiser_client(client), create_merchant_account()
    me, path, _ = join_event_with_crew_and_payout(client, organiser_client, merchant_owner)
    other_event_id = create_event(organiser_client, name="Another")["id"]
    locked, go_on = Event(), Event()

    def wait(*_: Any) -> None:
        locked.set()
        go_on.wait(0.4)

    monkeypatch.setattr(deletion_hooks, "_deletion_checks", [wait])
    requests = {
        "crew": lambda: me.put(path, {"crew": [{"name": "Late"}]}),
        "device": lambda: me.post("/api/notifications/devices", {"token": "late", "platform": "ios"}),
        "wish": lambda: me.patch("/api/notifications/preferences", {"push": False}),
        "invite": lambda: organiser_client.post(
            f"/api/events/{other_event_id}/directory-invites", {"merchantIds": [merchant_owner.id]}
        ),
    }

    def act(number: int) -> int:
        if number == 0:
            return me.post(DELETE, DELETE_BODY).status_code
        locked.wait(90)
        return requests[kind]().status_code

    deletion_status, other = run_concurrently(2, act)
    return deletion_status, other


COUNT_REMAINING_SQL = """
    SELECT (SELECT count(*) FROM crew_member WHERE name <> 'Former crew') + (SELECT count(*) FROM push_device)
         + (SELECT count(*) FROM channel_preference)
         + (SELECT count(*) FROM event_invite WHERE status = 'pending')
"""


@pytest.mark.parametrize("kind", ["crew", "device", "wish", "invite"])
def test_writes_during_deletion_leave_no_rows(client: Client, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    deletion_status, other = write_during_deletion(client, monkeypatch, kind)
    assert deletion_status == 200 and other in ((201,) if kind == "invite" else (401, 404)), (
        "the organiser gets 201 with the merchants that were left out"
    )
    assert fetch_scalar(COUNT_REMAINING_SQL) == 0


@pytest.mark.control
def test_without_account_lock_a_device_remains(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription_actions, "lock_account", lambda session, account_id: None)
    assert write_during_deletion(client, monkeypatch, "device") == (200, 201)
    assert fetch_scalar(COUNT_REMAINING_SQL) == 1


@pytest.mark.control
def test_without_profile_check_a_change_during_deletion_fails(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(error: IntegrityError) -> bool:
        return False

    monkeypatch.setattr(queries, "_is_profile_deleted", unknown)
    app.testing = False
    try:
        assert change_during_deletion(client, monkeypatch, "pause", row=True) == (200, 500)
    finally:
        app.testing = True
