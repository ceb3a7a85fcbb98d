"""The state machines that are drawn are those of the program and of the database."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.allocations import sql, states
from app.core.db import db, transaction_engine
from app.core.transaction import transaction
from app.web.state_machine import StateMachine, Transition, render_mermaid
from app.web.state_machines_page import STATE_MACHINES
from tests import steps
from tests.factories.outbox import add_job

STATEFUL = text("""
    SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name IN ('status', 'state', 'visibility') AND data_type <> 'smallint'
""")
CHECKS = text(
    "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c' AND conrelid = :table ::regclass"
)
NOT_OURS = {"ticket", "ticket_import_change"}
"""States of others: what another shop says of its tickets."""
FLOWS: dict[str, Callable[[int, int, int], tuple[int, int, int]]] = {
    "a place comes": lambda free, claimed, released: (free + 1, claimed, released),
    "a claimed place comes": lambda free, claimed, released: (free, claimed + 1, released),
    "a place goes": lambda free, claimed, released: (free - 1, claimed, released),
    "claimed": lambda free, claimed, released: (free - 1, claimed + 1, released),
    "back to the public": lambda free, claimed, released: (free - 1, claimed, released + 1),
    "taken back": lambda free, claimed, released: (free + 1, claimed - 1, released),
    "taken away": lambda free, claimed, released: (free, claimed - 1, released),
}
"""What may happen to a block, as changes of its places: free, claimed, given back."""
BECOMES = text(f"""
    SELECT {sql.BLOCK_STATUS}
      FROM (SELECT CAST(:was AS text) AS status, CAST(:free AS int) AS available, 0 AS invited,
                   CAST(:claimed AS int) AS claimed, 0 AS admitted, CAST(:released AS int) AS released) b,
           (SELECT CAST(:m_free AS int) AS available, 0 AS invited, CAST(:m_claimed AS int) AS claimed,
                   0 AS admitted, CAST(:m_released AS int) AS released) m
""")
KEPT = [machine for machine in STATE_MACHINES if machine.column]
each_machine = pytest.mark.parametrize("machine", STATE_MACHINES, ids=lambda machine: machine.name)


def test_everything_that_has_states_is_drawn(app: Flask) -> None:
    found = {tuple(row) for row in db.session.execute(STATEFUL) if row.table_name not in NOT_OURS}
    assert found == {machine.column for machine in KEPT}


@pytest.mark.parametrize("machine", KEPT, ids=lambda machine: machine.name)
def test_the_database_knows_the_same_states(app: Flask, machine: StateMachine) -> None:
    assert machine.column
    checks = db.session.scalars(CHECKS, {"table": machine.column[0]})
    assert set(machine.states) in [set(re.findall(r"'(\w+)'", check)) for check in checks]


@each_machine
def test_every_state_can_be_reached(machine: StateMachine) -> None:
    reached, before = set(machine.initial_states), set[str]()
    while reached != before:
        before = set(reached)
        reached |= {other for one, other in machine.transition_pairs if one in reached}
    assert reached == set(machine.states)


def test_a_label_of_an_unknown_transition_is_refused() -> None:
    with pytest.raises(ValueError, match="Work"):
        render_mermaid(replace(STATE_MACHINES[-1], transition_labels={("done", "ready"): "never"}))


def test_what_is_passed_through_is_no_step_of_the_database() -> None:
    application = next(item for item in STATE_MACHINES if item.name == "Application")
    assert ("submitted", "ready") in application.stored_transitions and (
        "submitted",
        "approved",
    ) not in application.stored_transitions


def test_a_step_that_is_not_drawn_is_refused(app: Flask) -> None:
    """The guard that stands while the guides are followed; without it the step is taken."""
    add_job("ready", timedelta())
    with transaction_engine(db.engine).begin() as connection:
        steps.guard(connection)
    try:
        with pytest.raises(DBAPIError, match="no such step of outbox: ready -> done"):
            _end()
    finally:
        with transaction_engine(db.engine).begin() as connection:
            steps.unguarded(connection)
    _end()


def test_a_block_becomes_what_is_drawn_and_nothing_else(app: Flask) -> None:
    """Every way of up to six changes, from a block of two places, by the expression that the service uses."""
    seen, found = {(states.OPEN, 2, 0, 0)}, set[Transition]()
    fresh = set(seen)
    for _ in range(6):
        fresh = {then for was in fresh for then in _after(*was, found)} - seen
        seen |= fresh
    drawn = {(one, other) for one, others in states.BLOCK_STEPS.items() for other in others}
    assert found == drawn


def _after(was: str, free: int, claimed: int, released: int, found: set[Transition]) -> set[tuple[str, int, int, int]]:
    """What the block may be after one change; its steps are added to those found."""
    reached = set()
    for flow in FLOWS.values():
        then = flow(free, claimed, released)
        if min(then) >= 0 and max(then) <= 2:
            names = ("m_free", "m_claimed", "m_released")
            moves = {name: new - old for name, new, old in zip(names, then, (free, claimed, released), strict=True)}
            given = {"was": was, "free": free, "claimed": claimed, "released": released, **moves}
            became = db.session.scalars(BECOMES, given).one()
            reached.add((became, *then))
            found |= {(was, became)} if became != was else set()
    return reached


def _end() -> None:
    with transaction() as session:
        session.execute(text("UPDATE outbox SET state = 'done', done_at = now()"))
