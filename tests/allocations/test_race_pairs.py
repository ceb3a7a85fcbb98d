"""Two concurrent changes that exclude each other: revoke and admit, release and claim, rename and admit, two moves.

Each race has a negative control. ALLOCATION_ROUNDS sets how often it runs.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.allocations import queries, sql
from app.allocations.actions import admission, invites
from app.allocations.models import AllocationSlot
from tests.allocations.law import assert_books_agree
from tests.allocations.racing import law_holds, own, without_the_lock
from tests.factories.allocations import Block, claim_slot, create_another_block, create_block
from tests.http import Client, data
from tests.races import run_concurrently
from tests.unguarded import without_rules

ROUNDS = int(os.environ.get("ALLOCATION_ROUNDS", "25"))
Answers = list[Any]


def rounds(app: Flask, made: Block, count: int, one: Callable[[Client, int, Any], Any], things: Answers) -> Answers:
    """Run a pair of concurrent calls for each thing; return their results."""
    found = []
    for number in range(count):
        thing = things[number]
        found.append(run_concurrently(2, lambda who, it=thing: one(own(app, made.owner), who, it)))
    return found


def revoke_or_admit(made: Block) -> Callable[[Client, int, str], int]:
    def one(client: Client, who: int, slot: str) -> int:
        path = f"{made.path}/slots/{slot}/revoke" if who else f"{made.events}/will-call/{slot}/admit"
        return client.post(path).status_code

    return one


def test_ticket_is_either_revoked_or_admitted(app: Flask, client: Client) -> None:
    made = create_block(client, total=ROUNDS, quantity=ROUNDS)
    found = rounds(app, made, ROUNDS, revoke_or_admit(made), made.claimed(ROUNDS))
    assert {tuple(item) for item in found} <= {(200, 409), (409, 200)}
    now = made.now()
    assert (now["admitted"], now["revoked"]) == (found.count([200, 409]), found.count([409, 200]))
    assert_books_agree()


@pytest.mark.control
def test_ticket_is_revoked_and_admitted_without_lock_and_condition(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create_block(client, total=100, quantity=100)
    slots = made.claimed(100)
    without_the_lock(monkeypatch)
    careless = sql.REVOKE_TO_BLOCK.text.replace("AND s.status = :old_status", "AND pg_sleep(0.01) IS NOT NULL")
    monkeypatch.setattr(sql, "REVOKE_TO_BLOCK", text(careless))
    with without_rules("ck_allocation_slot_admitted"):
        tries = (rounds(app, made, 20, revoke_or_admit(made), slots[at : at + 20]) for at in range(0, 100, 20))
        assert any(any(item not in ([200, 409], [409, 200]) for item in found) or not law_holds() for found in tries)


def rename_or_admit_both(app: Flask, made: Block) -> list[int]:
    """Scan a party of two while the holder renames its second slot; return both status codes."""
    token = made.allocator()
    party = {"name": "Frieda", "email": "frieda@example.com", "quantity": 2, "allowDuplicates": True}
    first, second = data(made.owner.post(f"/api/allocations/allocator/{token}", party))["slots"]
    calls = (
        (f"/api/allocations/allocator/{token}", {"slotId": second["slotId"], "name": "Maria"}),
        (f"{made.events}/will-call/{first['slotId']}/admit", {"count": 2}),
    )
    return run_concurrently(2, lambda who: own(app, made.owner).post(*calls[who]).status_code)


def test_party_is_admitted_or_its_slot_renamed(app: Flask, client: Client) -> None:
    made = create_block(client, total=2 * ROUNDS, quantity=2 * ROUNDS)
    assert {tuple(rename_or_admit_both(app, made)) for _ in range(ROUNDS)} <= {(200, 409), (409, 200)}
    assert_books_agree()


@pytest.mark.control
def test_first_guest_enters_on_renamed_slot_without_the_lock(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unlocked(session: Any, slot: Any) -> Answers:
        rows = session.execute(admission._slots_query().where(AllocationSlot.party_id == slot.party_id)).all()
        session.execute(text("SELECT pg_sleep(0.05)"))
        return sorted(rows, key=lambda row: bool(row.id != slot.id))

    made = create_block(client, total=20, quantity=20)
    monkeypatch.setattr(admission, "_lock_party", unlocked)
    assert any(rename_or_admit_both(app, made) == [200, 200] for _ in range(10))


def test_scan_during_a_rename_admits_the_scanned_slot(app: Flask, client: Client) -> None:
    """The scanned slot is admitted, before the rename or after it."""
    made = create_block(client, total=2 * ROUNDS, quantity=2 * ROUNDS)
    token = made.allocator()
    party = {"name": "Frieda", "email": "frieda@example.com", "quantity": 2, "allowDuplicates": True}
    for _ in range(ROUNDS):
        slot = data(made.owner.post(f"/api/allocations/allocator/{token}", party))["slots"][0]["slotId"]
        calls = (
            (f"/api/allocations/allocator/{token}", {"slotId": slot, "name": "Maria"}),
            (f"{made.events}/will-call/{slot}/admit", {"count": 1}),
        )
        renamed, admitted = run_concurrently(2, lambda who, it=calls: own(app, made.owner).post(*it[who]))
        assert data(admitted)["slotIds"] == [slot]
        assert renamed.status_code == (200 if data(admitted)["name"] == "Maria" else 409)
    assert_books_agree()


def of_one(client: Client, count: int) -> list[tuple[Block, str]]:
    """Return blocks of one place, each with its claim code."""
    first = create_block(client, total=count, quantity=1)
    made = [first, *(create_another_block(first, quantity=1) for _ in range(count - 1))]
    return [(item, item.codes(1)[0]) for item in made]


def release_or_claim(client: Client, who: int, thing: tuple[Block, str]) -> Any:
    made, code = thing
    return client.post(f"{made.path}/release-unused").get_json() if who else claim_slot(client, code).status_code


def test_slot_is_either_released_or_claimed(app: Flask, client: Client) -> None:
    things = of_one(client, ROUNDS)
    found = rounds(app, things[0][0], ROUNDS, release_or_claim, things)
    outcomes = {(status, said["data"]["released"]) for status, said in found}
    assert outcomes <= {(200, 0), (410, 1)}
    assert_books_agree()


@pytest.mark.control
def test_claimed_slot_is_released_without_the_lock(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    things = of_one(client, 20)
    without_the_lock(monkeypatch)
    found = rounds(app, things[0][0], 20, release_or_claim, things)
    outcomes = {(status, said["data"].get("released")) for status, said in found}
    assert not law_holds() or not outcomes <= {(200, 0), (410, 1)}


@pytest.mark.parametrize("seed", range(2))
def test_concurrent_changes_do_not_deadlock(app: Flask, client: Client, seed: int) -> None:
    """All changes on two blocks of one ticket type at the same time end, and the counters agree."""
    one = create_block(client, quantity=30, total=100)
    two = create_another_block(one, quantity=30)
    token, codes, claimed = one.open_link(), two.codes(8), two.claimed(8)
    calls: list[Callable[[Client], Any]] = [
        lambda it: it.post(f"{one.path}/move", {"toBlockId": two.id, "quantity": 1}),
        lambda it: it.post(f"{two.path}/move", {"toBlockId": one.id, "quantity": 1}),
        lambda it: claim_slot(it, token),
        lambda it: claim_slot(it, codes.pop()),
        lambda it: it.post(f"{two.path}/slots/{claimed.pop()}/revoke", {"returnTo": "public"}),
        lambda it: it.post(f"{two.events}/will-call/{claimed.pop()}/admit"),
        lambda it: it.post(f"{one.path}/release-unused", {"quantity": 1}),
        lambda it: it.post(one.events, {"ticketTypeId": one.ticket_type_id, "quantity": 1}),
    ]
    answers: Answers = []
    for _ in range(2):
        # More at once wait longer than the pool lets them on a busy machine.
        answers += run_concurrently(16, lambda number: calls[(number + seed) % 8](own(app, one.owner)))
    assert {response.status_code for response in answers} <= {200, 201, 409}
    assert_books_agree()


@pytest.mark.control
def test_moves_deadlock_without_the_lock_order(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each locks first the block that it moves places from."""
    one = create_block(client, quantity=20)
    two = create_another_block(one, quantity=20)

    def lock_in_given_order(session: Any, caller: Any, event_id: str, ids: tuple[str, str]) -> Any:
        first = queries.lock_block(session, caller, event_id, ids[0])
        session.execute(text("SELECT pg_sleep(0.2)"))
        return {ids[0]: first, ids[1]: queries.lock_block(session, caller, event_id, ids[1])}

    monkeypatch.setattr(queries, "lock_two_blocks", lock_in_given_order)
    pair = ((one, two), (two, one))

    def move(number: int) -> int:
        source, target = pair[number % 2]
        path = f"{source.path}/move"
        return own(app, one.owner).post(path, {"toBlockId": target.id, "quantity": 1}).status_code

    assert max(run_concurrently(4, move)) >= 500


def test_failed_invitation_is_rolled_back(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = create_block(client)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(invites, "enqueue_many", fail)
    body = {"recipients": [{"name": "A", "email": "a@example.com"}]}
    assert made.owner.post(f"{made.path}/invite", body).status_code == 500
    assert (made.now()["available"], made.now()["invited"]) == (10, 0)
    assert_books_agree()
