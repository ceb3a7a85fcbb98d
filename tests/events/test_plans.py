"""Public reads use their indexes among 20,000 events: what EXPLAIN says, and what is never read."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url

from app.core.db import Statement, driver_sql
from app.events import discovery_sql, public_queries
from app.events.discovery_sql import Window
from app.events.filters import active_filters
from benchmarks.seed_events import seed_events, seed_sold
from tests.factories.events import organiser, published
from tests.http import Client

NOW = datetime.now(UTC)
COUNT = 20_000


@pytest.fixture
def connection(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as opened:
        yield opened


def plan(connection: psycopg.Connection[Any], query: Statement, parameters: Any) -> str:
    explain = f"EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, SUMMARY OFF) {driver_sql(query)}"
    rows = connection.execute(explain, parameters).fetchall()
    return "\n".join(row[0] for row in rows)


def removed(found: str) -> int:
    """The most rows that one step read and discarded."""
    lines = [line for line in found.splitlines() if "Rows Removed by Filter" in line]
    return max((int(line.rpartition(":")[2]) for line in lines), default=0)


FILTERS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "startsAt", "ix_event_listed"),
    ({"since": NOW + timedelta(days=300)}, "startsAt", "ix_event_listed"),
    ({"city": "Windhoek"}, "startsAt", "ix_event_listed"),
    ({"category": "music", "since": NOW + timedelta(days=30)}, "startsAt", "ix_event_listed"),
    ({"q": "rare1"}, "startsAt", "ix_event_listed_search"),
    ({"q": "rare1"}, "relevance", "ix_event_listed_search"),
    ({"q": "river lights"}, "startsAt", "ix_event_listed"),
    ({"lat": -22.5, "lng": 17.0, "radius_km": 5.0}, "startsAt", "ix_event_listed_place"),
    ({"lat": -22.5, "lng": 17.0}, "distance", "ix_event_listed_place"),
]


def test_discovery_reads_by_its_indexes(connection: psycopg.Connection[Any]) -> None:
    seed_events(connection, COUNT)
    for filters, sort, index in FILTERS:
        values = active_filters(filters)
        assert values is not None
        query = discovery_sql.discovery_query(frozenset(values), sort, 21, Window(since="since" in values, after=False))
        found = plan(connection, query, {**values, "now": NOW})
        assert index in found and "Seq Scan on event" not in found, f"{filters} {sort}\n{found}"
        assert removed(found) < 1500, f"{filters} {sort}\n{found}"
    words = active_filters({"q": "river lights"})
    near = discovery_sql.discovery_query(frozenset({"q"}), "startsAt", 21, Window(since=False, after=False, near=600))
    found = plan(connection, near, {**(words or {}), "now": NOW})
    assert "ix_event_listed_search" not in found and removed(found) < 600, found
    deep = discovery_sql.discovery_query(frozenset(), "startsAt", 21, Window(since=False, after=True, upcoming=False))
    after = {"after_key": NOW + timedelta(days=900), "after_id": "0" * 24}
    assert removed(plan(connection, deep, {"now": NOW, **after})) < 50


def test_one_event_is_read_by_its_keys(connection: psycopg.Connection[Any], client: Client) -> None:
    made = published(organiser(client))
    seed_events(connection, COUNT)
    seed_sold(connection, made["ticketTypes"][0]["id"], COUNT)
    for query in (public_queries.PAGE, public_queries.INVENTORY):
        found = plan(connection, query, (made["id"],))
        assert "pk_event" in found and "Seq Scan on event" not in found and "on ticket " not in found, found
