"""Accepted invitations from the directory: with a fee the merchant takes part once it is settled."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from app.accounts.models import Account
from app.applications import commands, stall_types
from tests.factories.accounts import PASSWORD, create_signed_in_client, list_mails_to
from tests.factories.applications import (
    CODE,
    LIST,
    TRANSFER_DAY,
    create_approved_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.merchants import answer_invitation, create_merchant_account, invite_merchants, update_merchant
from tests.factories.payouts import assert_ledger_integrity, execute_sql, fetch_scalar, run_all_jobs
from tests.factories.stall_payments import run_recurring
from tests.http import Client, data, read_error
from tests.races import run_concurrently

INVITES = "/api/merchants/me/event-invites"
FEE = 150000
LISTED = [{"name": "Food stall", "feeMinor": FEE, "quantity": 1}, {"name": "Crafts", "feeMinor": 0, "quantity": 1}]


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, stallTypes=LISTED)


@pytest.fixture
def merchant() -> Account:
    return create_merchant_account("Kapana Corner")


def invite(owner: Client, event: dict[str, Any], merchant: Account, stall_type: str = "Food stall") -> str:
    invited = invite_merchants(owner, event["id"], merchant, stallType=stall_type)["invited"]
    return str(invited[0]["inviteId"])


def accept(client: Client, owner: Client, event: dict[str, Any], merchant: Account) -> Client:
    me = create_signed_in_client(client, merchant)
    assert answer_invitation(me, invite(owner, event, merchant))["status"] == "accepted"
    return me


def read_application(caller: Client) -> dict[str, Any]:
    (application,) = data(caller.get(LIST))["applications"]
    return dict(application)


def count_events(me: Client) -> int:
    return len(data(me.get("/api/merchants/me/events"))["events"])


def pay(client: Client, owner: Client, merchant: Account, application_id: str) -> None:
    path = f"{LIST}/pay/{find_mailed_token('pay', merchant.email)}"
    data(client.post(path, {"payrailMsisdn": "+264811234567"}))
    data(client.post(f"{path}/payrail/verify-otp", {"code": CODE}))


def receive(client: Client, owner: Client, merchant: Account, application_id: str) -> None:
    body = {"amountMinor": FEE, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY}
    data(owner.post(f"{LIST}/{application_id}/fee/received", body))


def waive(client: Client, owner: Client, merchant: Account, application_id: str) -> None:
    data(owner.post(f"{LIST}/{application_id}/fee/waive", {"reason": "a school"}))


@pytest.mark.parametrize("settle", [pay, receive, waive])
def test_a_fee_is_settled_before_the_merchant_takes_part(
    client: Client,
    owner: Client,
    event: dict[str, Any],
    merchant: Account,
    settle: Callable[[Client, Client, Account, str], None],
) -> None:
    me = accept(client, owner, event, merchant)
    application = read_application(owner)
    assert (application["status"], application["decision"]) == ("awaiting_payment", "approved")
    assert (application["stallType"], application["amountMinor"], application["documents"]) == ("Food stall", FEE, [])
    assert (application["businessName"], application["email"]) == ("Kapana Corner", merchant.email)
    assert count_events(me) == 0
    settle(client, owner, merchant, application["id"])
    assert (read_application(me)["status"], count_events(me)) == ("activated", 1)
    subjects = [mail["subject"] for mail in list_mails_to(merchant.email)]
    assert any("pay your stall fee" in subject for subject in subjects), subjects
    assert any("you are ready" in subject for subject in subjects), subjects
    assert not any("/activate/" in mail["text"] for mail in list_mails_to(merchant.email))
    assert_ledger_integrity()


def test_an_invitation_without_a_fee_takes_a_place_at_once(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    other = create_merchant_account("Omuramba Crafts")
    first, second = (invite(owner, event, account, "Crafts") for account in (merchant, other))
    me = create_signed_in_client(client, merchant)
    answer_invitation(me, first)
    assert count_events(me) == 1 and data(me.get(LIST))["applications"] == []
    full = create_signed_in_client(client, other).patch(f"{INVITES}/{second}", {"status": "accepted"})
    assert read_error(full) == (409, "STALL_TYPE_FULL")
    assert fetch_scalar("SELECT status FROM event_invite WHERE id = :id", id=second) == "pending"


def test_a_withdrawal_before_the_payment_frees_place_and_merchant(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me = accept(client, owner, event, merchant)
    other = create_merchant_account("Omuramba Crafts")
    waiting = invite(owner, event, other)
    they = create_signed_in_client(client, other)
    assert read_error(they.patch(f"{INVITES}/{waiting}", {"status": "accepted"})) == (409, "STALL_TYPE_FULL")
    data(me.post(f"{LIST}/{read_application(me)['id']}/withdraw"))
    answer_invitation(they, waiting)
    assert invite(owner, event, merchant)
    (ended, living) = sorted(row["status"] for row in data(me.get(INVITES))["invites"])[::-1]
    assert (ended, living) == ("withdrawn", "pending")


def test_a_refusal_before_the_payment_frees_the_place(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    accept(client, owner, event, merchant)
    body = {"decision": "declined", "reason": "They asked for it"}
    assert data(owner.patch(f"{LIST}/{read_application(owner)['id']}", body))["status"] == "declined"
    accept(client, owner, event, create_merchant_account("Omuramba Crafts"))


def test_a_late_payment_of_an_ended_event_is_booked_and_reviewed(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me = accept(client, owner, event, merchant)
    token = find_mailed_token("pay", merchant.email)
    payment = data(client.post(f"{LIST}/pay/{token}", {"payrailMsisdn": "+264811230002"}))["paymentId"]
    execute_sql("UPDATE event SET ends_at = now() - interval '1 s', starts_at = now() - interval '1 h'")
    run_recurring("applications.expire")
    assert read_application(me)["status"] == "expired"
    execute_sql("UPDATE stall_payment SET tries = 1, status = 'processing' WHERE id = :id", id=payment)
    assert commands.resolve_payment(payment, "paid", "asked the rail") == "paid"
    assert (read_application(me)["status"], count_events(me)) == ("expired", 0)
    assert fetch_scalar("SELECT kind FROM stall_payment_review WHERE resolved_at IS NULL") == "application_closed"
    assert_ledger_integrity()


def test_a_deleted_merchant_leaves_place_and_books(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me = accept(client, owner, event, merchant)
    data(me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}))
    assert read_application(owner)["status"] == "withdrawn"
    accept(client, owner, event, create_merchant_account("Omuramba Crafts"))
    assert_ledger_integrity()


def test_an_application_of_a_signed_in_merchant_needs_no_activation(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me = create_signed_in_client(client, merchant)
    body = {"eventId": event["id"], "amountMinor": FEE, "destination": "payrail", "mode": "now"}
    application = data(me.post(LIST, {**body, "stallType": "Food stall", "payrailMsisdn": "+264811234567"}), 201)
    decision = {"decision": "approved", "documentsRequired": []}
    assert data(owner.patch(f"{LIST}/{application['id']}", decision))["status"] == "awaiting_payment"
    pay_stall_fee(client, find_mailed_token("pay", merchant.email))
    assert (read_application(me)["status"], count_events(me)) == ("activated", 1)


def test_automatic_acceptances_take_the_places_that_are_left(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    merchants = [create_merchant_account() for _ in range(3)]
    for account in merchants:
        update_merchant(create_signed_in_client(client, account), settings={"autoAcceptInvites": True})
    invited = invite_merchants(owner, event["id"], *merchants, stallType="Crafts")["invited"]
    assert Counter(row["status"] for row in invited) == {"accepted": 1, "pending": 2}
    run_all_jobs()
    assert fetch_scalar("SELECT count(*) FROM participation") == 1


def accept_at_once(client: Client, owner: Client, event: dict[str, Any], count: int) -> Counter[int]:
    merchants = [create_merchant_account() for _ in range(count)]
    invites = invite_merchants(owner, event["id"], *merchants, stallType="Food stall")["invited"]
    id_by_merchant = {row["merchantId"]: row["inviteId"] for row in invites}
    clients = [create_signed_in_client(client, account) for account in merchants]
    answers = run_concurrently(
        count,
        lambda number: clients[number].patch(
            f"{INVITES}/{id_by_merchant[merchants[number].id]}", {"status": "accepted"}
        ),
    )
    return Counter(answer.status_code for answer in answers)


def test_of_many_acceptances_one_takes_the_last_place(client: Client, owner: Client, event: dict[str, Any]) -> None:
    assert accept_at_once(client, owner, event, 8) == {200: 1, 409: 7}
    assert fetch_scalar("SELECT count(*) FROM merchant_application") == 1


@pytest.mark.control
def test_without_the_lock_more_acceptances_than_places(
    client: Client, owner: Client, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stall_types, "lock_name", lambda *_: None)
    assert accept_at_once(client, owner, event, 16)[200] > 1


def test_the_same_acceptance_at_once_makes_one_application(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me, invite_id = create_signed_in_client(client, merchant), invite(owner, event, merchant)
    answers = run_concurrently(16, lambda _: me.patch(f"{INVITES}/{invite_id}", {"status": "accepted"}).status_code)
    assert set(answers) == {200}
    assert fetch_scalar("SELECT count(*) FROM merchant_application") == 1
    assert len([mail for mail in list_mails_to(merchant.email) if "/pay/" in mail["text"]]) == 1


def test_nobody_pays_for_a_second_stall(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me, invite_id = create_signed_in_client(client, merchant), invite(owner, event, merchant)
    create_approved_application(me, owner, eventId=event["id"], stallType="Crafts", amountMinor=0)
    answer = me.patch(f"/api/merchants/me/event-invites/{invite_id}", {"status": "accepted"})
    assert read_error(answer) == (409, "HAS_STALL")
