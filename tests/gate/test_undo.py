"""Undoing scans, the log, the search by name and the figures, over HTTP."""

from typing import Any

import pytest

from tests.allocations.law import assert_books_agree
from tests.factories.gate import Gate
from tests.factories.payouts import execute_sql
from tests.http import Client, data, read_error


def pair_device(gate: Gate, client: Client, name: str = "Phone 1") -> Client:
    """A gate device of the event."""
    body = {"kind": "gate", "name": name}
    code = data(gate.owner.post(f"/api/events/{gate.event_id}/devices", body), 201)["pairingCode"]
    return client.as_(data(client.post("/api/devices/pair", {"code": code}))["deviceToken"])


def stats(gate: Gate) -> dict[str, Any]:
    return data(gate.owner.get(f"{gate.path}/stats"))


@pytest.mark.parametrize("kind", ["slot", "ticket"])
def test_undone_scan_can_be_repeated(client: Client, kind: str) -> None:
    gate = Gate(client)
    code = gate.claim()["code"] if kind == "slot" else gate.sell().secret
    scanned = data(gate.scan(code, nonce="first", gate="North"))
    undone = data(gate.undo(scanned["admissionId"]))
    assert (undone["undone"], undone["reason"]) == (1, "wrong ticket")
    assert stats(gate)["total"]["admitted"] == 0
    assert_books_agree()
    assert data(gate.undo(scanned["admissionId"], reason="another")) == undone
    assert data(gate.scan(code, nonce="first")) == scanned
    data(gate.scan(code, nonce="second"))
    assert stats(gate)["total"]["admitted"] == 1
    assert_books_agree()


def test_undo_is_of_the_whole_party(client: Client) -> None:
    gate = Gate(client)
    codes = gate.claim_party(3)
    scanned = data(gate.scan(codes[0], count=3))
    assert data(gate.undo(scanned["admissionId"]))["undone"] == 3
    assert data(gate.scan(codes[1], count=3))["admitted"] == 3
    assert_books_agree()


def test_undone_exit_is_inside_again(client: Client) -> None:
    gate = Gate(client, reentry="counted")
    for code in (gate.claim()["code"], gate.sell().secret):
        data(gate.scan(code))
        left = data(gate.scan(code, direction="out"))
        data(gate.undo(left["admissionId"]))
        assert read_error(gate.scan(code)) == (409, "ALREADY_ADMITTED")
    assert_books_agree()


def test_next_entry_becomes_the_first_one(client: Client) -> None:
    gate = Gate(client, reentry="free")
    for code in (gate.claim()["code"], gate.sell().secret):
        first, _second, third = (data(gate.scan(code)) for _ in range(3))
        data(gate.undo(first["admissionId"]))
        data(gate.undo(third["admissionId"]))
        assert_books_agree()
    total = stats(gate)["total"]
    assert (total["admitted"], total["entries"], total["reentries"]) == (2, 2, 0)


def test_device_undoes_its_own_scans_for_ten_minutes(client: Client) -> None:
    gate = Gate(client)
    phone = pair_device(gate, client)
    scanned = [data(gate.scan(gate.sell().secret, by=phone)) for _ in range(2)]
    assert scanned[0]["by"] == "Phone 1"
    data(gate.undo(scanned[0]["admissionId"], by=phone))
    execute_sql("UPDATE admission SET recorded_at = now() - interval '11 minutes'")
    assert read_error(gate.undo(scanned[1]["admissionId"], by=phone)) == (409, "UNDO_TOO_LATE")
    data(gate.undo(scanned[1]["admissionId"]))


def test_undo_of_another_event_is_not_found(client: Client) -> None:
    gate, foreign = Gate(client), Gate(client)
    scanned = data(gate.scan(gate.sell().secret))
    assert read_error(foreign.undo(scanned["admissionId"])) == (404, "NOT_FOUND")
    assert read_error(gate.undo(scanned["admissionId"], by=foreign.owner)) == (404, "NOT_FOUND")


