"""Everybody at once: the last places, the gate, and what takes back while others claim.

Each race has its negative control: with the guard taken away the same race goes wrong, so the test would notice.
ALLOCATION_ROUNDS sets how often the races of two are run, ALLOCATION_SLOTS how many tickets the scanners fight for.
"""

import os
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.allocations import books
from app.allocations.actions import create
from app.core.db import compiled
from app.core.transaction import transaction
from tests.allocations.law import assert_books_agree
from tests.factories.allocations import Block, another, block, claim
from tests.http import Client, data, refusal
from tests.races import at_once

# The verbs' modules, which their package hides behind the verbs themselves.
admit, invite, revoke = (import_module(f"app.allocations.actions.{verb}") for verb in ("admit", "invite", "revoke"))
ROUNDS = int(os.environ.get("ALLOCATION_ROUNDS", "25"))
SLOTS = int(os.environ.get("ALLOCATION_SLOTS", "8"))
Answers = list[Any]


def own(app: Flask, who: Client) -> Client:
    """A client of this thread's own."""
    return Client(app.test_client(), who.headers)


def without_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "_lock", lambda statement: statement)


def law_holds() -> bool:
    try:
        assert_books_agree()
    except AssertionError:
        return False
    return True


def storm(app: Flask, made: Block, token: str, many: int = 64) -> Answers:
    return at_once(many, lambda number: claim(own(app, made.owner), token, email=f"fan{number}@example.com"))


def test_sixty_four_claims_on_the_last_ten_places_get_ten(app: Flask, client: Client) -> None:
    made = block(client, quantity=10)
    answers = storm(app, made, made.open_link())
    assert Counter(each.status_code for each in answers) == {200: 10, 409: 54}
    assert {refusal(each) for each in answers if each.status_code == 409} == {(409, "NO_SLOTS_LEFT")}
    assert len({data(each)["slotId"] for each in answers if each.status_code == 200}) == 10
    assert_books_agree()


