"""What waits for an organiser, counted by kind and event: only what the role may do something about."""

from dataclasses import replace

import pytest
from flask import Flask

from app.accounts.caller import Caller, build_caller
from app.accounts.models import Account
from app.accounts.permissions import MONEY_READ, ORGANISER, Membership
from app.audit.actions import Action
from app.audit.log import record_export
from app.desk.tasks import SETTLEMENT, list_tasks
from app.money.settlement import request_settlement
from tests.factories.accounts import create_account, create_customer, create_signed_in_client
from tests.factories.applications import (
    create_application,
    create_approved_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_event, create_published_event
from tests.factories.payouts import execute_sql
from tests.gate.test_batch import offline_scan
from tests.http import Client, data

KINDS_BY_ROLE = {
    "manager": ["conflicts", "applications", "documents", "fees", "undelivered", "low_stock", "publish"],
    "finance": ["fees"],
    "door": ["conflicts"],
    "stock": ["low_stock"],
    "messages": ["undelivered"],
    "viewer": [],
}


ROLES = tuple(KINDS_BY_ROLE)


def list_kinds(caller: Caller) -> list[tuple[str, str, int]]:
    return [(task.kind, task.event_name, task.count) for task in list_tasks(caller)]


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_account("organiser")


@pytest.fixture
def organiser(client: Client, owner: Account) -> Client:
    return create_signed_in_client(client, owner)


def create_tasks(client: Client, organiser: Client) -> str:
    """One task of each kind at a published event but refused refunds, and a draft. Returns the id of the event."""
    event_id: str = create_published_event(organiser, name="Windhoek Lights")["id"]
    create_event(organiser, name="River Nights")
    create_application(client, eventId=event_id)
    approved = create_approved_application(
        client, organiser, eventId=event_id, email="selma@example.com", documentsRequired=["identity"]
    )
    data(upload_documents(client, find_mailed_token("documents", "selma@example.com"), "identity", submit="true"))
    execute_sql(
        "UPDATE merchant_application SET decided_at = now() - interval '15 days' WHERE id = :id", id=approved["id"]
    )
    low = {"name": "Lager", "sku": "B1", "parLevel": 9, "minOrderQty": 1, "reorderLevel": 4, "onHand": 3}
    data(organiser.post(f"/api/events/{event_id}/inventory/items", {**low, "reserved": 0, "damaged": 0}), 201)
    path = f"/api/events/{event_id}/admissions/batch"
    data(organiser.post(path, {"admissions": [offline_scan("unknown"), offline_scan("unknown too")]}))
    create_failed_message(organiser, event_id)
    return event_id


def create_failed_message(organiser: Client, event_id: str) -> None:
    """A campaign of an hour ago with one message that failed."""
    texts = {"name": "Gates", "templateId": "blank", "title": "Gates", "body": "Hello"}
    audience = {"channels": ["email"], "audienceType": "event_ticket_holders", "respectPreferences": True}
    body = {**texts, **audience, "sendNow": False}
    campaign = data(organiser.post(f"/api/events/{event_id}/notifications/broadcast", body), 202)["campaignId"]
    execute_sql(
        "UPDATE campaign SET status = 'sent', started_at = now() - interval '1 hour' WHERE id = :id", id=campaign
    )
    execute_sql(
        "INSERT INTO campaign_recipient (id, campaign_id, event_id, channel, person, address, places, variant, state)"
        " VALUES (:id, :id, :event, 'email', 'a@example.com', 'a@example.com', 1, 'A', 'failed')",
        id=campaign,
        event=event_id,
    )


def test_owner_sees_all_kinds_and_others_nothing(client: Client, owner: Account, organiser: Client) -> None:
    create_tasks(client, organiser)
    assert list_kinds(build_caller(owner)) == [
        ("conflicts", "Windhoek Lights", 2),
        ("applications", "Windhoek Lights", 1),
        ("documents", "Windhoek Lights", 1),
        ("bank_details", "Windhoek Lights", 1),
        ("fees", "Windhoek Lights", 1),
        ("undelivered", "Windhoek Lights", 1),
        ("low_stock", "Windhoek Lights", 1),
        ("publish", "River Nights", 1),
    ]
    assert list_kinds(build_caller(create_account("organiser"))) == []
    assert list_tasks(build_caller(create_customer())) == []


def test_bank_details_are_missing_until_they_are_entered(client: Client, owner: Account, organiser: Client) -> None:
    create_tasks(client, organiser)
    execute_sql(
        "INSERT INTO organiser_profile (account_id, org_name, bank_account_number) VALUES (:id, 'Lights', '62001234567')",
        id=owner.id,
    )
    assert "bank_details" not in [task.kind for task in list_tasks(build_caller(owner))]


@pytest.mark.parametrize("role", KINDS_BY_ROLE)
def test_each_role_sees_what_it_may_do(client: Client, owner: Account, organiser: Client, role: str) -> None:
    event_id = create_tasks(client, organiser)
    person = build_caller(create_customer())
    member = replace(person, memberships=(Membership(owner.id, ORGANISER, role, None),))
    assert [task.kind for task in list_tasks(member)] == KINDS_BY_ROLE[role]
    helper = replace(person, memberships=(Membership(owner.id, ORGANISER, role, [event_id]),))
    expected = [kind for kind in KINDS_BY_ROLE[role] if kind != "publish"]
    assert [task.kind for task in list_tasks(helper)] == expected


def test_what_is_over_or_settled_no_longer_waits(client: Client, owner: Account, organiser: Client) -> None:
    event_id = create_tasks(client, organiser)
    execute_sql(
        "UPDATE event SET starts_at = now() - interval '20 days', ends_at = now() - interval '1 day' WHERE id = :id",
        id=event_id,
    )
    kinds = ["conflicts", "undelivered", "publish", "settlement"]
    assert [task.kind for task in list_tasks(build_caller(owner))] == kinds
    execute_sql("UPDATE campaign SET started_at = now() - interval '8 days'")
    execute_sql("UPDATE event SET ends_at = now() - interval '15 days' WHERE id = :id", id=event_id)
    assert [task.kind for task in list_tasks(build_caller(owner))] == ["publish"]


def test_a_settlement_report_waits_for_two_weeks_unless_it_is_made(
    client: Client, owner: Account, organiser: Client
) -> None:
    event_id = create_published_event(organiser, name="Windhoek Lights")["id"]
    person = build_caller(create_customer())

    def list_roles() -> list[str]:
        members = {role: replace(person, memberships=(Membership(owner.id, ORGANISER, role, None),)) for role in ROLES}
        return [role for role, member in members.items() if [task.kind for task in list_tasks(member)] == [SETTLEMENT]]

    def end(age: str) -> None:
        execute_sql(
            "UPDATE event SET starts_at = now() - interval '30 days', ends_at = now() - CAST(:age AS interval)", age=age
        )

    assert list_roles() == []
    file_id = request_settlement(build_caller(owner).for_permission(MONEY_READ), event_id)
    end("-1 second")
    assert list_roles() == []
    execute_sql("UPDATE organisation_file SET created_at = now() - interval '3 days'")
    end("13 days")
    assert list_roles() == []
    end("1 day")
    assert list_roles() == ["manager", "finance"], "a report of the time before does not count"
    execute_sql("DELETE FROM organisation_file")
    record_export(
        Action.FILE_EXPORTED,
        caller=build_caller(owner),
        organisation_id=owner.id,
        event_id=event_id,
        subject=file_id,
        data={"kind": SETTLEMENT},
    )
    assert list_roles() == []
    execute_sql(
        "INSERT INTO ledger_transaction (kind, reference, owner_id, event_id, amount_minor, occurred_at)"
        " VALUES ('stall_fee', 'late', :owner, :event, 100, now())",
        owner=owner.id,
        event=event_id,
    )
    assert list_roles() == ["manager", "finance"], "money that came later is not in the report"
    second_id = request_settlement(build_caller(owner).for_permission(MONEY_READ), event_id)
    assert list_roles() == []
    execute_sql("UPDATE organisation_file SET created_at = created_at - interval '1 hour'")
    export = {"organisation_id": owner.id, "event_id": event_id, "subject": second_id, "data": {"kind": SETTLEMENT}}
    record_export(Action.FILE_EXPORTED, caller=build_caller(owner), **export)
    assert list_roles() == ["manager", "finance"], "nor in a later download of the file"
    end("15 days")
    assert list_roles() == []
