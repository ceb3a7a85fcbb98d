"""Races of a step of a release plan, a change and a move, each with a control that removes the guard."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.allocations import jobs, links, sql
from app.allocations.actions import block_changes, moves
from app.core.outbox import enqueue
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from tests.allocations.law import assert_books_agree
from tests.allocations.racing import law_holds, own, without_the_lock
from tests.allocations.steps import pass_step
from tests.factories.allocations import Block, claim_slot, create_another_block, create_block, token_in
from tests.factories.payouts import fetch_scalar
from tests.http import Client, data, read_error
from tests.races import run_concurrently

NOON, EVENING = "2027-06-01T10:00:00.000Z", "2027-06-01T17:00:00.000Z"
ROUNDS = 10


def planned_blocks(client: Client, count: int, **fields: Any) -> list[Block]:
    terms = {"releasePlan": [{"on": NOON, "quantity": 3}], **fields}
    first = create_block(client, total=20 * count, **terms)
    return [first, *(create_another_block(first, **terms) for _ in range(count - 1))]


def run_job(app: Flask, job_id: int) -> None:
    """Run one job, as a worker that a relay has woken."""
    once = iter((True, False))
    with app.app_context():
        run_due_jobs(job_id, worker=f"worker {job_id}", should_continue=lambda: next(once))


def slow_down(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, seconds: float = 0.05) -> None:
    """Let a function wait before it returns, so that the other call is between its reads and writes."""
    original = getattr(module, name)

    def slow(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        time.sleep(seconds)
        return result

    monkeypatch.setattr(module, name, slow)


def run_step_twice(app: Flask, made: Block) -> int:
    """Run a step by two jobs at once, as after a lost lease; return how many places were released."""
    job_id = pass_step(made, 0)
    step_id = fetch_scalar("SELECT payload ->> 'step_id' FROM outbox WHERE id = :id", id=job_id)
    with transaction():
        other_id = enqueue("allocations.release_step", block_id=made.id, step_id=step_id)
    assert other_id is not None
    run_concurrently(2, lambda number: run_job(app, (job_id, other_id)[number]))
    released: int = made.now()["released"]
    return released


def test_step_that_runs_twice_releases_once(app: Flask, client: Client) -> None:
    assert {run_step_twice(app, made) for made in planned_blocks(client, ROUNDS)} == {3}
    assert_books_agree()


@pytest.mark.control
def test_step_releases_twice_without_the_lock(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = planned_blocks(client, ROUNDS)
    without_the_lock(monkeypatch)
    slow_down(monkeypatch, jobs, "find_due_step")
    assert any(run_step_twice(app, item) > 3 for item in made)


def step_or_claim(app: Flask, made: Block, code: str, job_id: int, delay: float = 0) -> tuple[int, int]:
    """Return the status of a claim beside a step, and how many places the step released."""
    calls: list[Callable[[], Any]] = [
        lambda: (time.sleep(delay), claim_slot(own(app, made.owner), code).status_code)[1],
        lambda: run_job(app, job_id),
    ]
    status = run_concurrently(2, lambda number: calls[number]())[0]
    return status, made.now()["releasePlan"][0]["released"]


def blocks_of_one(client: Client, count: int) -> list[tuple[Block, str, int]]:
    return [(made, made.codes(1)[0], pass_step(made, 0)) for made in planned_blocks(client, count, quantity=1)]


def test_place_is_either_claimed_or_released_by_a_step(app: Flask, client: Client) -> None:
    outcomes = {step_or_claim(app, *item) for item in blocks_of_one(client, ROUNDS)}
    assert outcomes <= {(200, 0), (410, 1)}
    assert_books_agree()


@pytest.mark.control
def test_claimed_place_is_released_by_a_step_without_the_lock(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    things = blocks_of_one(client, ROUNDS)
    without_the_lock(monkeypatch)
    careless = sql.RELEASE_SLOTS.text.replace("WHERE s.id = u.id", "WHERE pg_sleep(0.1) IS NOT NULL AND s.id = u.id")
    monkeypatch.setattr(sql, "RELEASE_SLOTS", text(careless))
    outcomes = {step_or_claim(app, *item, delay=0.03) for item in things}
    assert not law_holds() or not outcomes <= {(200, 0), (410, 1)}


def change_plan_beside_step(app: Flask, made: Block) -> list[tuple[str, int | None]]:
    """Send another plan while a step runs; return time and released places of the steps."""
    job_id = pass_step(made, 0)
    calls: list[Callable[[], Any]] = [
        lambda: data(own(app, made.owner).patch(made.path, {"releasePlan": [{"on": EVENING, "quantity": 1}]})),
        lambda: run_job(app, job_id),
    ]
    run_concurrently(2, lambda number: calls[number]())
    found = made.now()
    steps = [("later" if step["on"] == EVENING else "due", step["released"]) for step in found["releasePlan"]]
    return [*steps, ("released", found["released"])]


def test_change_of_the_plan_keeps_the_step_that_runs(app: Flask, client: Client) -> None:
    expected = [("due", 3), ("later", None), ("released", 3)]
    assert all(change_plan_beside_step(app, made) == expected for made in planned_blocks(client, ROUNDS))
    assert_books_agree()


@pytest.mark.control
def test_change_of_the_plan_forgets_the_step_without_the_lock(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = planned_blocks(client, ROUNDS)
    without_the_lock(monkeypatch)
    slow_down(monkeypatch, block_changes, "build_release_plan")
    expected = [("due", 3), ("later", None), ("released", 3)]
    assert any(change_plan_beside_step(app, item) != expected for item in made)


def change_twice(app: Flask, made: Block) -> list[int]:
    """Change a block by two clients that have read the same version."""
    headers = {"If-Match": f'"{made.now()["version"]}"'}
    return sorted(
        run_concurrently(
            2,
            lambda number: (
                own(app, made.owner)
                .patch(made.path, {"quantity": 11 + number, "name": f"{number}"}, headers=headers)
                .status_code
            ),
        )
    )


def test_only_one_of_two_changes_of_a_version_counts(app: Flask, client: Client) -> None:
    assert all(change_twice(app, made) == [200, 412] for made in planned_blocks(client, ROUNDS))
    assert_books_agree()


@pytest.mark.control
def test_both_changes_of_a_version_count_without_the_lock(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = planned_blocks(client, ROUNDS)
    without_the_lock(monkeypatch)
    slow_down(monkeypatch, block_changes, "_build_changed_values")
    assert any(change_twice(app, item) != [200, 412] for item in made) or not law_holds()


def test_growing_blocks_do_not_exceed_the_ticket_type(app: Flask, client: Client) -> None:
    one = create_block(client, total=25)
    pair = (one, create_another_block(one))
    statuses = run_concurrently(
        8, lambda number: own(app, one.owner).patch(pair[number % 2].path, {"quantity": 13}).status_code
    )
    assert set(statuses) == {200, 409} and sum(made.now()["held"] for made in pair) == 23
    assert_books_agree()


def claim_beside_move(app: Flask, made: Block, target: Block) -> tuple[Any, int]:
    """Claim an invited place while it moves to another block."""
    number = len(made.now()["slots"])
    (invited,) = made.invite(f"guest-of-{number}@example.com")
    calls: list[Callable[[], Any]] = [
        lambda: own(app, made.owner).post(
            f"{made.path}/move", {"toBlockId": target.id, "slotIds": [invited["slotId"]]}
        ),
        lambda: (time.sleep(0.03), claim_slot(own(app, made.owner), token_in(invited)))[1],
    ]
    moved, claimed = run_concurrently(2, lambda at: calls[at]())
    return claimed, moved.status_code


def test_invited_place_is_claimed_while_it_moves(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = create_block(client)
    target = create_another_block(made)
    slow_down(monkeypatch, moves, "after_block_reduced", 0.1)
    for _ in range(5):
        claimed, moved = claim_beside_move(app, made, target)
        assert (claimed.status_code, moved) == (200, 200)
    assert target.now()["claimed"] == 5
    assert_books_agree()


@pytest.mark.control
def test_claim_of_a_moving_place_is_refused_without_another_look(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create_block(client)
    target = create_another_block(made)
    slow_down(monkeypatch, moves, "after_block_reduced", 0.1)
    load = links.load_linked_slot

    def load_in_first_block(session: Any, id: str) -> Any:
        slot = load(session, id)
        return type("Slot", (), {**slot._asdict(), "block_id": made.id})

    monkeypatch.setattr(links, "load_linked_slot", load_in_first_block)
    claims = [claim_beside_move(app, made, target)[0] for _ in range(5)]
    assert any(claim.status_code != 200 and read_error(claim) == (409, "NO_SLOTS_LEFT") for claim in claims)


def admit_beside_move(app: Flask, made: Block, target: Block, slot: str, delay: float = 0) -> list[int]:
    calls = (
        (f"{made.path}/move", {"toBlockId": target.id, "slotIds": [slot]}),
        (f"{made.events}/will-call/{slot}/admit", {}),
    )

    def call(number: int) -> int:
        time.sleep(delay * number)
        return own(app, made.owner).post(*calls[number]).status_code

    return run_concurrently(2, call)


def test_ticket_is_admitted_while_its_place_moves(app: Flask, client: Client) -> None:
    made = create_block(client, quantity=ROUNDS)
    target = create_another_block(made, quantity=1)
    outcomes = {tuple(admit_beside_move(app, made, target, slot)) for slot in made.claimed(ROUNDS)}
    assert outcomes <= {(200, 200), (409, 200)}
    assert_books_agree()


@pytest.mark.control
def test_admitted_place_moves_without_the_condition(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create_block(client, quantity=ROUNDS)
    target = create_another_block(made, quantity=1)
    careless = sql.MOVE_CHOSEN_SLOTS.text.replace("AND s.status = c.status", "AND pg_sleep(0.15) IS NOT NULL")
    monkeypatch.setattr(sql, "MOVE_CHOSEN_SLOTS", text(careless))
    for slot in made.claimed(ROUNDS):
        admit_beside_move(app, made, target, slot, 0.05)
    assert not law_holds()
