"""Pages and searches read by their indexes among 8,000 holders of two events: what EXPLAIN says."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, text

from app.allocations.will_call import build_tsquery
from app.campaigns import audience, recipient_search
from benchmarks.seed_campaigns import seed_crowd
from tests.events.test_plans import plan, removed
from tests.factories.accounts import account

COUNT = 8_000


@pytest.fixture
def connection(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as opened:
        yield opened


@pytest.fixture
def made(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    owner = account("organiser")
    seed_crowd(connection, account("organiser").id, COUNT)
    return seed_crowd(connection, owner.id, COUNT)


def test_pages_and_searches_read_no_more_than_they_give(
    connection: psycopg.Connection[Any], made: dict[str, Any]
) -> None:
    statement = text(
        audience.with_reachability_sql(audience.next_page_sql("event_ticket_holders"), ("email", "sms", "push"))
    )
    values = {"event_id": made["event"], "after": "holder15", "most": 500, "respect": True}
    found = plan(connection, statement, values)
    for index in ("ix_ticket_holders", "ix_allocation_slot_holders"):
        assert index in found, found
    assert "Seq Scan on ticket" not in found and "Seq Scan on allocation_slot" not in found, found
    assert removed(found) < 1500, found

    asked = {"event_id": made["event"], "caller_id": made["organiser"], "everybodys": False, "plain": "x"}
    for q in ("amupolo 17", "holder1234", "fan7."):
        found = plan(connection, recipient_search.FIND, {**asked, "words": build_tsquery(q, made["event"])})
        assert "ix_ticket_search" in found and "ix_allocation_slot_search" in found, found
        assert removed(found) < 1500, found
