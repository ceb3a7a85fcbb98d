"""Deleting a merchant: beside other requests, before a payout comes back, and before somebody registers again."""

from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.accounts.models import Account
from app.core.outbox import enqueue
from app.core.outbox.lease_expiry import expire_leases
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from app.merchants import deletion_hooks, row_locks
from app.payouts.reviews import RETIRED_WITH_MONEY, create_review
from app.subscriptions import actions as claiming_devices
from tests.factories.accounts import PASSWORD, account, mails_to, signed_in
from tests.factories.crew import crew_of, put
from tests.factories.events import event, organiser
from tests.factories.merchants import DELETE, answered, changed, invited, merchant_account
from tests.factories.payouts import requested, scalar, settled, work, write
from tests.http import Client, data
from tests.races import at_once

GO = {"currentPassword": PASSWORD, "confirmation": "DELETE"}


def registered_again(client: Client, who: Account) -> Client:
    me = signed_in(client, who)
    body = {"email": who.email, "password": PASSWORD, "name": "Frieda", "businessName": "Kapana Two"}
    data(me.post("/api/auth/register/merchant", body), 201)
    return me


SEALED = "SELECT sealed_to IS NOT NULL AND wallet_mark IS NOT NULL FROM payout WHERE id = :id"
FORMER = "SELECT count(*) FROM crew_member WHERE name = 'Former crew'"


def old_job(who: Account, **payload: Any) -> None:
    """The job that a deletion of an older version has left, which runs now."""
    with transaction():
        enqueue("merchants.farewell", account_id=who.id, email=who.email, name=who.name, **payload)
    work()


def with_crew_and_payout(client: Client, owner: Client, who: Account) -> tuple[Client, str, dict[str, Any]]:
    """A merchant at an event: the client, the path of the crew, and a payout that was paid."""
    made = event(owner)
    path = f"/api/merchants/me/events/{made['id']}/crew"
    me = signed_in(client, who)
    changed(me, payoutDetails={"msisdn": "+264811234567"})
    settled(who, 1000)
    answered(me, invited(owner, made["id"], who)["invited"][0]["inviteId"])
    put(me, path, {"name": "Selma", "phone": "0811111111"}, {"name": "Jonas"})
    before = requested(me, 1000)
    work()
    return me, path, before


def test_everything_is_erased_with_the_answer(client: Client) -> None:
    owner, who = organiser(client), merchant_account()
    me, _, paid = with_crew_and_payout(client, owner, who)
    pending = invited(owner, event(owner, name="Another")["id"], who)["invited"][0]["inviteId"]
    data(me.post("/api/notifications/devices", {"token": "t" * 40, "platform": "android"}), 201)
    data(me.post(DELETE, GO))
    assert (scalar(SEALED, id=paid["id"]), scalar(FORMER)) == (False, 2)
    assert scalar("SELECT status FROM event_invite WHERE id = :id", id=pending) == "withdrawn"
    assert scalar("SELECT count(*) FROM push_device") == 0


def test_no_address_of_who_has_left_stays_in_ended_work(client: Client) -> None:
    who = merchant_account()
    data(signed_in(client, who).post(DELETE, GO))
    work()
    assert [item["subject"] for item in mails_to(who.email)] == ["Your business is deleted"]
    old_job(who)
    told = "SELECT count(*) FROM outbox WHERE kind LIKE 'merchants.%' AND state = 'done'"
    assert (scalar(told), scalar(f"{told} AND payload = '{{}}'")) == (3, 3)


def test_mail_to_who_has_left_forgets_the_address_also_when_it_fails(client: Client) -> None:
    who = merchant_account()
    data(signed_in(client, who).post(DELETE, GO))
    write(
        "UPDATE outbox SET state = 'leased', lease_until = now() - interval '1 s', lost = 99"
        " WHERE kind = 'merchants.mail_farewell'"
    )
    expire_leases(get_tuning())
    assert scalar("SELECT state || payload FROM outbox WHERE kind = 'merchants.mail_farewell'") == "dead{}"


def test_an_old_job_erases_where_nobody_came_back(client: Client) -> None:
    owner, who = organiser(client), merchant_account()
    _, _, paid = with_crew_and_payout(client, owner, who)
    write("UPDATE account SET roles = '{}' WHERE id = :id", id=who.id)
    write("DELETE FROM merchant_profile WHERE account_id = :id", id=who.id)
    old_job(who)
    assert (scalar(SEALED, id=paid["id"]), scalar(FORMER)) == (False, 2)


def test_a_late_erasure_touches_only_the_profile_that_was_deleted(client: Client) -> None:
    owner = organiser(client)
    who = merchant_account(roles=["customer", "merchant"])
    me, path, before = with_crew_and_payout(client, owner, who)
    data(me.post(DELETE, GO))
    me = registered_again(client, who)
    changed(me, payoutDetails={"msisdn": "+264811234567"})
    settled(who, 1000)
    crew = put(me, path, {"name": "Selma", "phone": "0811111111"}, {"name": "Maria"})
    after = requested(me, 400)
    other = event(owner, name="Another")
    pending = invited(owner, other["id"], who)["invited"][0]["inviteId"]
    work()
    old_job(who, erased_at="2030-01-01T00:00:00+00:00")
    assert (scalar(SEALED, id=before["id"]), scalar(SEALED, id=after["id"])) == (False, True)
    assert [item["name"] for item in crew_of(me, path)] == [item["name"] for item in crew] == ["Selma", "Maria"]
    assert scalar(FORMER) == 2, "Selma and Jonas of the old crew"
    assert scalar("SELECT status FROM event_invite WHERE id = :id", id=pending) == "pending"


