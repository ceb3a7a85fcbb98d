"""Batches of scans that gates made without a network: nothing is lost, doubled or silently accepted."""

from datetime import UTC, datetime, timedelta
from itertools import count, permutations
from typing import Any

import pytest
from sqlalchemy import text

from app.core.db import db
from app.gate import batch
from tests.factories.events import create_organiser_client
from tests.factories.gate import Gate
from tests.http import Client, data, read_error
from tests.races import run_concurrently

_numbers = count(1)


@pytest.fixture
def gate(client: Client) -> Gate:
    return Gate(client)


def offline_scan(code: str, minutes_ago: float = 5, **fields: Any) -> dict[str, Any]:
    occurred_at = (datetime.now(UTC) - timedelta(minutes=minutes_ago)).isoformat(timespec="milliseconds")
    return {"code": code, "nonce": f"offline-{next(_numbers)}", "occurredAt": occurred_at, **fields}


def send(gate: Gate, *scans: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = data(gate.owner.post(f"{gate.path}/batch", {"admissions": list(scans)}))["results"]
    return results


def list_conflicts(gate: Gate) -> list[dict[str, Any]]:
    conflicts: list[dict[str, Any]] = data(gate.owner.get(f"{gate.path}/conflicts"))["conflicts"]
    return conflicts


def list_statuses(results: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(result["status"], result["code"]) for result in results]


def get_admitted_at(table: str, id: str) -> datetime | None:
    moment: datetime | None = db.session.scalar(text(f"SELECT admitted_at FROM {table} WHERE id = :id"), {"id": id})
    return moment


def test_scans_are_admitted_with_their_own_times(gate: Gate) -> None:
    slot, ticket = gate.claim(), gate.sell()
    first, second = offline_scan(slot["code"], 7, gate="North"), offline_scan(ticket.secret, 3)
    results = send(gate, first, second)
    assert list_statuses(results) == [("admitted", None), ("admitted", None)]
    assert [result["nonce"] for result in results] == [first["nonce"], second["nonce"]]
    admitted_at = get_admitted_at("allocation_slot", slot["slotId"])
    assert admitted_at is not None and admitted_at.isoformat(timespec="milliseconds") == first["occurredAt"]
    assert read_error(gate.scan(ticket.secret))[1] == "ALREADY_ADMITTED"
    assert list_conflicts(gate) == []


def test_the_same_batch_again_changes_nothing(gate: Gate) -> None:
    slot, ticket = gate.claim(), gate.sell()
    data(gate.scan(ticket.secret))
    batch = [offline_scan(slot["code"]), offline_scan(ticket.secret), offline_scan("unknown")]
    first, again = send(gate, *batch), send(gate, *batch)
    assert list_statuses(first) == [
        ("admitted", None),
        ("conflict", "ALREADY_ADMITTED"),
        ("conflict", "TICKET_NOT_FOUND"),
    ]
    assert [result["status"] for result in again] == ["repeated"] * 3
    assert [result["admissionId"] for result in again] == [result["admissionId"] for result in first]
    assert len(list_conflicts(gate)) == 2


def test_a_scan_that_arrived_online_before_is_repeated(gate: Gate) -> None:
    slot = gate.claim()
    scan = offline_scan(slot["code"])
    online = data(gate.scan(slot["code"], nonce=scan["nonce"]))
    (result,) = send(gate, scan)
    assert (result["status"], result["admissionId"]) == ("repeated", online["admissionId"])


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_arrival_does_not_matter(gate: Gate, order: tuple[int, ...]) -> None:
    ticket = gate.sell()
    scans = [offline_scan(ticket.secret, minutes, gate=f"G{minutes}") for minutes in (9, 6, 3)]
    for number in order:
        send(gate, scans[number])
    conflicts = list_conflicts(gate)
    assert [[entry["gate"] for entry in conflict["entries"]] for conflict in conflicts] == [["G9", "G6", "G3"]] * 2
    admitted_at = get_admitted_at("ticket", ticket.id)
    assert admitted_at is not None and admitted_at.isoformat(timespec="milliseconds") == scans[0]["occurredAt"]


def test_two_gates_admit_the_same_party(gate: Gate) -> None:
    code, *others = gate.claim_party(3)
    north, south = offline_scan(code, 9, count=2), offline_scan(others[0], 5, count=3)
    assert list_statuses(send(gate, north)) == [("admitted", None)]
    assert list_statuses(send(gate, south)) == [("conflict", "PARTY_TOO_SMALL")]
    statuses = db.session.scalars(text("SELECT status FROM allocation_slot WHERE party_size = 3")).all()
    assert statuses == ["admitted"] * 3
    assert len(list_conflicts(gate)) == 2, "five people came on three places"
    assert [result["status"] for result in send(gate, north, south)] == ["repeated", "repeated"]
    assert len(list_conflicts(gate)) == 2


def test_who_entered_on_a_revoked_ticket_is_a_conflict(gate: Gate) -> None:
    slot = gate.claim()
    data(gate.block.revoke(slot["slotId"]))
    assert list_statuses(send(gate, offline_scan(slot["code"]))) == [("conflict", "SLOT_REVOKED")]
    (conflict,) = list_conflicts(gate)
    assert (conflict["reason"], conflict["placeId"], conflict["name"]) == (
        "SLOT_REVOKED",
        slot["slotId"],
        "Frieda Amupolo",
    )
    assert len(conflict["entries"]) == 1


def test_an_unknown_code_is_kept(gate: Gate) -> None:
    send(gate, offline_scan("who-knows", gate="North"))
    (conflict,) = list_conflicts(gate)
    assert (conflict["kind"], conflict["code"], conflict["placeId"]) == ("unknown", "who-knows", None)
    assert conflict["entries"][0]["gate"] == "North"


def test_a_bad_scan_does_not_stop_the_others(gate: Gate) -> None:
    slot = gate.claim()
    results = send(
        gate,
        {"code": slot["code"], "nonce": "no-time"},
        17,
        offline_scan(slot["code"], minutes_ago=-60),
        offline_scan(slot["code"], minutes_ago=80 * 60),
        offline_scan(slot["code"]),
    )
    assert [result["status"] for result in results] == ["refused"] * 4 + ["admitted"]
    assert results[0]["nonce"] == "no-time"
    assert results[0]["data"]["errors"][0]["path"] == "occurredAt"


def test_a_batch_has_a_size(gate: Gate) -> None:
    for admissions in ([], [{}] * 501):
        assert read_error(gate.owner.post(f"{gate.path}/batch", {"admissions": admissions}))[0] == 422


def test_undoing_an_entry_settles_a_conflict(gate: Gate) -> None:
    ticket = gate.sell()
    first = data(gate.scan(ticket.secret))
    (second,) = send(gate, offline_scan(ticket.secret, 2))
    data(gate.undo(second["admissionId"], reason="the same person, scanned twice"))
    assert list_conflicts(gate) == []
    assert read_error(gate.scan(ticket.secret))[1] == "ALREADY_ADMITTED"
    (third,) = send(gate, offline_scan(ticket.secret, 1))
    data(gate.undo(first["admissionId"], reason="a copy of the ticket"))
    assert list_conflicts(gate) == [], "the entry that is left is the one that counts"
    assert read_error(gate.scan(ticket.secret))[1] == "ALREADY_ADMITTED"
    assert third["status"] == "conflict"


def test_other_organisers_send_nothing(gate: Gate, client: Client) -> None:
    stranger = create_organiser_client(client)
    body = {"admissions": [offline_scan(gate.claim()["code"])]}
    assert read_error(stranger.post(f"{gate.path}/batch", body)) == (404, "NOT_FOUND")
    assert read_error(stranger.get(f"{gate.path}/conflicts")) == (404, "NOT_FOUND")


def test_batches_of_many_gates_at_once_count_every_scan(gate: Gate) -> None:
    tickets = [gate.sell() for _ in range(4)]
    batches = [[offline_scan(ticket.secret, number) for ticket in tickets] for number in range(1, 9)]
    sent = [*batches, *batches]
    results = run_concurrently(len(sent), lambda number: send(gate, *sent[number]))
    admitted = {result["nonce"] for batch in results for result in batch if result["status"] == "admitted"}
    assert len(admitted) == len(tickets)
    assert all(result["admissionId"] for batch in results for result in batch)
    assert len(list_conflicts(gate)) == min(20, 7 * len(tickets))
    rows = db.session.scalar(text("SELECT count(*) FROM admission WHERE event_id = :id"), {"id": gate.event_id})
    assert rows == 8 * len(tickets)


def test_a_nonce_of_another_ticket_is_refused(gate: Gate) -> None:
    first, second = gate.sell(), gate.sell()
    scan = offline_scan(first.secret)
    assert list_statuses(send(gate, scan)) == [("admitted", None)]
    assert list_statuses(send(gate, {**scan, "code": second.secret})) == [("refused", "NONCE_REUSED")]
    assert list_statuses(send(gate, {**scan, "code": "unknown"})) == [("refused", "NONCE_REUSED")]
    assert data(gate.scan(second.secret, nonce="its own"))["placeId"] == second.id


def test_exits_and_entries_arrive_in_any_order(client: Client) -> None:
    for order in permutations(range(3)):
        gate = Gate(client, reentry="counted")
        ticket = gate.sell()
        scans = [
            offline_scan(ticket.secret, minutes, direction=direction)
            for minutes, direction in ((30, "in"), (20, "out"), (10, "in"))
        ]
        for number in order:
            send(gate, scans[number])
        left_at = db.session.scalar(text("SELECT left_at FROM ticket WHERE id = :id"), {"id": ticket.id})
        assert left_at is None, order
        send(gate, offline_scan(ticket.secret, 5, direction="out"))
        assert data(gate.scan(ticket.secret))["reentry"], order


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_two_entries_before_an_exit_are_a_conflict_in_any_order(client: Client, order: tuple[int, ...]) -> None:
    gate = Gate(client, reentry="counted")
    ticket = gate.sell()
    scans = [
        offline_scan(ticket.secret, minutes, direction=direction)
        for minutes, direction in ((30, "in"), (20, "in"), (10, "out"))
    ]
    for number in order:
        send(gate, scans[number])
    assert "ALREADY_ADMITTED" in {conflict["reason"] for conflict in list_conflicts(gate)}
    assert data(gate.scan(ticket.secret))["reentry"]


@pytest.mark.parametrize("kind", ["slot", "ticket"])
def test_nobody_leaves_before_they_entered(client: Client, kind: str) -> None:
    gate = Gate(client, reentry="counted")
    code = gate.claim()["code"] if kind == "slot" else gate.sell().secret
    data(gate.scan(code))
    earlier = offline_scan(code or "", 30)["occurredAt"]
    assert read_error(gate.scan(code, direction="out", occurredAt=earlier)) == (409, "NOT_INSIDE")
    data(gate.scan(code, direction="out"))
    assert read_error(gate.scan(code, occurredAt=earlier)) == (409, "ALREADY_ADMITTED")
    assert data(gate.scan(code))["reentry"]


def test_a_nonce_of_a_conflict_is_refused_when_nothing_else_refuses_it(client: Client) -> None:
    gate = Gate(client, reentry="counted")
    ticket = gate.sell()
    scan = offline_scan(ticket.secret, direction="out")
    assert list_statuses(send(gate, scan)) == [("conflict", "NOT_INSIDE")]
    data(gate.scan(ticket.secret))
    answer = gate.scan(ticket.secret, nonce=scan["nonce"], direction="out")
    assert read_error(answer) == (409, "NONCE_REUSED")
    assert data(gate.scan(ticket.secret, direction="out"))["direction"] == "out"


def test_a_scan_changes_only_the_places_that_it_admitted(client: Client) -> None:
    gate = Gate(client, reentry="counted")
    code, *_ = gate.claim_party(2)
    first = data(gate.scan(code, count=1))
    before = get_admitted_at("allocation_slot", first["placeId"])
    assert list_statuses(send(gate, offline_scan(code, 30, count=1))) == [("admitted", None)]
    assert get_admitted_at("allocation_slot", first["placeId"]) == before


def test_a_list_that_is_loaded_during_a_batch_has_the_earliest_entry_afterwards(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the worker dies between the entry and the correction of its place, and the batch is sent again."""
    gate = Gate(client, reentry="counted")
    ticket = gate.sell()
    scans = [
        offline_scan(ticket.secret, minutes, direction=direction)
        for minutes, direction in ((20, "in"), (10, "out"), (30, "in"))
    ]
    send(gate, *scans[:2])
    with monkeypatch.context() as interrupted:
        interrupted.setattr(batch, "refresh_places", lambda *_: None)
        send(gate, scans[2])
    position = data(gate.owner.get(f"{gate.path}/snapshot"))["position"]
    assert [result["status"] for result in send(gate, scans[2])] == ["repeated"]
    admitted_at = get_admitted_at("ticket", ticket.id)
    assert admitted_at is not None and admitted_at.isoformat(timespec="milliseconds") == scans[2]["occurredAt"]
    (place,) = data(gate.owner.get(f"{gate.path}/snapshot", query_string={"since": position}))["places"]
    assert place[7] == round(admitted_at.timestamp()) and place[11] is not None


def test_a_party_enters_before_anybody_enters_again(client: Client) -> None:
    gate = Gate(client, reentry="free")
    codes = gate.claim_party(4)
    assert data(gate.scan(codes[0], count=2))["remaining"] == 2
    assert data(gate.scan(codes[0], count=2))["remaining"] == 0


def test_an_entry_is_not_undone_before_its_exit(client: Client) -> None:
    gate = Gate(client, reentry="counted")
    ticket = gate.sell()
    entry = data(gate.scan(ticket.secret))
    left = data(gate.scan(ticket.secret, direction="out"))
    assert read_error(gate.undo(entry["admissionId"])) == (409, "UNDO_TOO_LATE")
    data(gate.undo(left["admissionId"]))
    data(gate.undo(entry["admissionId"]))


def test_unknown_codes_are_undone_once(gate: Gate) -> None:
    (result,) = send(gate, offline_scan("who-knows"))
    answers = run_concurrently(6, lambda _: gate.undo(result["admissionId"]).status_code)
    assert set(answers) == {200} and list_conflicts(gate) == []
