"""Declining an activated application ends the stall, and its place goes to the next in line."""

from threading import Barrier
from typing import Any

import pytest

from app.accounts.models import Account
from app.applications import accepted_invites
from tests.factories.accounts import create_signed_in_client, list_mails_to
from tests.factories.applications import EMAIL, LIST, create_application, create_approved_application
from tests.factories.crew import replace_crew, start_shift
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.merchants import answer_invitation, create_merchant_account, invite_merchants
from tests.factories.payouts import assert_ledger_integrity, execute_sql, fetch_scalar
from tests.http import Client, data, read_error
from tests.races import run_concurrently

FEE = 150000
LISTED = [{"name": "Food", "feeMinor": FEE, "quantity": 1}, {"name": "Crafts", "feeMinor": 0, "quantity": 5}]
TRANSFER = {"amountMinor": FEE, "reference": "MA-7K2P9QXT", "receivedOn": "2026-11-20"}
REFUSAL = {"decision": "declined", "reason": "They fell ill"}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, stallTypes=LISTED)


@pytest.fixture
def merchant() -> Account:
    return create_merchant_account("Kapana Corner")


@pytest.fixture
def me(client: Client, merchant: Account) -> Client:
    return create_signed_in_client(client, merchant)


def activate(me: Client, owner: Client, event: dict[str, Any], stall_type: str = "Food") -> dict[str, Any]:
    """An activated application; that of a type with a fee is paid."""
    fee_minor = FEE if stall_type == "Food" else 0
    fields = {"eventId": event["id"], "stallType": stall_type, "amountMinor": fee_minor}
    application = create_approved_application(me, owner, documentsRequired=[], **fields)
    if fee_minor:
        data(owner.post(f"{LIST}/{application['id']}/fee/received", TRANSFER))
    assert data(owner.get(f"{LIST}/{application['id']}"))["status"] == "activated"
    return application


def refund(owner: Client, application: dict[str, Any]) -> None:
    data(owner.post(f"{LIST}/{application['id']}/fee/refund", {"reason": "They fell ill"}))


def decline(owner: Client, application: dict[str, Any]) -> Any:
    return owner.patch(f"{LIST}/{application['id']}", REFUSAL)


def list_stalls() -> list[str]:
    names = fetch_scalar("SELECT string_agg(stall_type, ',') FROM participation")
    return names.split(",") if names else []


def test_stall_ends_after_the_refund_and_the_next_in_line_gets_an_offer(
    client: Client, owner: Client, event: dict[str, Any], me: Client
) -> None:
    application = activate(me, owner, event)
    waiting = create_application(
        client, eventId=event["id"], stallType="Food", amountMinor=FEE, email="second@example.com"
    )
    data(owner.patch(f"{LIST}/{waiting['id']}", {"decision": "waitlisted"}))
    assert read_error(decline(owner, application)) == (409, "ALREADY_DECIDED")
    refund(owner, application)
    path = f"{LIST}/{application['id']}"
    assert read_error(owner.patch(path, {"decision": "declined"})) == (409, "ALREADY_DECIDED")
    assert data(decline(owner, application))["status"] == "declined"
    assert list_stalls() == [] and data(me.get("/api/merchants/me/events"))["events"] == []
    assert any("/place-offer/" in mail["text"] for mail in list_mails_to("second@example.com"))
    text = list_mails_to(EMAIL)[0]["text"]
    assert "You no longer have a stall" in text and "Your stall fee was sent back" in text
    version = data(owner.get(path))["version"]
    assert data(decline(owner, application))["version"] == version
    assert read_error(owner.patch(path, {**REFUSAL, "decision": "submitted"})) == (409, "ALREADY_DECIDED")
    assert_ledger_integrity()


