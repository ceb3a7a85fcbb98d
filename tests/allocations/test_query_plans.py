"""The will-call list reads indexes among 20,000 slots of an event, and admission changes no indexed column."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, text

from app.allocations import will_call, will_call_sql
from app.core.db import db
from benchmarks.seed_allocations import seed_block, seed_event
from tests.factories.accounts import create_account

COUNT = 20_000


@pytest.fixture
def connection(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as opened:
        yield opened


def test_will_call_list_uses_its_indexes(connection: psycopg.Connection[Any]) -> None:
    made = seed_event(connection, create_account("organiser").id)
    seed_block(connection, made, "claimed", COUNT)
    values = {"event_id": made["event"], "event_scope": f"{{{made['organiser']}}}", "is_admin": False}
    values |= {f"admission_{name}": value for name, value in values.items() if name != "event_id"}
    for q, index in (
        (None, "ix_allocation_slot_gate"),
        ("frieda amupolo", "ix_allocation_slot_search"),
        ("fan77.", "ix_allocation_slot_search"),
        ("frieda o’amupolo", "ix_allocation_slot_search"),
        ("a", "ix_allocation_slot_"),
    ):
        filters = ["q"] if q else []
        given = {**values, "q": will_call.build_tsquery(q, made["event"])} if q else values
        query = f"EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) {will_call_sql.page_sql(filters, 21)}"
        found = "\n".join(row[0] for row in connection.execute(query, given).fetchall())
        assert index in found and "Seq Scan on allocation_slot" not in found, f"{q}:\n{found}"


def test_admission_changes_no_indexed_column(app: Flask) -> None:
    """A changed column in the keys or the condition of an index would make each admission write all indexes."""
    definitions = text("SELECT indexdef FROM pg_indexes WHERE tablename = 'allocation_slot'")
    for name in ("status", "version", "admitted_at", "admitted_by", "gate,", "nonce"):
        assert not [row for row in db.session.scalars(definitions) if name in row.partition(" USING ")[2]], name