def test_a_review_about_an_account_names_the_account_and_no_payout(client: Client) -> None:
    operator, who = account("admin"), merchant_account()
    with transaction() as session:
        create_review(session, who.id, RETIRED_WITH_MONEY, balanceMinor=1000)
    work()
    (mail,) = mails_to(operator.email)
    assert all(f"Account {who.id}" in mail[part] and f"Payout {who.id}" not in mail[part] for part in ("text", "html"))


def test_who_was_never_paid_is_told_of_no_return(client: Client) -> None:
    who = merchant_account()
    assert data(signed_in(client, who).post(DELETE, GO))["moneyMayReturnUntil"] is None
    assert "send your last payout back" not in mails_to(who.email)[0]["text"]


CHANGES = {
    "pause": ("POST", "/api/merchants/me/pause", None),
    "patch": ("PATCH", "/api/merchants/me", {"payoutDetails": {}, "settings": {"language": "de"}, "city": "Outjo"}),
    "resume": ("POST", "/api/merchants/me/resume", {"currentPassword": PASSWORD, "confirmation": True}),
    "delete": ("POST", DELETE, GO),
    "payout": (
        "POST",
        "/api/merchants/me/payout-requests",
        {"amountMinor": 1, "destination": "payrail", "mode": "now", "payrailMsisdn": "+264811234567"},
    ),
}


def during_a_deletion(client: Client, monkeypatch: pytest.MonkeyPatch, change: str, *, row: bool) -> tuple[int, int]:
    """The statuses of a deletion, and of a change that began while the deletion held its locks."""
    who = merchant_account()
    me = signed_in(client, who)
    if row:
        changed(me, city="Windhoek")
    locked, go_on = Event(), Event()

    def wait(*_: Any) -> None:
        locked.set()
        go_on.wait(0.4)

    monkeypatch.setattr(deletion_hooks, "_deletion_checks", [wait])

    def act(number: int) -> int:
        if number == 0:
            return me.post(DELETE, GO).status_code
        locked.wait(10)
        method, path, body = CHANGES[change]
        return me.open(method, path, body).status_code

    deleted, other = at_once(2, act)
    return deleted, other


@pytest.mark.parametrize("row", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_during_a_deletion_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch, change: str, row: bool
) -> None:
    deleted, other = during_a_deletion(client, monkeypatch, change, row=row)
    assert deleted == 200 and other in (401, 409)
    assert scalar("SELECT count(*) FROM merchant_profile") == 0, "nobody made the deleted merchant a new profile"
    assert scalar("SELECT count(*) FROM merchant WHERE status <> 'deleted'") == 0


def writes_during_a_deletion(client: Client, monkeypatch: pytest.MonkeyPatch, what: str) -> tuple[int, int]:
    """The statuses of a deletion, and of writing something about a person while the deletion held its locks."""
    owner, who = organiser(client), merchant_account()
    me, path, _ = with_crew_and_payout(client, owner, who)
    another = event(owner, name="Another")["id"]
    locked, go_on = Event(), Event()

    def wait(*_: Any) -> None:
        locked.set()
        go_on.wait(0.4)

    monkeypatch.setattr(deletion_hooks, "_deletion_checks", [wait])
    asks = {
        "crew": lambda: me.put(path, {"crew": [{"name": "Late"}]}),
        "device": lambda: me.post("/api/notifications/devices", {"token": "late", "platform": "ios"}),
        "wish": lambda: me.patch("/api/notifications/preferences", {"push": False}),
        "invite": lambda: owner.post(f"/api/events/{another}/directory-invites", {"merchantIds": [who.id]}),
    }

    def act(number: int) -> int:
        if number == 0:
            return me.post(DELETE, GO).status_code
        locked.wait(10)
        return asks[what]().status_code

    deleted, other = at_once(2, act)
    return deleted, other


LATE = """
    SELECT (SELECT count(*) FROM crew_member WHERE name <> 'Former crew') + (SELECT count(*) FROM push_device)
         + (SELECT count(*) FROM channel_preference)
         + (SELECT count(*) FROM event_invite WHERE status = 'pending')
"""


@pytest.mark.parametrize("what", ["crew", "device", "wish", "invite"])
def test_what_is_written_during_a_deletion_is_not_left_behind(
    client: Client, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    deleted, other = writes_during_a_deletion(client, monkeypatch, what)
    assert deleted == 200 and other in ((201,) if what == "invite" else (401, 404)), (
        "the organiser is told whom it left out"
    )
    assert scalar(LATE) == 0


@pytest.mark.control
def test_without_the_lock_of_the_account_a_device_is_left_behind(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claiming_devices, "LOCK_ACCOUNT_SQL", text("SELECT CAST(:id AS text)"))
    assert writes_during_a_deletion(client, monkeypatch, "device") == (200, 201)
    assert scalar(LATE) == 1


@pytest.mark.control
def test_without_the_guard_a_change_during_a_deletion_is_an_error(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(error: IntegrityError) -> bool:
        return False

    monkeypatch.setattr(row_locks, "_is_profile_deleted", unknown)
    app.testing = False
    try:
        assert during_a_deletion(client, monkeypatch, "pause", row=True) == (200, 500)
    finally:
        app.testing = True
