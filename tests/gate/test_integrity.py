"""`flask ledger verify` compares the gate with its log, and reports what does not agree."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db, transaction_engine
from app.ledger.commands import list_differences
from tests.factories.gate import Gate
from tests.http import Client, data

FIGURES = "the figures of the gate are those of the log, without what was undone"
PLACES = "every admitted place has one first entry in the log, and no other place has one"
DAMAGES = {
    "entry is gone": (
        "DELETE FROM admission WHERE direction = 'in' AND NOT is_reentry AND undone_at IS NULL",
        {FIGURES, PLACES},
    ),
    "exit is gone": ("DELETE FROM admission WHERE direction = 'out'", {FIGURES}),
    "undone entry counts": ("UPDATE admission_tally SET entries = entries + 1", {FIGURES}),
    "other gate": ("UPDATE admission_tally SET gate = gate || ' elsewhere'", {FIGURES}),
    "other quarter": ("UPDATE admission_tally SET quarter = quarter + interval '15 minutes'", {FIGURES}),
    "other type": ("UPDATE admission_tally SET ticket_type_id = reverse(ticket_type_id)", {FIGURES}),
    "ticket admitted by nobody": ("UPDATE ticket SET admitted_at = now() WHERE admitted_at IS NULL", {PLACES}),
    "ticket forgotten": ("UPDATE ticket SET admitted_at = NULL", {PLACES}),
    "slot forgotten": (
        "UPDATE allocation_slot SET status = 'claimed', admitted_at = NULL WHERE status = 'admitted'",
        {PLACES},
    ),
}


@pytest.fixture
def gate(client: Client) -> Gate:
    """A gate with entries of a slot and of tickets, an exit, a re-entry, and an undone entry."""
    gate = Gate(client, reentry="counted")
    secret, undone = gate.sell().secret, gate.sell().secret
    data(gate.scan(gate.claim()["code"], gate="North"))
    data(gate.scan(secret))
    data(gate.scan(secret, direction="out"))
    data(gate.undo(data(gate.scan(undone))["admissionId"]))
    data(gate.scan(secret))
    return gate


def broken_rules() -> set[str]:
    rules: list[str] = []
    return {rules[-1] for _ in list_differences(rules.append)}


def test_nothing_is_reported_after_scans_and_undos(app: Flask, gate: Gate) -> None:
    assert broken_rules() == set()
    assert app.test_cli_runner().invoke(args=["ledger", "verify"]).exit_code == 0


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_reported(app: Flask, gate: Gate, damage: str) -> None:
    statement, rules = DAMAGES[damage]
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(text(statement))
    assert broken_rules() == rules


def test_slots_admitted_before_the_log_are_not_reported(app: Flask, gate: Gate) -> None:
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(text("DELETE FROM admission WHERE place_kind = 'allocation'"))
        connection.execute(text("DELETE FROM admission_tally WHERE gate = 'North'"))
        connection.execute(text("UPDATE allocation_slot_event SET transaction_id = NULL"))
    assert broken_rules() == set()