def test_stall_with_shifts_stays(owner: Client, event: dict[str, Any], me: Client) -> None:
    application = activate(me, owner, event, "Crafts")
    path = f"/api/merchants/me/events/{event['id']}/crew"
    (member,) = replace_crew(me, path, {"name": "Selma", "pin": "482913"})
    start_shift(me, path, "482913", member["id"])
    assert read_error(decline(owner, application)) == (409, "STALL_HAS_SHIFTS")
    assert list_stalls() == ["Crafts"]
    assert data(owner.get(f"{LIST}/{application['id']}"))["status"] == "activated"


def test_crew_without_shifts_ends_with_the_stall(owner: Client, event: dict[str, Any], me: Client) -> None:
    application = activate(me, owner, event, "Crafts")
    replace_crew(me, f"/api/merchants/me/events/{event['id']}/crew", {"name": "Selma"})
    data(decline(owner, application))
    assert list_stalls() == [] and fetch_scalar("SELECT count(*) FROM crew_member") == 0


def test_merchant_with_another_stall_goes_on_by_its_terms(owner: Client, event: dict[str, Any], me: Client) -> None:
    food, crafts = activate(me, owner, event), activate(me, owner, event, "Crafts")
    refund(owner, food)
    data(decline(owner, food))
    assert list_stalls() == ["Crafts"]
    assert fetch_scalar("SELECT fee_minor FROM participation") == 0
    data(decline(owner, crafts))
    assert list_stalls() == []


def test_merchant_with_a_free_invitation_goes_on(
    owner: Client, event: dict[str, Any], me: Client, merchant: Account
) -> None:
    invited = invite_merchants(owner, event["id"], merchant, stallType="Crafts")["invited"]
    food = activate(me, owner, event)
    answer_invitation(me, invited[0]["inviteId"])
    refund(owner, food)
    data(decline(owner, food))
    assert list_stalls() == ["Crafts"]


def decline_both_at_once(me: Client, owner: Client, event: dict[str, Any]) -> list[int]:
    """Without addresses, whose limits of mail are a lock of their own."""
    applications = [activate(me, owner, event, "Crafts") for _ in range(2)]
    execute_sql("UPDATE merchant_application SET email = NULL")
    return [answer.status_code for answer in run_concurrently(2, lambda number: decline(owner, applications[number]))]


def test_of_two_stalls_declined_at_once_none_stays(owner: Client, event: dict[str, Any], me: Client) -> None:
    for _ in range(4):
        assert decline_both_at_once(me, owner, event) == [200, 200]
        assert list_stalls() == []


@pytest.mark.control
def test_without_the_lock_a_stall_stays_without_an_application(
    owner: Client, event: dict[str, Any], me: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both read the other application before one of them commits."""
    barrier = Barrier(2)

    def wait_before_the_end(session: Any, application: Any) -> None:
        session.flush()
        other = accepted_invites.find_other_terms(session, application)
        barrier.wait(timeout=20)
        assert other is not None

    monkeypatch.setattr("app.applications.actions.decisions.end_stall", wait_before_the_end)
    assert decline_both_at_once(me, owner, event) == [200, 200]
    assert list_stalls() == ["Crafts"]


def test_invitation_accepted_while_the_stall_ends_keeps_it(
    owner: Client, event: dict[str, Any], me: Client, merchant: Account
) -> None:
    path = "/api/merchants/me/event-invites"
    invited = invite_merchants(owner, event["id"], merchant, stallType="Crafts")["invited"]
    invite_path = f"{path}/{invited[0]['inviteId']}"
    for _ in range(4):
        application = activate(me, owner, event, "Crafts")
        calls = (lambda: me.patch(invite_path, {"status": "accepted"}), lambda made=application: decline(owner, made))
        answers = run_concurrently(2, lambda at, calls=calls: calls[at]().status_code)
        assert answers == [200, 200] and list_stalls() == ["Crafts"]
        execute_sql("DELETE FROM participation")
        execute_sql("UPDATE event_invite SET status = 'pending', decided_at = NULL")
