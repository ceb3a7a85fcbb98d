"""What an entry says, that it is written with its act or not at all, and that nobody changes it."""

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.audit.actions import Action
from app.audit.log import record
from app.core.addresses import truncate_address
from app.core.db import db
from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.audit.scenes import get_entry, list_entries
from tests.counting import count_statements
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, run_jobs, sign_in
from tests.factories.allocations import create_block
from tests.factories.events import create_event, create_organiser_client
from tests.factories.payouts import build_payout_body, create_earning_merchant, execute_sql, run_all_jobs
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.teams.test_devices import add_device, pair

OLD_ENTRY = """
    INSERT INTO audit_entry (at, action, actor_kind, subject_kind)
    VALUES (now() - make_interval(days => :days), 'events.created', 'system', 'event')
"""


def test_an_act_on_an_event_names_person_session_organisation_and_thing(client: Client) -> None:
    block = create_block(client, quantity=2)
    response = block.post("codes", count=1)
    entry = get_entry(Action.CODES_CREATED)
    account_id = block.event["organiserId"]
    assert (entry["actor_kind"], entry["actor_id"], entry["organisation_id"]) == ("person", account_id, account_id)
    assert (entry["event_id"], entry["subject_kind"], entry["subject_id"]) == (block.event["id"], "block", block.id)
    session = db.session.execute(text("SELECT id FROM account_session")).scalar_one()
    assert (entry["session_id"], entry["account_id"], entry["data"]) == (session, None, {"count": 1})
    assert (entry["network"], entry["request_id"]) == ("127.0.0.0/24", response.get_json()["requestId"])


def test_an_act_of_an_admin_names_the_admin_and_the_organisation(client: Client) -> None:
    event = create_event(create_organiser_client(client))
    admin = create_account("admin")
    data(create_signed_in_client(client, admin).delete(f"/api/events/{event['id']}"))
    entry = get_entry(Action.EVENT_DELETED)
    assert (entry["actor_id"], entry["organisation_id"]) == (admin.id, event["organiserId"])


def test_a_device_acts_for_its_organisation(client: Client) -> None:
    block = create_block(client, quantity=2)
    (slot_id,) = block.claimed(1)
    device = add_device(block.owner, block.event["id"])
    gate = pair(client, device["pairingCode"])
    data(gate.post(f"{block.events}/will-call/{slot_id}/admit", {"gate": "North"}))
    entry = get_entry(Action.ADMITTED)
    assert (entry["actor_kind"], entry["actor_id"]) == ("device", block.event["organiserId"])
    assert (entry["session_id"], entry["subject_id"], entry["event_id"]) == (device["id"], slot_id, block.event["id"])
    assert entry["data"] == {"block": block.id, "gate": "North"}
    assert entry["organisation_id"] == block.event["organiserId"]


def test_a_key_acts_for_its_organisation(client: Client) -> None:
    block = create_block(client, quantity=2)
    (slot_id,) = block.claimed(1)
    body = {"name": "Shop", "scopes": ["gate"], "password": PASSWORD}
    key = data(block.owner.post("/api/organisations/me/api-keys", body), 201)
    data(client.as_(key["key"]).post(f"{block.events}/will-call/{slot_id}/admit", {}))
    entry = get_entry(Action.ADMITTED)
    assert (entry["actor_kind"], entry["session_id"]) == ("key", key["id"])


def test_a_sign_in_names_the_account_and_its_session(client: Client) -> None:
    owner = create_account()
    sign_in(client, owner.email)
    entry = get_entry(Action.SIGNED_IN)
    assert (entry["actor_kind"], entry["actor_id"], entry["account_id"]) == ("person", owner.id, owner.id)
    assert entry["subject_id"] == entry["session_id"] is not None
    assert entry["data"] == {"kind": "api"}


def test_a_job_acts_as_the_system(client: Client) -> None:
    block = create_block(client, releaseAt="2026-12-01T08:00:00Z")
    execute_sql("UPDATE allocation_block SET release_at = now()")
    execute_sql("UPDATE outbox SET run_at = now() WHERE kind = 'allocations.release'")
    run_all_jobs()
    entry = get_entry(Action.SLOTS_RELEASED)
    assert (entry["actor_kind"], entry["actor_id"], entry["network"]) == ("system", None, None)
    assert (entry["subject_id"], entry["data"]) == (block.id, {"quantity": 10})


