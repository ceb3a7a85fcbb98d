"""A scan reads the rows of its place and no others, as EXPLAIN shows, among thousands of slots and imported tickets.

Each statement is planned once for any values, as a prepared one is. The scan that admits is also planned while the tables
are empty, and before PostgreSQL has any statistics: an index of all sold tickets of an event looked as good as that of
their secrets then. Exits and refusals wait for the statistics, which autovacuum makes within a minute or two.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url

import app.gate.scan
from app.admissions.kinds import IN, OUT
from app.allocations.will_call import build_tsquery
from app.core.db import driver_sql
from app.core.ids import NEW_ID_SQL, new_id
from app.core.transaction import write_row
from app.gate.lookup_sql import FIND_PLACES, SEARCH
from app.gate.places import key_params
from app.gate.sql import BY_CODE, scan_sql
from benchmarks.allocations import INSERT_TICKETS
from benchmarks.seed_allocations import seed_block, seed_event
from tests.factories.accounts import create_account
from tests.factories.gate import Gate
from tests.http import Client, data
from tests.plans import EXPLAIN, count_rows, describe, explain_prepared, nodes, prepare

COUNT, MANY, FEW = 8_000, 40_000, 3
LARGE_TABLES = {"ticket", "allocation_slot", "admission", "allocation_slot_event"}
SMALL_TABLES = {"event", "ticket_type"}
STATEMENTS = {"enter": scan_sql(BY_CODE, IN), "leave": scan_sql(BY_CODE, OUT), "refuse": FIND_PLACES[BY_CODE]}
LOG_ENTRIES = f"""
    INSERT INTO admission (id, event_id, place_kind, place_id, ticket_type_id, scan_id, nonce, actor_kind, actor_id,
                           occurred_at)
    SELECT {NEW_ID_SQL}, t.event_id, 'ticket', t.id, t.ticket_type_id, t.id, t.secret, 'person', t.id, now()
      FROM ticket t WHERE t.event_id = %(event)s"""


@pytest.fixture
def connection(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as opened:
        yield opened


@pytest.fixture
def parameters(client: Client, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The parameters of a scan over HTTP."""
    seen: dict[str, Any] = {}

    def note(statement: Any, values: dict[str, Any]) -> Any:
        seen.update(values)
        return write_row(statement, values)

    gate = Gate(client)
    monkeypatch.setattr(app.gate.scan, "write_row", note)
    data(gate.scan(gate.claim()["code"]))
    return {**seen, "slot_ids": []}


def test_scan_reads_only_its_place(connection: psycopg.Connection[Any], parameters: dict[str, Any]) -> None:
    # What earlier tests left behind, and what PostgreSQL knows of it, would decide about the plans.
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")  # invoices are never removed otherwise
        connection.execute("TRUNCATE event CASCADE")
    connection.execute(
        "DELETE FROM pg_statistic WHERE starelid = ANY(%s::regclass[])", [[*LARGE_TABLES, *SMALL_TABLES]]
    )
    made = seed_event(connection, create_account("organiser").id)
    connection.execute("UPDATE event SET reentry = 'counted' WHERE id = %(event)s", made)
    values = {**parameters, "event_id": made["event"], "event_scope": f"{{{made['organiser']}}}"}
    for name, statement in STATEMENTS.items():
        prepare(connection, name, driver_sql(statement))
        _explain(connection, name, {**values, **key_params("NOBODY", None)})
    slots = seed_block(connection, made, "claimed", COUNT)["slots"]
    batch = new_id()
    connection.execute(INSERT_TICKETS, {"event": made["event"], "batch": batch, "count": COUNT})
    connection.execute(LOG_ENTRIES, made)
    (slot_code,) = connection.execute("SELECT code FROM allocation_slot WHERE id = %s", (slots[77],)).fetchone() or ()
    codes = [slot_code, f"{batch}-{COUNT - 7}"]
    _check(connection, values, codes, ["enter"], "planned while the tables were empty")
    connection.execute("DEALLOCATE enter")
    prepare(connection, "enter", driver_sql(STATEMENTS["enter"]))
    _check(connection, values, codes, ["enter"], "without statistics")
    connection.execute("ANALYZE")
    _check(connection, values, codes, STATEMENTS, "after ANALYZE")


def test_search_uses_the_indexes_of_words_and_of_orders(connection: psycopg.Connection[Any]) -> None:
    made = seed_event(connection, create_account("organiser").id)
    connection.execute(INSERT_TICKETS, {"event": made["event"], "batch": new_id(), "count": MANY})
    connection.execute("UPDATE ticket SET order_number = 'o-' || reference WHERE event_id = %(event)s", made)
    connection.execute("VACUUM ANALYZE ticket")
    (order,) = connection.execute("SELECT upper(max(order_number)) FROM ticket").fetchone() or ()
    for q, count in ((order, 1), ("nobody here", 0), ("o'neil", 0), ("nobody o\u2019neil-s", 0)):
        values = {"event_id": made["event"], "words": build_tsquery(q, made["event"]), "q": q}
        ((rows,),) = connection.execute(f"{EXPLAIN} {driver_sql(SEARCH)}", values).fetchall()
        plan = rows[0]["Plan"]
        indexes = {node.get("Index Name") for node in nodes(plan)}
        assert {"ix_ticket_search", "ix_ticket_order_number"} <= indexes and plan["Actual Rows"] == count, describe(
            plan
        )


def _check(
    connection: psycopg.Connection[Any], values: dict[str, Any], codes: list[str], names: Iterable[str], when: str
) -> None:
    for code in codes:
        for name in names:
            plan = _explain(connection, name, {**values, **key_params(code, None)})
            read = [node for node in nodes(plan) if node.get("Relation Name") in LARGE_TABLES]
            too_much = [node for node in read if count_rows(node) > FEW or node["Node Type"] == "Seq Scan"]
            assert read and not too_much, f"{name} {code}, {when}:\n{describe(plan)}"
            assert plan["Actual Rows"] == (name != "leave"), f"{name} {code}, {when}"


def _explain(connection: psycopg.Connection[Any], name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Run a statement, undo what it did, and return its plan."""
    given = {**values, "admission_ids": f"{{{new_id()}}}", "admission_nonce": new_id()}
    with connection.transaction(force_rollback=True):
        return explain_prepared(connection, name, driver_sql(STATEMENTS[name]), given)
