"""Refused scans: logged with their reason, without whole codes, and once for the same scan again."""

from typing import Any

import pytest
from flask import Flask

from app.gate.refused_scans import mask_code
from tests.allocations.racing import own
from tests.counting import record_statements
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.gate import Gate
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.gate.test_batch import offline_scan, send
from tests.gate.test_scans import TOMORROW
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.teams.test_devices import add_device, pair


@pytest.fixture
def gate(client: Client) -> Gate:
    return Gate(client)


def list_refused(gate: Gate, /, **filters: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data(gate.owner.get(f"{gate.path}/refused", query_string=filters))["refused"]
    return rows


def test_each_reason_is_logged_with_gate_device_ticket_and_name(gate: Gate) -> None:
    slot, early, cancelled = gate.claim(), gate.sell(valid_from=TOMORROW), gate.sell(status="cancelled")
    elsewhere = gate.sell(event_id=create_published_event(gate.owner)["id"], secret="ELSEWHERE-1")
    data(gate.scan(slot["code"], gate="North"))
    assert list_refused(gate) == [], "an admitted scan is not in it"
    expected = {
        "ALREADY_ADMITTED": (slot["code"], "Frieda Amupolo", None),
        "WRONG_DAY": (early.secret, "Jonas Nghidinwa", None),
        "TICKET_CANCELLED": (cancelled.secret, "Jonas Nghidinwa", None),
        "WRONG_EVENT": (elsewhere.secret, None, "ELSE…"),
        "TICKET_NOT_FOUND": ("UNKNOWN-77", None, "UNKN…"),
    }
    for reason, (code, name, code_start) in expected.items():
        assert read_error(gate.scan(code, gate="Gate 2"))[1] == reason
        (row,) = list_refused(gate, reason=reason)
        assert (row["name"], row["codeStart"], row["gate"]) == (name, code_start, "Gate 2")
        assert (row["by"], row["times"], row["ticketType"] is None) == ("Frieda Amupolo", 1, name is None)
    assert [row["reason"] for row in list_refused(gate)] == list(expected)[::-1], "the latest first"
    (row,) = list_refused(gate, q="frieda", gate="Gate 2")
    assert (row["placeId"], row["kind"], row["direction"]) == (slot["slotId"], "allocation", "in")
    assert list_refused(gate, gate="North") == [] and list_refused(gate, by="Nobody") == []
    assert read_error(gate.scan(placeId=slot["slotId"]))[1] == "ALREADY_ADMITTED"
    assert len(list_refused(gate, placeId=slot["slotId"])) == 2
    assert gate.count_entries() == 1


def test_same_scan_again_is_counted_and_adds_no_row(app: Flask, gate: Gate) -> None:
    answers = run_concurrently(16, lambda number: gate.scan("UNKNOWN", by=own(app, gate.owner), nonce=f"s{number}"))
    assert {answer.status_code for answer in answers} == {404}
    rows = list_refused(gate)
    assert sum(row["times"] for row in rows) == 16 and len(rows) <= 2, "two if ten seconds ended between them"


def test_unknown_codes_that_begin_alike_are_one_row_in_ten_seconds(client: Client, gate: Gate) -> None:
    ticket, door = gate.sell(), pair(client, add_device(gate.owner, gate.event_id)["pairingCode"])
    for number in range(6):
        gate.scan(f"GUESS-{number}")
        gate.scan(f"GUESS-{number}", by=door)
        gate.scan(f"{number}{number}{number}-OTHER")
    data(gate.scan(ticket.secret))
    gate.scan(ticket.secret)
    rows = list_refused(gate)
    unknown = [row for row in rows if row["codeStart"] == "GUE…"]
    assert len([row for row in rows if row["placeId"] is None]) == len(unknown) + 6
    assert sum(row["times"] for row in unknown) == 12 and len(unknown) in (2, 3, 4), "more if ten seconds ended"
    assert [row["times"] for row in rows if row["placeId"]] == [1]


def test_refusal_is_answered_although_its_log_fails(gate: Gate) -> None:
    ticket = gate.sell()
    execute_sql("ALTER TABLE refused_scan RENAME TO not_there")
    try:
        assert read_error(gate.scan("UNKNOWN")) == (404, "TICKET_NOT_FOUND")
        too_old = offline_scan("UNKNOWN", minutes_ago=5 * 24 * 60)
        results = send(gate, too_old, offline_scan(ticket.secret))
        assert [result["status"] for result in results] == ["refused", "admitted"]
    finally:
        execute_sql("ALTER TABLE not_there RENAME TO refused_scan")


def test_known_codes_are_not_kept_and_unknown_ones_only_in_part(gate: Gate) -> None:
    ticket = gate.sell(secret="SECRET-OF-TICKET")
    for code in (ticket.secret, ticket.secret, "GUESSED-CODE-99"):
        gate.scan(code)
    assert [mask_code(code) for code in ("7K2Q9XRD4M", "123", "1", " ", None)] == ["7K2Q…", "1…", "…", None, None]
    kept = fetch_scalar("SELECT string_agg(r::text, ' ') FROM refused_scan r")
    assert "GUES…" in kept and "GUESSED" not in kept and "SECRET-OF" not in kept


def test_batch_logs_what_is_refused_and_not_its_conflicts(gate: Gate) -> None:
    ticket = gate.sell()
    data(gate.scan(ticket.secret))
    too_old = offline_scan(gate.sell().secret, minutes_ago=5 * 24 * 60, gate="West")
    unknown = offline_scan("UNKNOWN-1", minutes_ago=5 * 24 * 60)
    batch = (offline_scan(ticket.secret), too_old, {"nonce": "no code"}, unknown, unknown)
    for status in ("conflict", "repeated"):
        results = send(gate, *batch)
        assert [result["status"] for result in results] == [status, *["refused"] * 4]
    rows = {row["codeStart"]: row for row in list_refused(gate)}
    assert len(rows) == 2 and all(row["times"] == 1 for row in rows.values()), "sent twice and logged once"
    row = rows[None]
    assert (row["reason"], row["name"], row["gate"]) == ("VALIDATION_FAILED", "Jonas Nghidinwa", "West")
    assert rows["UNKN…"]["reason"] == "VALIDATION_FAILED"


def test_batch_logs_its_refusals_by_one_statement(gate: Gate) -> None:
    too_old = [offline_scan(f"UNKNOWN-{number}", minutes_ago=5 * 24 * 60) for number in range(200)]
    with record_statements() as statements:
        send(gate, *too_old)
    assert sum("INSERT INTO refused_scan" in statement for statement in statements) == 1
    assert fetch_scalar("SELECT count(*) FROM refused_scan") == 200


def test_others_see_and_add_nothing(client: Client, gate: Gate) -> None:
    other, _ = create_organiser_client(client), gate.scan("UNKNOWN")
    assert read_error(other.get(f"{gate.path}/refused")) == (404, "NOT_FOUND")
    assert read_error(gate.scan("UNKNOWN-2", by=other)) == (404, "NOT_FOUND")
    assert [row["codeStart"] for row in list_refused(gate)] == ["UNK…"]