def test_log_lists_scans_and_undos(client: Client) -> None:
    gate = Gate(client)
    north = data(gate.scan(gate.sell().secret, gate="North"))
    data(gate.scan(gate.claim()["code"], gate="South"))
    data(gate.undo(north["admissionId"]))
    rows = data(gate.owner.get(gate.path))["admissions"]
    assert len(rows) == 2
    (row,) = data(gate.owner.get(f"{gate.path}?gate=North"))["admissions"]
    assert (row["id"], row["undoReason"], row["ticketType"]) == (north["admissionId"], "wrong ticket", "Weekend pass")
    assert data(gate.owner.get(f"{gate.path}?conflict=true"))["admissions"] == []
    assert read_error(Gate(client).owner.get(gate.path)) == (404, "NOT_FOUND")


def test_search_finds_slots_and_tickets_without_accents(client: Client) -> None:
    gate = Gate(client)
    gate.claim("Zoë Müller")
    ticket = gate.sell(name="Zoe Muller")
    gate.sell(name="Zoe Muller", status="cancelled")
    data(gate.scan(ticket.secret))
    places = data(gate.owner.get(f"{gate.path}/places?q=mull+zoe"))["places"]
    assert sorted((place["kind"], place["status"]) for place in places) == [
        ("allocation", "claimed"),
        ("ticket", "admitted"),
    ]
    assert read_error(Gate(client).owner.get(f"{gate.path}/places?q=zoe")) == (404, "NOT_FOUND")


def test_tickets_are_found_by_the_whole_number_of_their_order(client: Client) -> None:
    gate = Gate(client)
    for name in ("Anna", "Ben", "Carla"):
        gate.sell(name=name)
    execute_sql("UPDATE ticket SET order_number = 'B9-XTR' WHERE name <> 'Carla'")
    for q, found in ((" b9-xtr ", ["Anna", "Ben"]), ("b9-x", []), ("carla", ["Carla"])):
        places = data(gate.owner.get(f"{gate.path}/places", query_string={"q": q}))["places"]
        assert [place["name"] for place in places] == found, q


def test_stats_are_by_type_gate_and_quarter(client: Client) -> None:
    gate = Gate(client, reentry="counted")
    secrets = [gate.sell().secret for _ in range(3)]
    gate.claim()
    data(gate.scan(secrets[0], gate="North"))
    data(gate.scan(secrets[0], gate="North", direction="out"))
    data(gate.scan(secrets[0], gate="South"))
    data(gate.scan(secrets[1]))
    figures = stats(gate)
    peak = figures["total"].pop("peak")
    assert figures["total"] == {
        "sold": 3,
        "expected": 4,
        "admitted": 2,
        "entries": 3,
        "reentries": 1,
        "exits": 1,
        "inside": 2,
    }
    assert peak["count"] == 2 and peak["at"]
    assert [row["name"] for row in figures["ticketTypes"]] == ["Weekend pass"]
    assert [(row["gate"], row["admitted"], row["entries"], row["exits"]) for row in figures["gates"]] == [
        (None, 1, 1, 0),
        ("North", 1, 1, 1),
        ("South", 0, 1, 0),
    ]
    assert sum(row["entries"] for row in figures["quarters"]) == 3
    assert sum(sum(row["byType"].values()) for row in figures["quarters"]) == 3
    assert_books_agree()


def test_stats_have_no_people_inside_unless_exits_are_counted(client: Client) -> None:
    total = stats(Gate(client))["total"]
    assert (total["inside"], total["peak"], total["admitted"]) == (None, None, 0)


def test_event_and_types_take_the_rules_of_the_gate(client: Client) -> None:
    gate = Gate(client)
    event = data(gate.owner.get(f"/api/events/{gate.event_id}"))
    (ticket_type,) = event["ticketTypes"]
    assert (event["reentry"], ticket_type["validFrom"], ticket_type["validUntil"]) == ("none", None, None)
    day = {"validFrom": "2027-01-02T00:00:00Z", "validUntil": "2027-01-03T00:00:00Z"}
    patch = {"reentry": "free", "ticketTypes": [{**ticket_type, **day, "phases": []}]}
    path = f"/api/events/{gate.event_id}"
    changed = data(gate.owner.patch(path, patch))
    assert changed["reentry"] == "free" and changed["ticketTypes"][0]["validUntil"] == "2027-01-03T00:00:00.000Z"
    crossed = {**ticket_type, "validFrom": day["validUntil"], "validUntil": day["validFrom"]}
    assert gate.owner.patch(path, {"ticketTypes": [crossed]}).status_code == 422
    assert gate.owner.patch(path, {"reentry": "always"}).status_code == 422
    assert read_error(gate.scan(gate.sell().secret)) == (409, "WRONG_DAY")