def test_a_visitor_acts_as_a_guest(client: Client) -> None:
    block = create_block(client)
    path = f"/api/allocations/allocator/{block.allocator()}"
    slot = data(client.post(path, {"name": "Tuli", "email": "tuli@example.com"}))
    data(client.post(path, {"slotId": slot["slotId"], "action": "take_back"}))
    entry = get_entry(Action.SLOT_REVOKED)
    assert (entry["actor_kind"], entry["actor_id"], entry["data"]["by"]) == ("guest", None, "holder")


def test_no_entry_has_personal_or_payout_details(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 5000)
    data(me.post("/api/merchants/me/payout-requests", build_payout_body(1000)), 201)
    written = str([entry["data"] for entry in list_entries()])
    for secret in (merchant.email, merchant.name, "811234567", "62001234567"):
        assert secret not in written


def test_a_refused_act_is_not_recorded(client: Client) -> None:
    me, _ = create_earning_merchant(client)
    response = me.post("/api/merchants/me/payout-requests", build_payout_body(10**9))
    assert read_error(response) == (409, "INSUFFICIENT_FUNDS")
    assert list_entries(Action.PAYOUT_REQUESTED) == []


def test_an_act_that_rolls_back_leaves_no_entry(app: Flask) -> None:
    with pytest.raises(RuntimeError), transaction() as session:
        record(session, Action.EVENT_CREATED, subject="0" * 24)
        raise RuntimeError("half-way")
    assert list_entries() == []


def test_an_act_outside_a_transaction_cannot_be_recorded(app: Flask) -> None:
    with pytest.raises(AssertionError):
        record(db.session(), Action.EVENT_CREATED)


def test_a_repeated_request_with_a_key_is_recorded_once(client: Client) -> None:
    block = create_block(client)
    for _ in range(2):
        block.owner.post(f"{block.path}/codes", {"count": 1}, headers={"Idempotency-Key": "once and for all"})
    get_entry(Action.CODES_CREATED)


def test_an_admission_is_one_statement(client: Client) -> None:
    block = create_block(client)
    (slot_id,) = block.claimed(1)
    _, statements = count_statements(lambda: data(block.admit(slot_id)))
    assert [("audit_entry" in statement) for statement in statements] == [False, True]


def admit_concurrently(client: Client) -> tuple[list[str], list[str]]:
    """The slots in the entries after 16 scanners have scanned four tickets, and the slots of the tickets."""
    block = create_block(client)
    slot_ids = block.claimed(4)
    run_concurrently(16, lambda number: block.admit(slot_ids[number % 4]).status_code)
    return sorted(entry["subject_id"] for entry in list_entries(Action.ADMITTED)), sorted(slot_ids)


def test_concurrent_admissions_of_a_ticket_are_recorded_once(client: Client) -> None:
    recorded, admitted = admit_concurrently(client)
    assert recorded == admitted


@pytest.mark.parametrize("change", ["UPDATE audit_entry SET network = NULL", "DELETE FROM audit_entry"])
def test_the_database_refuses_to_change_an_entry(app: Flask, change: str) -> None:
    execute_sql(OLD_ENTRY, days=364)
    with pytest.raises(IntegrityError, match="audit_entry is insert-only"):
        execute_sql(change)
    assert len(list_entries()) == 1


def test_the_database_refuses_to_empty_the_table(app: Flask) -> None:
    with pytest.raises(IntegrityError, match="audit_entry is insert-only"):
        execute_sql("TRUNCATE audit_entry")


def test_old_entries_are_erased_after_the_retention_period(app: Flask) -> None:
    for days in (1825, 1827, 3000):
        execute_sql(OLD_ENTRY, days=days)
    assert (
        "2  entries of the audit trail" in app.test_cli_runner().invoke(args=["retention", "run", "--dry-run"]).output
    )
    with transaction():
        enqueue("retention.erase")
    run_jobs()
    assert len(list_entries()) == 1


@pytest.mark.parametrize(
    ("address", "network"),
    [("196.44.130.7", "196.44.130.0/24"), ("2001:db8:1:2::3", "2001:db8:1::/48"), ("", None), ("unix:", None)],
)
def test_the_network_does_not_name_a_connection(address: str, network: str | None) -> None:
    assert truncate_address(address) == network
