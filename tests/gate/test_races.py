"""Scans at the same time, and what happens without the guard of each race."""

from collections import Counter
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.gate import scan as scans
from app.gate.sql import scan_sql
from tests.allocations.law import assert_books_agree
from tests.allocations.racing import law_holds, own
from tests.factories.gate import Gate
from tests.factories.payouts import execute_sql
from tests.http import Client, data, read_error
from tests.races import repeat_while_busy, run_concurrently
from tests.unguarded import without_rules

MANY = 64


def scan_concurrently(app: Flask, gate: Gate, code: str | None, *, nonce: str = "", **body: Any) -> list[Any]:
    return run_concurrently(
        MANY,
        lambda number: repeat_while_busy(
            lambda: gate.scan(code, by=own(app, gate.owner), nonce=nonce or f"s{number}", **body)
        ),
    )


@pytest.mark.parametrize("kind", ["slot", "ticket"])
def test_concurrent_scans_admit_once(app: Flask, client: Client, kind: str) -> None:
    gate = Gate(client)
    code = gate.claim()["code"] if kind == "slot" else gate.sell().secret
    answers = scan_concurrently(app, gate, code)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: MANY - 1}
    assert {read_error(answer)[1] for answer in answers if answer.status_code == 409} == {"ALREADY_ADMITTED"}
    assert gate.count_entries() == 1
    assert_books_agree()


@pytest.mark.control
def test_ticket_is_admitted_repeatedly_without_the_condition(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(client)
    code = gate.sell().secret
    careless = scan_sql("code", "in").text.replace("(t.admitted_at IS NULL OR", "(true OR")
    monkeypatch.setattr(scans, "scan_sql", lambda key, direction: text(careless))
    answers = scan_concurrently(app, gate, code)
    assert Counter(answer.status_code for answer in answers)[200] > 1


@pytest.mark.parametrize("reentry", ["none", "daily", "free"])
def test_concurrent_scans_with_one_nonce_get_one_answer(app: Flask, client: Client, reentry: str) -> None:
    gate = Gate(client, reentry=reentry)
    answers = [data(answer) for answer in scan_concurrently(app, gate, gate.sell().secret, nonce="once")]
    assert all(answer == answers[0] for answer in answers)
    assert gate.count_entries() == 1
    assert_books_agree()


@pytest.mark.control
def test_one_nonce_enters_twice_without_the_index(app: Flask, client: Client) -> None:
    gate = Gate(client, reentry="free")
    secret = gate.sell().secret
    with without_rules("uq_admission_nonce"):
        for _ in range(2):
            data(gate.scan(secret, nonce="once"))
        assert gate.count_entries() == 2


def test_concurrent_scans_of_a_party_admit_each_place_once(app: Flask, client: Client) -> None:
    gate = Gate(client)
    codes = gate.claim_party(6)
    answers = run_concurrently(
        16,
        lambda number: repeat_while_busy(
            lambda: gate.scan(codes[number % 6], by=own(app, gate.owner), nonce=f"p{number}", count=2)
        ),
    )
    assert Counter(answer.status_code for answer in answers)[200] == 3
    assert_books_agree()


@pytest.mark.parametrize("kind", ["slot", "ticket"])
def test_scans_and_undos_leave_log_and_place_alike(app: Flask, client: Client, kind: str) -> None:
    gate = Gate(client)
    code = gate.claim()["code"] if kind == "slot" else gate.sell().secret
    first = data(gate.scan(code))["admissionId"]

    def act(number: int) -> int:
        mine = own(app, gate.owner)
        if number % 2:
            return repeat_while_busy(lambda: gate.undo(first, by=mine)).status_code
        return repeat_while_busy(lambda: gate.scan(code, by=mine, nonce=f"u{number}")).status_code

    found = Counter(run_concurrently(16, act))
    assert set(found) <= {200, 409} and found[200] in (8, 9)
    assert_books_agree()


def test_revocation_and_scan_exclude_each_other(app: Flask, client: Client) -> None:
    for turn in range(8):
        gate = Gate(client, total=20)
        slot = gate.claim()

        def act(number: int, gate: Gate = gate, slot: dict[str, Any] = slot) -> int:
            mine = own(app, gate.owner)
            if number:
                return repeat_while_busy(
                    lambda: mine.post(f"{gate.block.path}/slots/{slot['slotId']}/revoke", {})
                ).status_code
            return repeat_while_busy(lambda: gate.scan(slot["code"], by=mine)).status_code

        assert sorted(run_concurrently(2, act)) == [200, 409], turn
    assert_books_agree()


def test_cancellation_and_scan_leave_a_clear_state(app: Flask, client: Client) -> None:
    """An import may cancel a ticket before or after its scan, but a scan that begins after it is refused."""
    gate = Gate(client)
    tickets = [gate.sell() for _ in range(8)]

    def act(number: int) -> Any:
        mine = own(app, gate.owner)
        ticket = tickets[number // 2]
        if number % 2:
            with app.app_context():
                execute_sql("UPDATE ticket SET status = 'cancelled' WHERE id = :id", id=ticket.id)
            return 200
        return repeat_while_busy(lambda: gate.scan(ticket.secret, by=mine)).status_code

    assert set(run_concurrently(16, act)) <= {200, 409}
    assert {read_error(gate.scan(ticket.secret))[1] for ticket in tickets} == {"TICKET_CANCELLED"}
    assert law_holds()
