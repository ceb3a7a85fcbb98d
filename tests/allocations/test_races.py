"""Concurrent claims, blocks and scans.

Each race has a negative control: without its guard the race goes wrong, which shows that the test notices.
ALLOCATION_SLOTS sets how many tickets the scanners compete for.
"""

import os
from collections import Counter
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.allocations import sql
from app.allocations.actions import blocks
from tests.allocations.law import assert_books_agree
from tests.allocations.racing import law_holds, own, without_the_lock
from tests.factories.allocations import Block, claim_slot, create_block
from tests.http import Client, data, read_error
from tests.races import repeat_while_busy, run_concurrently

SLOTS = int(os.environ.get("ALLOCATION_SLOTS", "8"))
Answers = list[Any]


def claim_concurrently(app: Flask, made: Block, token: str, many: int = 64) -> Answers:
    return run_concurrently(
        many,
        lambda number: repeat_while_busy(
            lambda: claim_slot(own(app, made.owner), token, email=f"fan{number}@example.com")
        ),
    )


def test_concurrent_claims_get_exactly_the_last_places(app: Flask, client: Client) -> None:
    made = create_block(client, quantity=10)
    answers = claim_concurrently(app, made, made.open_link())
    assert Counter(response.status_code for response in answers) == {200: 10, 409: 54}
    assert {read_error(response) for response in answers if response.status_code == 409} == {(409, "NO_SLOTS_LEFT")}
    assert len({data(response)["slotId"] for response in answers if response.status_code == 200}) == 10
    assert_books_agree()


@pytest.mark.control
def test_last_places_are_claimed_twice_without_the_lock(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create_block(client, quantity=10)
    token = made.open_link()
    without_the_lock(monkeypatch)
    answers = claim_concurrently(app, made, token)
    given = [data(response)["slotId"] for response in answers if response.status_code == 200]
    assert len(given) != 10 or len(set(given)) < len(given) or not law_holds()


def test_concurrent_claims_of_one_address_get_one_place(app: Flask, client: Client) -> None:
    made = create_block(client, quantity=10)
    token = made.open_link()
    answers = run_concurrently(16, lambda _: claim_slot(own(app, made.owner), token, email="same@example.com"))
    assert Counter(response.status_code for response in answers) == {200: 1, 409: 15}
    assert_books_agree()


def test_concurrent_claims_with_one_code_get_one_place(app: Flask, client: Client) -> None:
    made = create_block(client, quantity=10)
    (code,) = made.codes(1)
    answers = run_concurrently(32, lambda _: claim_slot(own(app, made.owner), code))
    assert Counter(response.status_code for response in answers) == {200: 1, 410: 31}
    assert_books_agree()


def test_concurrent_blocks_do_not_exceed_the_ticket_type(app: Flask, client: Client) -> None:
    made = create_block(client, quantity=10, total=60)
    sent = {"ticketTypeId": made.ticket_type_id, "quantity": 10}
    answers = run_concurrently(16, lambda _: own(app, made.owner).post(made.events, sent))
    assert Counter(response.status_code for response in answers) == {201: 5, 409: 11}
    assert_books_agree()


@pytest.mark.control
def test_constraint_refuses_blocks_without_the_condition(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The constraint of the table still refuses, but as an internal error."""
    made = create_block(client, quantity=10, total=60)
    careless = sql.INSERT_SLOTS.text.replace("AND t.public >=", "AND t.public IS NOT NULL OR t.public >=")
    monkeypatch.setattr(sql, "INSERT_SLOTS", text(careless))
    monkeypatch.setattr(blocks, "_check_availability", lambda event, terms: None)
    sent = {"ticketTypeId": made.ticket_type_id, "quantity": 10}
    answers = [own(app, made.owner).post(made.events, sent) for _ in range(7)]
    assert Counter(response.status_code for response in answers) == {201: 5, 500: 2}


def test_concurrent_scanners_admit_each_ticket_once(app: Flask, client: Client) -> None:
    made = create_block(client, total=SLOTS, quantity=SLOTS)
    slots = made.claimed(SLOTS)

    def scan_slot(gate: Client, slot: str, nonce: str) -> int:
        """Scan, and again while the service is too busy, as scanners do."""
        path = f"{made.events}/will-call/{slot}/admit"
        return repeat_while_busy(lambda: gate.post(path, {"nonce": nonce})).status_code

    def scan(number: int) -> list[int]:
        gate = own(app, made.owner)
        mine = slots[number % SLOTS :] + slots[: number % SLOTS]
        return [scan_slot(gate, item, f"s{number}") for item in mine]

    found = Counter(status for item in run_concurrently(64, scan) for status in item)
    assert found == {200: SLOTS, 409: 63 * SLOTS}
    assert made.now()["admitted"] == SLOTS
    assert_books_agree()


@pytest.mark.control
def test_ticket_is_admitted_repeatedly_without_the_condition(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create_block(client, total=20, quantity=20)
    (slot, *_) = made.claimed(20)
    careless = sql.ADMIT_SLOT.text.replace("AND s.status = 'claimed'", "")
    monkeypatch.setattr(sql, "ADMIT_SLOT", text(careless))
    answers = run_concurrently(
        8, lambda _: own(app, made.owner).post(f"{made.events}/will-call/{slot}/admit").status_code
    )
    assert answers.count(200) > 1 and not law_holds()


def test_concurrent_scans_with_one_nonce_get_one_response(app: Flask, client: Client) -> None:
    made = create_block(client)
    (slot,) = made.claimed(1)
    path = f"{made.events}/will-call/{slot}/admit"
    answers = run_concurrently(10, lambda _: own(app, made.owner).post(path, {"nonce": "one-scan", "gate": "North"}))
    assert [data(response) for response in answers] == [data(answers[0])] * 10
    others = run_concurrently(
        10, lambda number: own(app, made.owner).post(path, {"nonce": f"scan-{number}"}).status_code
    )
    assert others == [409] * 10
    assert_books_agree()


def test_party_at_several_gates_is_admitted_once_each(app: Flask, client: Client) -> None:
    made = create_block(client, quantity=10)
    party = data(claim_slot(client, made.open_link(maxPerClaim=10), quantity=10))
    path = f"{made.events}/will-call/{party['slotId']}/admit"
    answers = run_concurrently(16, lambda number: own(app, made.owner).post(path, {"nonce": f"n{number}", "count": 3}))
    assert Counter(response.status_code for response in answers) == {200: 3, 409: 13}
    assert made.now()["admitted"] == 9
    assert_books_agree()
