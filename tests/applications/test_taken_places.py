"""A place of a stall type belongs to one merchant: what they have of one type takes one, each other type another."""

from collections import Counter
from threading import Barrier
from typing import Any

import pytest

from app.accounts.models import Account
from app.applications import stall_types, waitlist
from app.applications.form_terms import get_form_terms
from tests.factories.accounts import create_signed_in_client, list_mails_to
from tests.factories.applications import LIST, create_application, create_approved_application
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.factories.merchants import answer_invitation, create_merchant_account, invite_merchants
from tests.factories.payouts import execute_sql
from tests.http import Client, data, read_error
from tests.races import run_concurrently

INVITES = "/api/merchants/me/event-invites"
LISTED = [{"name": "Weißbrot", "feeMinor": 0, "quantity": 2}, {"name": "Crafts", "feeMinor": 0, "quantity": 2}]


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, stallTypes=LISTED)


@pytest.fixture
def merchant() -> Account:
    return create_merchant_account("Kapana Corner")


def list_left(client: Client, event: dict[str, Any]) -> dict[str, int | None]:
    """The places that the form shows, by type."""
    with client.flask.application.app_context():
        return {offer.name: offer.left for offer in get_form_terms(event["id"]).offers}


def approve(client: Client, owner: Client, event: dict[str, Any], stall_type: str = "Weißbrot") -> dict[str, Any]:
    return create_approved_application(
        client, owner, documentsRequired=[], eventId=event["id"], stallType=stall_type, amountMinor=0
    )


def invite(owner: Client, event: dict[str, Any], merchant: Account, stall_type: str) -> str:
    invited = invite_merchants(owner, event["id"], merchant, stallType=stall_type)["invited"]
    return str(invited[0]["inviteId"])


def test_free_invitation_beside_an_own_application_takes_one_place(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me, invite_id = create_signed_in_client(client, merchant), invite(owner, event, merchant, "Weißbrot")
    approve(me, owner, event)
    assert list_left(client, event) == {"Weißbrot": 1, "Crafts": 2}
    answer_invitation(me, invite_id)
    assert list_left(client, event) == {"Weißbrot": 1, "Crafts": 2}


def test_merchant_with_a_place_accepts_although_the_type_is_full(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    other = create_merchant_account("Omuramba Bakery")
    me, they = (create_signed_in_client(client, account) for account in (merchant, other))
    mine, theirs = (invite(owner, event, account, "Weißbrot") for account in (merchant, other))
    for caller in (me, client):
        approve(caller, owner, event)
    assert list_left(client, event)["Weißbrot"] == 0
    answer_invitation(me, mine)
    assert read_error(they.patch(f"{INVITES}/{theirs}", {"status": "accepted"})) == (409, "STALL_TYPE_FULL")


def test_merchant_with_two_types_takes_two_places(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me = create_signed_in_client(client, merchant)
    assert {approve(me, owner, event, name)["status"] for name in ("Weißbrot", "Crafts")} == {"activated"}
    assert list_left(client, event) == {"Weißbrot": 1, "Crafts": 1}


def test_invited_participant_of_another_type_takes_a_second_place(
    client: Client, owner: Client, event: dict[str, Any], merchant: Account
) -> None:
    me, invite_id = create_signed_in_client(client, merchant), invite(owner, event, merchant, "Crafts")
    approve(me, owner, event)
    answer_invitation(me, invite_id)
    assert list_left(client, event) == {"Weißbrot": 1, "Crafts": 1}


def test_a_type_is_counted_by_the_name_that_finds_it(client: Client, owner: Client, event: dict[str, Any]) -> None:
    update_event(owner, event, stallTypes=[{**LISTED[0], "quantity": 1}])
    accounts = [create_merchant_account() for _ in range(2)]
    first, second = (invite(owner, event, account, "WEISSBROT") for account in accounts)
    me, they = (create_signed_in_client(client, account) for account in accounts)
    answer_invitation(me, first)
    assert list_left(client, event) == {"Weißbrot": 0}
    assert read_error(they.patch(f"{INVITES}/{second}", {"status": "accepted"})) == (409, "STALL_TYPE_FULL")


def test_the_line_is_found_by_the_same_name(client: Client, owner: Client, event: dict[str, Any]) -> None:
    email = "second@example.com"
    waiting = create_application(client, eventId=event["id"], stallType="weißbrot", amountMinor=0, email=email)
    data(owner.patch(f"{LIST}/{waiting['id']}", {"decision": "waitlisted"}))
    update_event(owner, event, stallTypes=[{**LISTED[0], "name": "WEISSBROT"}])
    for event_id, name in waitlist.list_waiting_types():
        assert waitlist.offer_next_place(event_id, name)
    assert any("/place-offer/" in mail["text"] for mail in list_mails_to(email))


def accept_at_once(client: Client, owner: Client, event: dict[str, Any], count: int) -> Counter[int]:
    accounts = [create_merchant_account() for _ in range(count)]
    invited = invite_merchants(owner, event["id"], *accounts, stallType="Crafts")["invited"]
    id_by_merchant = {row["merchantId"]: row["inviteId"] for row in invited}
    clients = [create_signed_in_client(client, account) for account in accounts]
    return Counter(
        answer.status_code
        for answer in run_concurrently(
            count,
            lambda number: clients[number].patch(
                f"{INVITES}/{id_by_merchant[accounts[number].id]}", {"status": "accepted"}
            ),
        )
    )


def test_of_many_free_acceptances_two_take_the_two_places(client: Client, owner: Client, event: dict[str, Any]) -> None:
    assert accept_at_once(client, owner, event, 8) == {200: 2, 409: 6}


@pytest.mark.control
def test_without_the_lock_more_free_acceptances_than_places(
    client: Client, owner: Client, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All acceptances count the places before one of them takes its own."""
    barrier, list_taken_places = Barrier(4), stall_types.list_taken_places

    def count_at_the_same_time(session: Any, event_id: str) -> Any:
        places = list_taken_places(session, event_id)
        barrier.wait(timeout=90)
        return places

    execute_sql("UPDATE event SET stall_types = jsonb_set(stall_types, '{1,quantity}', '3')")
    accounts = [create_merchant_account() for _ in range(4)]
    invite_ids = [invite(owner, event, account, "Crafts") for account in accounts]
    clients = [create_signed_in_client(client, account) for account in accounts]
    monkeypatch.setattr(stall_types, "lock_name", lambda *_: None)
    monkeypatch.setattr(stall_types, "list_taken_places", count_at_the_same_time)
    answers = run_concurrently(
        4, lambda number: clients[number].patch(f"{INVITES}/{invite_ids[number]}", {"status": "accepted"})
    )
    assert Counter(answer.status_code for answer in answers) == {200: 4}
