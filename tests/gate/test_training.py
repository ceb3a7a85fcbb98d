"""Training: a scan that says what would happen, and writes nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from app.events.reentry import REENTRY_MODES
from tests.factories.gate import Gate
from tests.factories.payouts import fetch_scalar
from tests.gate.test_batch import offline_scan, send
from tests.gate.test_scans import TOMORROW
from tests.http import Client, data, read_error

TABLES = (
    "admission",
    "admission_tally",
    "refused_scan",
    "audit_entry",
    "allocation_slot_event",
    "allocation_slot",
    "ticket",
)


@pytest.fixture
def gate(client: Client) -> Gate:
    return Gate(client)


def dump() -> list[Any]:
    return [fetch_scalar(f"SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM {table} t") for table in TABLES]


def test_what_would_happen_is_said_and_nothing_is_written(gate: Gate) -> None:
    slot, ticket, early = gate.claim(), gate.sell(), gate.sell(valid_from=TOMORROW)
    party = gate.claim_party(3)
    before = dump()
    for code in (slot["code"], ticket.secret):
        for _ in range(2):
            answer = data(gate.scan(code, training=True, nonce="the same", gate="North"))
            assert (answer["admissionId"], answer["training"], answer["admitted"]) == (None, True, 1)
    answer = data(gate.scan(party[0], training=True))
    assert (answer["admitted"], answer["remaining"]) == (1, 2)
    answer = data(gate.scan(party[0], training=True, count=2))
    assert (answer["admitted"], answer["remaining"]) == (2, 1)
    assert read_error(gate.scan(party[0], training=True, count=4)) == (409, "PARTY_TOO_SMALL")
    assert read_error(gate.scan(early.secret, training=True)) == (409, "WRONG_DAY")
    assert read_error(gate.scan("UNKNOWN", training=True)) == (404, "TICKET_NOT_FOUND")
    assert data(gate.scan(placeId=slot["slotId"], training=True))["name"] == "Frieda Amupolo"
    assert dump() == before
    assert read_error(gate.undo("0" * 24)) == (404, "NOT_FOUND")


def list_answers(scan: Callable[..., Any], codes: list[str]) -> list[Any]:
    answers = [scan(code) for code in codes]
    return [
        read_error(it) if it.status_code != 200 else {**data(it), "admissionId": "", "training": "", "admittedAt": ""}
        for it in answers
    ]


@pytest.mark.parametrize("reentry", REENTRY_MODES)
def test_training_says_what_the_scan_then_does(client: Client, reentry: str) -> None:
    gate = Gate(client, reentry=reentry)
    codes = [gate.claim()["code"], gate.sell().secret, *gate.claim_party(2), "UNKNOWN"]
    for direction in ("in", "in", "out", "out", "in"):
        for code in codes:
            expected = list_answers(lambda it: gate.scan(it, training=True, direction=direction), [code])  # noqa: B023
            assert list_answers(lambda it: gate.scan(it, direction=direction), [code]) == expected, (direction, code)  # noqa: B023


def test_batch_refuses_training(gate: Gate) -> None:
    (result,) = send(gate, offline_scan(gate.sell().secret, training=True))
    assert (result["status"], fetch_scalar("SELECT count(*) FROM admission")) == ("refused", 0)
