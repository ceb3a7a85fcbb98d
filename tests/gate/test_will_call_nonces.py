"""The nonce of an admission by the will-call list is in the log: a repetition is recognised whichever way it comes."""

from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from tests.allocations.law import assert_books_agree
from tests.allocations.racing import own
from tests.factories.gate import Gate
from tests.http import Client, data, read_error
from tests.races import repeat_while_busy, run_concurrently


@pytest.fixture
def gate(client: Client) -> Gate:
    return Gate(client)


def admit(made: Gate, slot: dict[str, Any], nonce: str, *, by: Client | None = None, **fields: Any) -> Any:
    path = f"{made.block.events}/will-call/{slot['slotId']}/admit"
    return (by or made.owner).post(path, {"nonce": nonce, **fields})


def count_logged(gate: Gate) -> int:
    statement = text("SELECT count(*) FROM admission WHERE event_id = :id AND direction = 'in'")
    return int(db.session.scalar(statement, {"id": gate.event_id}) or 0)


def test_a_scan_with_the_nonce_of_the_will_call_list_is_its_repetition(gate: Gate) -> None:
    slot = gate.claim()
    first = data(admit(gate, slot, "w1", gate="North"))
    scanned = data(gate.scan(slot["code"], nonce="w1"))
    assert (scanned["placeId"], scanned["gate"], scanned["admittedAt"]) == (
        slot["slotId"],
        "North",
        first["admittedAt"],
    )
    scan = {"code": slot["code"], "nonce": "w1", "occurredAt": datetime.now(UTC).isoformat()}
    (result,) = data(gate.owner.post(f"{gate.path}/batch", {"admissions": [scan]}))["results"]
    assert (result["status"], result["admissionId"]) == ("repeated", scanned["admissionId"])
    assert read_error(gate.scan(slot["code"], nonce="another")) == (409, "ALREADY_ADMITTED")
    assert count_logged(gate) == 1


def test_the_will_call_list_repeats_a_scan_with_the_same_nonce(gate: Gate) -> None:
    slot = gate.claim()
    scanned = data(gate.scan(slot["code"], nonce="s1", gate="North"))
    again = data(admit(gate, slot, "s1"))
    assert (again["admittedAt"], again["gate"], again["slotIds"]) == (
        scanned["admittedAt"],
        "North",
        [slot["slotId"]],
    )
    assert count_logged(gate) == 1


def test_a_lost_response_is_repeated_after_an_undo_and_admits_nobody(gate: Gate) -> None:
    slot = gate.claim()
    first = data(admit(gate, slot, "w1", gate="North"))
    (row,) = data(gate.owner.get(gate.path))["admissions"]
    data(gate.undo(row["scanId"]))
    again = data(admit(gate, slot, "w1"))
    assert {**again, "version": 0} == {**first, "version": 0}
    assert data(admit(gate, slot, "w1", count=1))["admittedAt"] == first["admittedAt"]
    assert count_logged(gate) == 1, "nobody was admitted again"
    second = data(admit(gate, slot, "w2", gate="South"))
    assert data(admit(gate, slot, "w1"))["gate"] == "North", "the first response, not the last one"
    assert data(admit(gate, slot, "w2"))["admittedAt"] == second["admittedAt"]
    assert_books_agree()


def test_a_party_is_repeated_by_its_nonce(gate: Gate) -> None:
    gate.claim_party(3)
    statement = text("SELECT id FROM allocation_slot WHERE party_size = 3 ORDER BY id")
    slots = [{"slotId": id} for id in db.session.scalars(statement)]
    first = data(admit(gate, slots[0], "p1", count=2))
    data(gate.undo(data(gate.owner.get(gate.path))["admissions"][0]["scanId"]))
    again = data(admit(gate, slots[2], "p1", count=2))
    assert {**again, "version": 0} == {**first, "version": 0}
    data(admit(gate, slots[0], "p2", count=2))
    assert data(admit(gate, slots[0], "p1", count=2))["slotIds"] == first["slotIds"]
    assert read_error(admit(gate, slots[0], "p3", count=2)) == (409, "PARTY_TOO_SMALL")
    assert_books_agree()


@pytest.mark.parametrize("key", [False, True], ids=["plain", "idempotency key"])
@pytest.mark.parametrize("count", [None, 1])
def test_a_nonce_of_another_guest_admits_as_before(gate: Gate, key: bool, count: int | None) -> None:
    """A scanner that reuses nonces: the guest is admitted, and the log has them without the nonce."""
    first, second = gate.claim(), gate.claim("Jonas Haufiku")
    data(admit(gate, first, "same"))
    path = f"{gate.block.events}/will-call/{second['slotId']}/admit"
    headers = {"Idempotency-Key": "key-of-the-second"} if key else {}
    body = {"nonce": "same", "gate": "South"} | ({"count": count} if count else {})
    for _ in range(2):
        answer = data(gate.owner.post(path, body, headers=headers))
        assert (answer["slotId"], answer["gate"]) == (second["slotId"], "South")
    assert count_logged(gate) == 2
    assert_books_agree()


def test_the_same_nonce_by_both_ways_at_once_enters_once(app: Flask, client: Client) -> None:
    for reentry in ("none", "free"):
        gate = Gate(client, reentry=reentry)
        slot = gate.claim()

        def act(number: int, gate: Gate = gate, slot: dict[str, Any] = slot) -> int:
            mine = own(app, gate.owner)
            if number % 2:
                return int(repeat_while_busy(lambda: admit(gate, slot, "both", by=mine)).status_code)
            return int(repeat_while_busy(lambda: gate.scan(slot["code"], nonce="both", by=mine)).status_code)

        assert set(run_concurrently(16, act)) == {200}
        assert count_logged(gate) == 1
    assert_books_agree()
