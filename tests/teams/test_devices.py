"""Devices: pairing, what a device may do, and ending it."""

from typing import Any

import pytest

from app.inventory.actions import reports
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.allocations import claim_slot, create_block
from tests.factories.events import create_event
from tests.factories.inventory import Stock
from tests.factories.payouts import execute_sql
from tests.http import Client, data, read_error


def add_device(owner: Client, event_id: str, kind: str = "gate") -> dict[str, Any]:
    return data(owner.post(f"/api/events/{event_id}/devices", {"kind": kind, "name": "Gate A"}), 201)


def pair(client: Client, code: str) -> Client:
    return client.as_(data(client.post("/api/devices/pair", {"code": code}))["deviceToken"])


def test_a_gate_device_admits_guests_of_its_event(client: Client) -> None:
    block = create_block(client, quantity=2)
    (claimed, _) = block.codes(2)
    slot = data(claim_slot(client, claimed))["slotId"]
    gate = pair(client, add_device(block.owner, block.event["id"])["pairingCode"])
    path = f"/api/events/{block.event['id']}/allocations/will-call"
    assert data(gate.get(path))["slots"][0]["slotId"] == slot
    admitted = data(gate.post(f"{path}/{slot}/admit", {"nonce": "n-1234567890"}))
    assert admitted["admittedBy"] == "Gate A"


def test_a_device_reaches_nothing_else(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    event, other = create_event(owner), create_event(owner)
    gate = pair(client, add_device(owner, event["id"])["pairingCode"])
    assert read_error(gate.get(f"/api/events/{other['id']}")) == (404, "NOT_FOUND")
    assert read_error(gate.get(f"/api/events/{event['id']}/inventory")) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(gate.get("/api/auth/me")) == (403, "ROLE_NOT_ALLOWED")


def test_a_device_cannot_link_an_identity_to_the_organisation(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    gate = pair(client, add_device(owner, create_event(owner)["id"])["pairingCode"])
    assert read_error(gate.post("/api/auth/google", {"idToken": "e30.e30.e30"})) == (403, "ROLE_NOT_ALLOWED")


@pytest.mark.parametrize("typed", ["{code}", " {lower} ", "{lower}"])
def test_a_code_is_read_as_people_type_it(client: Client, typed: str) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    code = add_device(owner, create_event(owner)["id"])["pairingCode"]
    assert data(client.post("/api/devices/pair", {"code": typed.format(code=code, lower=code.lower())}))


def test_a_code_works_once(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    code = add_device(owner, create_event(owner)["id"])["pairingCode"]
    pair(client, code)
    assert read_error(client.post("/api/devices/pair", {"code": code})) == (422, "CODE_INVALID")


def test_a_code_works_for_ten_minutes(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    code = add_device(owner, create_event(owner)["id"])["pairingCode"]
    execute_sql("UPDATE device SET pairing_expires_at = now()")
    assert read_error(client.post("/api/devices/pair", {"code": code})) == (422, "CODE_INVALID")


def test_an_ended_device_is_refused_at_once(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    event = create_event(owner)
    device = add_device(owner, event["id"])
    gate = pair(client, device["pairingCode"])
    data(gate.get(f"/api/events/{event['id']}"))
    for _ in range(2):
        data(owner.delete(f"/api/events/{event['id']}/devices/{device['id']}"))
    assert read_error(gate.get(f"/api/events/{event['id']}")) == (401, "SESSION_ENDED")
    assert data(owner.get(f"/api/events/{event['id']}/devices"))["devices"] == []


def test_the_code_of_an_ended_device_is_dead(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    event = create_event(owner)
    device = add_device(owner, event["id"])
    data(owner.delete(f"/api/events/{event['id']}/devices/{device['id']}"))
    assert read_error(client.post("/api/devices/pair", {"code": device["pairingCode"]})) == (422, "CODE_INVALID")


def test_a_device_ends_48_hours_after_its_event(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    event = create_event(owner)
    gate = pair(client, add_device(owner, event["id"])["pairingCode"])
    execute_sql("UPDATE event SET starts_at = now() - interval '3 days', ends_at = now() - interval '47 hours'")
    data(gate.get(f"/api/events/{event['id']}"))
    execute_sql("UPDATE event SET ends_at = now() - interval '49 hours'")
    assert read_error(gate.get(f"/api/events/{event['id']}")) == (401, "SESSION_ENDED")


def test_the_list_shows_when_a_device_was_last_seen(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    event = create_event(owner)
    gate = pair(client, add_device(owner, event["id"])["pairingCode"])
    execute_sql("UPDATE device SET last_seen_at = now() - interval '1 hour'")
    (before,) = data(owner.get(f"/api/events/{event['id']}/devices"))["devices"]
    data(gate.get(f"/api/events/{event['id']}"))
    (after,) = data(owner.get(f"/api/events/{event['id']}/devices"))["devices"]
    assert after["lastSeenAt"] > before["lastSeenAt"]


def test_an_analyst_who_organises_reaches_what_the_tier_of_the_route_gives(client: Client) -> None:
    block = create_block(client)
    (slot_id,) = block.claimed(1)
    data(block.admit(slot_id))
    account = create_account("admin", admin_tier="analyst", roles=["admin", "organiser"])
    analyst = create_signed_in_client(client, account)
    own_event = create_event(analyst)
    assert data(analyst.get(f"/api/events/{own_event['id']}/devices")) == {"devices": []}
    assert read_error(analyst.get(f"/api/events/{block.event['id']}/devices")) == (404, "NOT_FOUND")
    assert read_error(analyst.post(f"{block.events}/will-call/{slot_id}/admit", {})) == (404, "NOT_FOUND")
    assert data(analyst.get(block.path))["id"] == block.id


def test_reports_of_a_device_do_not_use_up_those_of_the_organisation(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "REPORT_LIMIT", reports.Rule("stock-reports", 1, reports.REPORT_LIMIT.window))
    stock = Stock(client)
    device = pair(client, add_device(stock.owner, stock.event["id"], "stock")["pairingCode"])
    for caller, type in ((device, "summary"), (stock.owner, "movements")):
        data(caller.get(f"{stock.path}/reports", query_string={"type": type, "format": "pdf"}), 202)
    third = device.get(f"{stock.path}/reports", query_string={"type": "reorder", "format": "pdf"})
    assert read_error(third) == (429, "RATE_LIMITED")
