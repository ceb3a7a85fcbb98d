"""A guest passes a ticket on or gives it back while it is scanned, and twice at once. ALLOCATION_ROUNDS sets how often."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.allocations import sql
from app.allocations.actions import ticket_links
from tests.allocations.law import assert_books_agree
from tests.allocations.racing import law_holds, own, without_the_lock
from tests.allocations.test_race_pairs import ROUNDS
from tests.factories.allocations import create_block
from tests.factories.payouts import fetch_scalar
from tests.factories.ticket_links import Guest, claim_as_guest
from tests.http import Client, read_error
from tests.races import run_concurrently
from tests.unguarded import without_rules

Act = Callable[[Guest, Client, int], Any]


def pass_on(guest: Guest, client: Client, number: int) -> Any:
    return guest.pass_on(client, name=f"Maria {number}", email=f"maria{number}@example.com")


def give_back(guest: Guest, client: Client, number: int) -> Any:
    return guest.give_back(client)


def scan(guest: Guest, client: Client, number: int) -> Any:
    """Scan the code that the guest has when the race begins."""
    path = f"/api/events/{guest.block.event['id']}/admissions"
    return client.post(path, {"code": guest.code, "nonce": f"scan-{guest.code}"})


def race(app: Flask, guest: Guest, *acts: Act) -> list[Any]:
    """Run the acts together; return their results: 200, or the code of the error."""

    def run(number: int) -> Any:
        response = acts[number](guest, own(app, guest.block.owner), number)
        return 200 if response.status_code == 200 else read_error(response)[1]

    return run_concurrently(len(acts), run)


def guests_of(client: Client, count: int) -> list[Guest]:
    block = create_block(client, total=count, quantity=count)
    return [claim_as_guest(block) for _ in range(count)]


RACES = {
    "pass on or admit": (
        (pass_on, scan),
        {(200, "TICKET_NOT_FOUND"), ("ALREADY_ADMITTED", 200)},
    ),
    "give back or admit": (
        (give_back, scan),
        {(200, "SLOT_REVOKED"), ("ALREADY_ADMITTED", 200)},
    ),
    "pass on twice": ((pass_on, pass_on), {(200, "LINK_EXPIRED"), ("LINK_EXPIRED", 200)}),
    "pass on or give back": ((pass_on, give_back), {(200, "LINK_EXPIRED"), ("LINK_EXPIRED", 200)}),
}


@pytest.mark.parametrize("name", RACES)
def test_exactly_one_of_two_acts_counts(app: Flask, client: Client, name: str) -> None:
    acts, outcomes = RACES[name]
    for guest in guests_of(client, ROUNDS):
        assert tuple(race(app, guest, *acts)) in outcomes
    assert_books_agree()


def test_giving_back_twice_frees_one_place(app: Flask, client: Client) -> None:
    guests = guests_of(client, 8)
    for guest in guests:
        assert race(app, guest, give_back, give_back, give_back) == [200, 200, 200]
    assert guests[0].block.now()["available"] == 8
    assert_books_agree()


def _sleep_before(monkeypatch: pytest.MonkeyPatch, name: str, condition: str) -> None:
    """Let a statement wait instead of checking a condition."""
    careless = getattr(sql, name).text.replace(condition, "AND pg_sleep(0.02) IS NOT NULL")
    monkeypatch.setattr(sql, name, text(careless))


@pytest.mark.control
def test_a_scanned_ticket_is_passed_on_without_the_condition(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = guests_of(client, 30)
    _sleep_before(monkeypatch, "REASSIGN_SLOT", "AND s.status = 'claimed'")
    assert any(race(app, guest, pass_on, scan) == [200, 200] for guest in guests)


@pytest.mark.control
def test_a_scanned_ticket_is_given_back_without_the_condition(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = guests_of(client, 30)
    _sleep_before(monkeypatch, "REVOKE_TO_BLOCK", "AND s.status = :old_status")
    with without_rules("ck_allocation_slot_admitted"):
        assert any(race(app, guest, give_back, scan) == [200, 200] or not law_holds() for guest in guests)


@pytest.mark.control
def test_a_ticket_is_passed_on_twice_without_the_lock(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = guests_of(client, 20)
    without_the_lock(monkeypatch)
    monkeypatch.setattr(
        ticket_links, "_count_pass_on", lambda session, _: session.execute(text("SELECT pg_sleep(0.05)"))
    )
    assert any(race(app, guest, pass_on, pass_on) == [200, 200] for guest in guests)
    passed_on = fetch_scalar("SELECT max(generation) FROM allocation_slot")
    assert passed_on > 2
