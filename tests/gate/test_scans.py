"""Scans over HTTP: what is admitted, what is refused and why."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.events.reentry import REENTRY_MODES
from tests.factories.allocations import claim_slot
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.gate import Gate
from tests.factories.payouts import execute_sql
from tests.http import Client, data, read_error

NOW = datetime.now(UTC)
YESTERDAY, TOMORROW = NOW - timedelta(days=1), NOW + timedelta(days=1)


def refusal(response: Any) -> tuple[int, str, dict[str, Any]]:
    """The status, the code and the data of a refusal."""
    body = response.get_json()
    return (*read_error(response), body["data"])


def test_slot_is_admitted_by_its_code_typed_in_any_way(client: Client) -> None:
    gate = Gate(client)
    slot = gate.claim()
    typed = f" {slot['code'][:5].lower()}-{slot['code'][5:]} "
    scanned = data(gate.scan(typed, gate="North"))
    assert len(scanned.pop("admissionId")) == 24 and scanned.pop("admittedAt").startswith("20")
    assert scanned == {
        "kind": "allocation",
        "placeId": slot["slotId"],
        "name": "Frieda Amupolo",
        "ticketType": "Weekend pass",
        "ticketTypeId": gate.block.ticket_type_id,
        "direction": "in",
        "reentry": False,
        "admitted": 1,
        "remaining": 0,
        "gate": "North",
        "by": "Frieda Amupolo",
        "training": False,
    }


def test_ticket_is_admitted_by_its_secret(client: Client) -> None:
    gate = Gate(client)
    ticket = gate.sell("QR/äß~1")
    scanned = data(gate.scan(" QR/äß~1 "))
    assert (scanned["kind"], scanned["placeId"], scanned["name"]) == ("ticket", ticket.id, "Jonas Nghidinwa")
    assert read_error(gate.scan("qr/äß~1")) == (404, "TICKET_NOT_FOUND")


def test_place_is_admitted_by_its_id(client: Client) -> None:
    gate = Gate(client)
    ticket, slot = gate.sell(), gate.claim()
    assert data(gate.scan(placeId=ticket.id))["placeId"] == ticket.id
    assert data(gate.scan(placeId=slot["slotId"]))["kind"] == "allocation"
    assert read_error(gate.scan(placeId="0" * 24)) == (404, "TICKET_NOT_FOUND")


@pytest.mark.parametrize("kind", ["slot", "ticket"])
def test_second_scan_says_when_where_and_by_whom(client: Client, kind: str) -> None:
    gate = Gate(client)
    code = gate.claim()["code"] if kind == "slot" else gate.sell().secret
    first = data(gate.scan(code, gate="North"))
    status, error, details = refusal(gate.scan(code, gate="South"))
    assert (status, error) == (409, "ALREADY_ADMITTED")
    assert details == {
        "admittedAt": first["admittedAt"],
        "gate": "North",
        "by": first["by"],
        "name": first["name"],
        "ticketType": "Weekend pass",
        "remaining": 0,
    }


@pytest.mark.parametrize("reentry", REENTRY_MODES)
def test_same_nonce_gets_the_first_answer(client: Client, reentry: str) -> None:
    gate = Gate(client, reentry=reentry)
    for code in (gate.claim()["code"], gate.sell().secret, gate.claim_party(3)[1]):
        first = data(gate.scan(code, nonce=f"once {code}", gate="North"))
        assert data(gate.scan(code, nonce=f"once {code}", gate="South")) == first
    assert gate.count_entries() == 3


def test_nonce_of_another_place_is_refused(client: Client) -> None:
    gate = Gate(client)
    codes = [gate.claim()["code"], gate.sell().secret, gate.sell().secret]
    data(gate.scan(codes[0], nonce="same"))
    assert [read_error(gate.scan(code, nonce="same")) for code in codes[1:]] == [(409, "NONCE_REUSED")] * 2
    data(gate.scan(codes[1]))


def test_party_is_admitted_by_count(client: Client) -> None:
    gate = Gate(client)
    codes = gate.claim_party(4)
    assert data(gate.scan(codes[0]))["remaining"] == 3
    first = data(gate.scan(codes[0], count=2, nonce="two"))
    assert (first["admitted"], first["remaining"]) == (2, 1)
    assert data(gate.scan(codes[0], count=2, nonce="two")) == first
    assert refusal(gate.scan(codes[1], count=2)) == (
        409,
        "PARTY_TOO_SMALL",
        {"remaining": 1, "requested": 2},
    )
    assert data(gate.scan(codes[3]))["remaining"] == 0
    assert read_error(gate.scan(codes[2], count=1)) == (409, "ALREADY_ADMITTED")


def test_ticket_is_a_party_of_one(client: Client) -> None:
    gate = Gate(client)
    secret = gate.sell().secret
    assert read_error(gate.scan(secret, count=2)) == (409, "PARTY_TOO_SMALL")
    assert data(gate.scan(secret, count=1))["admitted"] == 1


def test_refusals_name_the_reason(client: Client) -> None:
    gate = Gate(client)
    slot = gate.claim()
    (invite_code,) = gate.block.codes(1)
    data(gate.block.revoke(slot["slotId"]))
    status, error, details = refusal(gate.scan(slot["code"]))
    assert (status, error, details["name"]) == (409, "SLOT_REVOKED", "Frieda Amupolo") and details["revokedAt"]
    assert refusal(gate.scan(invite_code)) == (409, "NOT_CLAIMED", {"status": "invited"})
    for status_of_ticket in ("cancelled", "refunded"):
        ticket = gate.sell(status=status_of_ticket)
        assert refusal(gate.scan(ticket.secret))[1:] == (
            "TICKET_CANCELLED",
            {"status": status_of_ticket, "name": "Jonas Nghidinwa"},
        )
    assert read_error(gate.scan("7K2Q9XRD4M")) == (404, "TICKET_NOT_FOUND")


def test_ticket_of_another_event_of_the_organiser_is_named(client: Client) -> None:
    gate = Gate(client)
    other = create_published_event(gate.owner, name="Harvest Fair")
    ticket = gate.sell(event_id=other["id"])
    slot = Gate(client, owner=gate.owner).claim()
    assert refusal(gate.scan(ticket.secret)) == (409, "WRONG_EVENT", {"eventName": "Harvest Fair"})
    assert read_error(gate.scan(slot["code"])) == (409, "WRONG_EVENT")


def test_ticket_of_another_organiser_is_unknown(client: Client) -> None:
    gate, foreign = Gate(client), Gate(client)
    codes = [foreign.claim()["code"], foreign.sell().secret]
    assert [read_error(gate.scan(code)) for code in codes] == [(404, "TICKET_NOT_FOUND")] * 2
    assert read_error(foreign.scan(codes[0], by=gate.owner)) == (404, "NOT_FOUND")


@pytest.mark.parametrize("kind", ["slot", "ticket"])
def test_validity_of_the_type_counts(client: Client, kind: str) -> None:
    gate = Gate(client)
    code = gate.claim()["code"] if kind == "slot" else gate.sell().secret
    for valid_from, valid_until in ((TOMORROW, None), (None, YESTERDAY), (TOMORROW, TOMORROW)):
        execute_sql("UPDATE ticket_type SET valid_from = :a, valid_until = :b", a=valid_from, b=valid_until)
        status, error, details = refusal(gate.scan(code))
        assert (status, error) == (409, "WRONG_DAY")
        assert (details["validFrom"] is None, details["validUntil"] is None) == (
            valid_from is None,
            valid_until is None,
        )
    execute_sql("UPDATE ticket_type SET valid_from = :a, valid_until = :b", a=YESTERDAY, b=TOMORROW)
    data(gate.scan(code))


def test_validity_of_the_ticket_goes_before_that_of_its_type(client: Client) -> None:
    gate = Gate(client)
    execute_sql("UPDATE ticket_type SET valid_from = :a", a=TOMORROW)
    data(gate.scan(gate.sell(valid_from=YESTERDAY).secret))
    assert read_error(gate.scan(gate.sell(valid_until=TOMORROW).secret)) == (409, "WRONG_DAY")


def test_validity_is_of_the_time_of_the_scan(client: Client) -> None:
    gate = Gate(client)
    ticket = gate.sell(valid_from=YESTERDAY - timedelta(hours=1), valid_until=YESTERDAY + timedelta(hours=1))
    assert read_error(gate.scan(ticket.secret)) == (409, "WRONG_DAY")
    scanned = data(gate.scan(ticket.secret, occurredAt=YESTERDAY.isoformat()))
    assert scanned["admittedAt"].startswith(YESTERDAY.strftime("%Y-%m-%dT%H:%M"))


def test_counted_reentry_needs_a_scan_at_the_exit(client: Client) -> None:
    gate = Gate(client, reentry="counted")
    for code in (gate.claim()["code"], gate.sell().secret):
        assert read_error(gate.scan(code, direction="out")) == (409, "NOT_INSIDE")
        first = data(gate.scan(code))
        assert read_error(gate.scan(code)) == (409, "ALREADY_ADMITTED")
        left = data(gate.scan(code, direction="out"))
        assert (left["direction"], left["reentry"]) == ("out", False)
        assert read_error(gate.scan(code, direction="out")) == (409, "NOT_INSIDE")
        again = data(gate.scan(code, gate="South"))
        assert (first["reentry"], again["reentry"]) == (False, True)
        assert refusal(gate.scan(code))[2]["gate"] == "South"


def test_free_reentry_is_logged_each_time(client: Client) -> None:
    gate = Gate(client, reentry="free")
    code = gate.sell().secret
    assert [data(gate.scan(code))["reentry"] for _ in range(3)] == [False, True, True]
    assert read_error(gate.scan(code, direction="out")) == (409, "NO_REENTRY")


def test_party_leaves_and_comes_back(client: Client) -> None:
    gate = Gate(client, reentry="counted")
    codes = gate.claim_party(3)
    assert data(gate.scan(codes[0], count=3))["admitted"] == 3
    assert data(gate.scan(codes[0], count=2, direction="out"))["admitted"] == 2
    assert read_error(gate.scan(codes[0], count=2, direction="out")) == (409, "PARTY_TOO_SMALL")
    back = data(gate.scan(codes[0], count=2))
    assert (back["admitted"], back["reentry"]) == (2, True)


def test_will_call_admission_is_known_to_scans(client: Client) -> None:
    gate = Gate(client)
    slot = gate.claim()
    data(gate.block.admit(slot["slotId"], gate="Will-call", nonce="w1"))
    assert refusal(gate.scan(slot["code"]))[2]["gate"] == "Will-call"
    assert gate.count_entries() == 1


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "nonce"),
        ({"nonce": "n"}, "code"),
        ({"nonce": "n", "code": "A", "placeId": "0" * 24}, "code"),
        ({"nonce": "n", "code": "A\x00"}, "code"),
        ({"nonce": "n" * 81, "code": "A"}, "nonce"),
        ({"nonce": "n", "code": "A" * 201}, "code"),
        ({"nonce": "n", "code": "A", "count": 0}, "count"),
        ({"nonce": "n", "code": "A", "direction": "up"}, "direction"),
        ({"nonce": "n", "code": "A", "occurredAt": (NOW - timedelta(hours=73)).isoformat()}, "occurredAt"),
        ({"nonce": "n", "code": "A", "occurredAt": (NOW + timedelta(days=1)).isoformat()}, "occurredAt"),
    ],
)
def test_bad_input_is_refused(client: Client, body: dict[str, Any], path: str) -> None:
    gate = Gate(client)
    response = gate.owner.post(gate.path, body)
    assert response.status_code == 422
    assert path in {error["path"] for error in response.get_json()["data"]["errors"]}


@pytest.mark.parametrize("code", ["", "   ", "1", "x" * 200, "7K2Q9XRD4M"])
def test_any_code_gets_an_answer(client: Client, code: str) -> None:
    assert Gate(client).scan(code).status_code in (404, 422)


def test_claimed_slot_of_another_block_counts_too(client: Client) -> None:
    gate = Gate(client)
    slot = data(claim_slot(client, gate.block.open_link(), delivery="e_ticket"))
    assert data(gate.scan(placeId=slot["slotId"]))["admitted"] == 1


def test_customer_is_not_admitted_to_the_gate(client: Client) -> None:
    gate = Gate(client)
    assert read_error(gate.scan("A", by=create_organiser_client(client))) == (404, "NOT_FOUND")


def test_search_says_what_tells_guests_of_one_name_apart(client: Client) -> None:
    gate = Gate(client)
    slot = gate.claim("Anna Shilongo")
    gate.sell(name="Anna Shilongo", reference="ORDER-1234", email="anna@paper.example")
    places = data(gate.owner.get(f"{gate.path}/places", query_string={"q": "anna shilongo"}))["places"]
    details = {place["kind"]: place["details"] for place in places}
    assert details["ticket"] == ["…1234", "a•••@paper.example"]
    block = data(gate.owner.get(gate.block.path))
    name = block["name"] or block["holder"]["organisation"] or block["holder"]["name"]
    assert f"…{slot['code'][-4:]}" in details["allocation"] and (not name or name in details["allocation"])
    assert slot["code"] not in str(places)
