"""Simultaneous answers, invitations and uses of links. Controls run without the guards."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.core.db import db, transaction_engine
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.actions import invite_answers, invites
from app.invitations.actions.invite_answers import LockedInvite
from app.invitations.actions.invites import count_link_use
from app.invitations.errors import InviteUsed
from app.invitations.models import EventInvite, InviteLink
from app.invitations.queries import EVENT_COLUMNS, EventSummary
from app.invitations.states import ACCEPTED, PENDING, STATUSES, STEPS, WITHDRAWN
from app.merchants.models import Merchant
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to
from tests.factories.applications import build_application_body
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import create_merchant_account, invite_merchants
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.unguarded import without_rules
from tests.waiting import wait_until

INVITES = "/api/merchants/me/event-invites"


def count(statement: str) -> int:
    with transaction() as session:
        return int(session.scalar(text(statement)) or 0)


def test_an_answer_changes_only_by_a_withdrawal() -> None:
    assert set(STEPS) == set(STATUSES)
    assert {status for status, targets in STEPS.items() if targets} == {PENDING, ACCEPTED}
    assert STEPS[ACCEPTED] == {WITHDRAWN}


def test_simultaneous_acceptances_add_one_participant(client: Client) -> None:
    owner_account, merchant = create_account("organiser"), create_merchant_account("Kapana Corner")
    owner, me = create_signed_in_client(client, owner_account), create_signed_in_client(client, merchant)
    invite = invite_merchants(owner, create_event(owner)["id"], merchant)["invited"][0]["inviteId"]
    responses = run_concurrently(32, lambda _: me.patch(f"{INVITES}/{invite}", {"status": "accepted"}))
    assert {response.status_code for response in responses} == {200}
    assert len({response.get_json()["data"]["version"] for response in responses}) == 1
    assert count("SELECT count(*) FROM participation") == 1
    assert [item["subject"] for item in list_mails_to(owner_account.email)] == ["Kapana Corner takes part"]


WAYS_TO_END = {
    "withdrawn": ("UPDATE invite_link SET revoked_at = now()", (410, "INVITE_WITHDRAWN")),
    "expired": ("UPDATE invite_link SET expires_at = now()", (410, "INVITE_EXPIRED")),
    "used": ("UPDATE invite_link SET uses = max_uses", (410, "INVITE_USED")),
}


def apply_while_ending(client: Client, end_name: str) -> Any:
    """An application that has read the invitation while it counted, and uses it once it has ended: it waits for the row
    that somebody else has changed and not yet committed."""
    owner = create_organiser_client(client)
    path = f"/api/events/{create_event(owner)['id']}/merchant-invite"
    slug = data(owner.post(path, {"email": "kapana@example.com"}), 201)["slug"]
    with ThreadPoolExecutor(1) as thread, transaction_engine(db.engine).connect() as connection:
        connection.execute(text(end_name))
        response = thread.submit(
            lambda: client.post("/api/merchant-applications", build_application_body(inviteSlug=slug))
        )
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        wait_until(lambda: count(waiting) == 1)
        connection.commit()
        return response.result(timeout=90)


@pytest.mark.parametrize("end_name", WAYS_TO_END)
def test_link_that_ends_during_a_request_is_not_used(client: Client, end_name: str) -> None:
    statement, response = WAYS_TO_END[end_name]
    assert read_error(apply_while_ending(client, statement)) == response
    assert count("SELECT count(*) FROM merchant_application") == 0


@pytest.mark.control
@pytest.mark.parametrize("end_name", ["withdrawn", "expired"])
def test_without_the_condition_an_ended_link_would_be_used(
    client: Client, end_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count_without_condition(link_id: str) -> Any:
        statement = update(InviteLink).where(InviteLink.id == link_id, InviteLink.uses < InviteLink.max_uses)
        return statement.values(uses=InviteLink.uses + 1).returning(InviteLink.id)

    monkeypatch.setattr(invites, "_count_link_use_sql", count_without_condition)
    assert apply_while_ending(client, WAYS_TO_END[end_name][0]).status_code == 201


def test_one_of_two_opposite_answers_counts(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    me = create_signed_in_client(client, merchant)
    invite = invite_merchants(owner, create_event(owner)["id"], merchant)["invited"][0]["inviteId"]
    statuses = ("accepted", "declined")
    responses = run_concurrently(
        8, lambda number: me.patch(f"{INVITES}/{invite}", {"status": statuses[number % 2]}).status_code
    )
    assert Counter(responses) == {200: 4, 409: 4}
    participant_count = count("SELECT count(*) FROM participation")
    assert participant_count == count("SELECT count(*) FROM event_invite WHERE status = 'accepted'")


@pytest.mark.control
def test_without_the_locks_both_answers_would_count(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    me = create_signed_in_client(client, merchant)
    invite = invite_merchants(owner, create_event(owner)["id"], merchant)["invited"][0]["inviteId"]
    barrier = Barrier(8)

    def find_invite_unlocked(session: Session, caller: Caller, invite_id: str) -> LockedInvite:
        statement = select(EventInvite, func.now(), *EVENT_COLUMNS)
        invite, status, *event_fields = session.execute(statement.join(Event).where(EventInvite.id == invite_id)).one()
        barrier.wait(timeout=90)
        names = [column.key for column in EVENT_COLUMNS]
        return LockedInvite(invite, invite.status, status, EventSummary(**dict(zip(names, event_fields, strict=True))))

    monkeypatch.setattr(invite_answers, "lock_merchant", lambda session, account_id: Merchant(status="active"))
    monkeypatch.setattr(invite_answers, "_lock_invite", find_invite_unlocked)
    statuses = ("accepted", "declined")
    responses = run_concurrently(
        8, lambda number: me.patch(f"{INVITES}/{invite}", {"status": statuses[number % 2]}).status_code
    )
    assert Counter(responses) == {200: 8}


def test_acceptance_after_a_pause_is_refused(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    me = create_signed_in_client(client, merchant)
    invite = invite_merchants(owner, create_event(owner)["id"], merchant)["invited"][0]["inviteId"]

    def act(number: int) -> int:
        if number == 0:
            return me.post("/api/merchants/me/pause").status_code
        return me.patch(f"{INVITES}/{invite}", {"status": "accepted"}).status_code

    responses = run_concurrently(6, act)
    accepted = count("SELECT count(*) FROM event_invite WHERE status = 'accepted'")
    assert set(responses[1:]) == ({200} if accepted else {409})


def test_simultaneous_invitations_invite_each_merchant_once(client: Client) -> None:
    owner, merchant = create_organiser_client(client), [create_merchant_account() for _ in range(6)]
    new_event = create_event(owner)
    run_concurrently(
        8, lambda number: invite_merchants(owner, new_event["id"], *(merchant if number % 2 else merchant[::-1]))
    )
    assert count("SELECT count(*) FROM event_invite") == 6
    assert all(len(list_mails_to(item.email)) == 1 for item in merchant)


@pytest.mark.control
def test_without_the_index_merchants_would_be_invited_twice(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    new_event = create_event(owner)
    invite_merchants(owner, new_event["id"], merchant)
    insert_sql = "INSERT INTO event_invite (id, event_id, merchant_id, invited_by, expires_at)"
    with pytest.raises(Exception, match="uq_event_invite_living"), transaction() as session:
        session.execute(
            text(f"{insert_sql} SELECT 'f', event_id, merchant_id, invited_by, expires_at FROM event_invite")
        )
    with without_rules("uq_event_invite_living"):
        with transaction() as session:
            session.execute(
                text(f"{insert_sql} SELECT 'f', event_id, merchant_id, invited_by, expires_at FROM event_invite")
            )
        assert count("SELECT count(*) FROM event_invite") == 2


def test_link_is_used_at_most_max_uses_times(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    link = data(owner.post(f"/api/events/{create_event(owner)['id']}/merchant-invite", {"maxUses": 3}), 201)

    def use(_: int) -> Any:
        with app.app_context():
            try:
                with transaction() as session:
                    count_link_use(session, link["id"])
            except InviteUsed as error:
                return error.code
            return None

    assert Counter(run_concurrently(10, use)) == {None: 3, "INVITE_USED": 7}