@pytest.mark.control
def test_without_the_lock_the_last_places_are_given_twice(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = block(client, quantity=10)
    token = made.open_link()
    without_the_lock(monkeypatch)
    answers = storm(app, made, token)
    given = [data(each)["slotId"] for each in answers if each.status_code == 200]
    assert len(given) != 10 or len(set(given)) < len(given) or not law_holds()


def test_one_address_gets_one_place_however_often_it_asks_at_once(app: Flask, client: Client) -> None:
    made = block(client, quantity=10)
    token = made.open_link()
    answers = at_once(16, lambda _: claim(own(app, made.owner), token, email="same@example.com"))
    assert Counter(each.status_code for each in answers) == {200: 1, 409: 15}
    assert_books_agree()


def test_one_code_opens_one_place_for_one_of_many(app: Flask, client: Client) -> None:
    made = block(client, quantity=10)
    (code,) = made.codes(1)
    answers = at_once(32, lambda _: claim(own(app, made.owner), code))
    assert Counter(each.status_code for each in answers) == {200: 1, 410: 31}
    assert_books_agree()


def test_of_many_blocks_at_once_as_many_are_made_as_there_are_places(app: Flask, client: Client) -> None:
    made = block(client, quantity=10, total=60)
    sent = {"ticketTypeId": made.ticket_type_id, "quantity": 10}
    answers = at_once(16, lambda _: own(app, made.owner).post(made.events, sent))
    assert Counter(each.status_code for each in answers) == {201: 5, 409: 11}
    assert_books_agree()


@pytest.mark.control
def test_without_the_condition_the_public_would_go_below_nought(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table's own constraint would still refuse; nobody would be told why."""
    made = block(client, quantity=10, total=60)
    careless = create.RESERVE.text.replace("AND t.public >=", "AND t.public IS NOT NULL OR t.public >=")
    monkeypatch.setattr(create, "RESERVE", text(careless))
    monkeypatch.setattr(create, "_check", lambda event, terms: None)
    sent = {"ticketTypeId": made.ticket_type_id, "quantity": 10}
    answers = [own(app, made.owner).post(made.events, sent) for _ in range(7)]
    assert Counter(each.status_code for each in answers) == {201: 5, 500: 2}


def test_of_sixty_four_scanners_one_admits_each_ticket(app: Flask, client: Client) -> None:
    made = block(client, total=SLOTS, quantity=SLOTS)
    slots = made.claimed(SLOTS)

    def once(gate: Client, slot: str, nonce: str) -> int:
        """Tried again while the service is too busy, as scanners do."""
        answers = (gate.post(f"{made.events}/will-call/{slot}/admit", {"nonce": nonce}).status_code for _ in range(50))
        return next(status for status in answers if status != 503)

    def scan(number: int) -> list[int]:
        gate = own(app, made.owner)
        mine = slots[number % SLOTS :] + slots[: number % SLOTS]
        return [once(gate, each, f"s{number}") for each in mine]

    found = Counter(status for each in at_once(64, scan) for status in each)
    assert found == {200: SLOTS, 409: 63 * SLOTS}
    assert made.now()["admitted"] == SLOTS
    assert_books_agree()


@pytest.mark.control
def test_without_the_condition_one_ticket_admits_many(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = block(client, total=20, quantity=20)
    (slot, *_) = made.claimed(20)
    careless = admit.ONE.replace("AND s.status = 'claimed'", "")
    monkeypatch.setattr(admit, "ONE_BY_DRIVER", compiled(text(careless)))
    answers = at_once(8, lambda _: own(app, made.owner).post(f"{made.events}/will-call/{slot}/admit").status_code)
    assert answers.count(200) > 1 and not law_holds()


def test_ten_answers_to_one_nonce_are_the_same(app: Flask, client: Client) -> None:
    made = block(client)
    (slot,) = made.claimed(1)
    path = f"{made.events}/will-call/{slot}/admit"
    answers = at_once(10, lambda _: own(app, made.owner).post(path, {"nonce": "one-scan", "gate": "North"}))
    assert [data(each) for each in answers] == [data(answers[0])] * 10
    others = at_once(10, lambda number: own(app, made.owner).post(path, {"nonce": f"scan-{number}"}).status_code)
    assert others == [409] * 10
    assert_books_agree()


def test_a_party_at_several_gates_is_admitted_once_each(app: Flask, client: Client) -> None:
    made = block(client, quantity=10)
    party = data(claim(client, made.open_link(maxPerClaim=10), quantity=10))
    path = f"{made.events}/will-call/{party['slotId']}/admit"
    answers = at_once(16, lambda number: own(app, made.owner).post(path, {"nonce": f"n{number}", "count": 3}))
    assert Counter(each.status_code for each in answers) == {200: 3, 409: 13}
    assert made.now()["admitted"] == 9
    assert_books_agree()


def rounds(app: Flask, made: Block, count: int, one: Callable[[Client, int, Any], Any], things: Answers) -> Answers:
    """What two callers are answered, round after round."""
    found = []
    for number in range(count):
        thing = things[number]
        found.append(at_once(2, lambda who, it=thing: one(own(app, made.owner), who, it)))
    return found


def revoke_or_admit(made: Block) -> Callable[[Client, int, str], int]:
    def one(client: Client, who: int, slot: str) -> int:
        path = f"{made.path}/slots/{slot}/revoke" if who else f"{made.events}/will-call/{slot}/admit"
        return client.post(path).status_code

    return one


def test_a_ticket_is_revoked_or_admitted(app: Flask, client: Client) -> None:
    made = block(client, total=ROUNDS, quantity=ROUNDS)
    found = rounds(app, made, ROUNDS, revoke_or_admit(made), made.claimed(ROUNDS))
    assert {tuple(each) for each in found} <= {(200, 409), (409, 200)}
    now = made.now()
    assert (now["admitted"], now["revoked"]) == (found.count([200, 409]), found.count([409, 200]))
    assert_books_agree()


def test_without_lock_and_condition_a_ticket_is_both(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = block(client, total=100, quantity=100)
    slots = made.claimed(100)
    without_the_lock(monkeypatch)
    careless = revoke.TO_BLOCK.text.replace("AND s.status = :was", "AND pg_sleep(0.01) IS NOT NULL")
    monkeypatch.setattr(revoke, "TO_BLOCK", text(careless))
    with transaction() as session:
        session.execute(text("ALTER TABLE allocation_slot DROP CONSTRAINT ck_allocation_slot_admitted"))
    try:
        tries = (rounds(app, made, 20, revoke_or_admit(made), slots[at : at + 20]) for at in range(0, 100, 20))
        assert any(any(each not in ([200, 409], [409, 200]) for each in found) or not law_holds() for found in tries)
    finally:
        restore("ck_allocation_slot_admitted", "(status = 'admitted') = (admitted_at IS NOT NULL)")


def of_one(client: Client, count: int) -> list[tuple[Block, str]]:
    """Blocks of one place each, and the code that opens it."""
    first = block(client, total=count, quantity=1)
    made = [first, *(another(first, quantity=1) for _ in range(count - 1))]
    return [(each, each.codes(1)[0]) for each in made]


def release_or_claim(client: Client, who: int, thing: tuple[Block, str]) -> Any:
    made, code = thing
    return client.post(f"{made.path}/release-unused").get_json() if who else claim(client, code).status_code


def test_a_place_is_released_or_claimed(app: Flask, client: Client) -> None:
    things = of_one(client, ROUNDS)
    found = rounds(app, things[0][0], ROUNDS, release_or_claim, things)
    outcomes = {(status, said["data"]["released"]) for status, said in found}
    assert outcomes <= {(200, 0), (410, 1)}
    assert_books_agree()


@pytest.mark.control
def test_without_the_lock_what_was_claimed_is_released(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    things = of_one(client, 20)
    without_the_lock(monkeypatch)
    found = rounds(app, things[0][0], 20, release_or_claim, things)
    outcomes = {(status, said["data"].get("released")) for status, said in found}
    assert not law_holds() or not outcomes <= {(200, 0), (410, 1)}


@pytest.mark.parametrize("seed", range(2))
def test_nobody_waits_in_a_circle(app: Flask, client: Client, seed: int) -> None:
    """Every verb on two blocks of one type at the same moment: all end, and the books agree."""
    one = block(client, quantity=30, total=100)
    two = another(one, quantity=30)
    token, codes, claimed = one.open_link(), two.codes(8), two.claimed(8)
    calls: list[Callable[[Client], Any]] = [
        lambda it: it.post(f"{one.path}/move", {"toBlockId": two.id, "quantity": 1}),
        lambda it: it.post(f"{two.path}/move", {"toBlockId": one.id, "quantity": 1}),
        lambda it: claim(it, token),
        lambda it: claim(it, codes.pop()),
        lambda it: it.post(f"{two.path}/slots/{claimed.pop()}/revoke", {"returnTo": "public"}),
        lambda it: it.post(f"{two.events}/will-call/{claimed.pop()}/admit"),
        lambda it: it.post(f"{one.path}/release-unused", {"quantity": 1}),
        lambda it: it.post(one.events, {"ticketTypeId": one.ticket_type_id, "quantity": 1}),
    ]
    answers = at_once(32, lambda number: calls[(number + seed) % 8](own(app, one.owner)))
    assert {each.status_code for each in answers} <= {200, 201, 409}
    assert_books_agree()


@pytest.mark.control
def test_in_the_order_of_their_names_two_movers_would_wait_for_each_other(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: each locks the block it takes from first."""
    one = block(client, quantity=20)
    two = another(one, quantity=20)

    def as_named(session: Any, caller: Any, event_id: str, ids: tuple[str, str]) -> Any:
        first = books.locked(session, caller, event_id, ids[0])
        session.execute(text("SELECT pg_sleep(0.2)"))
        return {ids[0]: first, ids[1]: books.locked(session, caller, event_id, ids[1])}

    monkeypatch.setattr(books, "locked_two", as_named)
    pair = ((one, two), (two, one))

    def move(number: int) -> int:
        source, target = pair[number % 2]
        path = f"{source.path}/move"
        return own(app, one.owner).post(path, {"toBlockId": target.id, "quantity": 1}).status_code

    assert max(at_once(4, move)) >= 500


def test_what_dies_half_way_leaves_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = block(client)

    def dies(*_: Any, **__: Any) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(invite, "enqueue_many", dies)
    body = {"recipients": [{"name": "A", "email": "a@example.com"}]}
    assert made.owner.post(f"{made.path}/invite", body).status_code == 500
    assert (made.now()["available"], made.now()["invited"]) == (10, 0)
    assert_books_agree()


def restore(name: str, condition: str) -> None:
    with transaction() as session:
        session.execute(text("DELETE FROM allocation_slot"))
        session.execute(text(f"ALTER TABLE allocation_slot ADD CONSTRAINT {name} CHECK ({condition})"))
