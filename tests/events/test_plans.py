"""Public reads use their indexes among 20,000 events, as EXPLAIN shows."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url

from app.core.db import Statement, driver_sql
from app.events import public_events
from app.events.discovery_sql import EventFilters, FilterValue, Window, discovery_query, filter_values
from benchmarks.seed_events import seed_events, seed_sold
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client

NOW = datetime.now(UTC)
COUNT = 20_000


@pytest.fixture
def connection(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
        yield connection


def explain(connection: psycopg.Connection[Any], query: Statement, parameters: Any) -> str:
    """The plan of a statement that was run."""
    statement = f"EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, SUMMARY OFF) {driver_sql(query)}"
    rows = connection.execute(statement, parameters).fetchall()
    return "\n".join(row[0] for row in rows)


def count_discarded(plan: str) -> int:
    """The highest number of rows that one step read and discarded."""
    lines = [line for line in plan.splitlines() if "Rows Removed by Filter" in line]
    return max((int(line.rpartition(":")[2]) for line in lines), default=0)


FILTERS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "starts_at", "ix_event_listed"),
    ({"since": NOW + timedelta(days=300)}, "starts_at", "ix_event_listed"),
    ({"city": "Windhoek"}, "starts_at", "ix_event_listed"),
    ({"category": "music", "since": NOW + timedelta(days=30)}, "starts_at", "ix_event_listed"),
    ({"q": "rare1"}, "starts_at", "ix_event_listed_search"),
    ({"q": "rare1"}, "relevance", "ix_event_listed_search"),
    ({"q": "river lights"}, "starts_at", "ix_event_listed"),
    ({"lat": -22.5, "lng": 17.0, "radius_km": 5.0}, "starts_at", "ix_event_listed_place"),
    ({"lat": -22.5, "lng": 17.0}, "distance", "ix_event_listed_place"),
]


def test_discovery_reads_by_its_indexes(connection: psycopg.Connection[Any]) -> None:
    seed_events(connection, COUNT)
    for filters, sort, index in FILTERS:
        values = bind_values(**filters)
        query = discovery_query(frozenset(values), sort, 21, Window(since="since" in values, after=False))
        plan = explain(connection, query, values)
        assert index in plan and "Seq Scan on event" not in plan, f"{filters} {sort}\n{plan}"
        assert count_discarded(plan) < 1500, f"{filters} {sort}\n{plan}"


def test_search_for_common_words_reads_the_soonest_events_only(connection: psycopg.Connection[Any]) -> None:
    seed_events(connection, COUNT)
    query = discovery_query(frozenset({"q"}), "starts_at", 21, Window(since=False, after=False, near=600))
    plan = explain(connection, query, bind_values(q="river lights"))
    assert "ix_event_listed_search" not in plan and count_discarded(plan) < 600, plan


def test_page_after_a_cursor_starts_in_the_index(connection: psycopg.Connection[Any]) -> None:
    seed_events(connection, COUNT)
    query = discovery_query(frozenset(), "starts_at", 21, Window(since=False, after=True, upcoming=False))
    cursor = {"after_key": NOW + timedelta(days=900), "after_id": "0" * 24}
    assert count_discarded(explain(connection, query, {**bind_values(), **cursor})) < 50


def test_one_event_is_read_by_its_keys(connection: psycopg.Connection[Any], client: Client) -> None:
    event = create_published_event(create_organiser_client(client))
    seed_events(connection, COUNT)
    seed_sold(connection, event["ticketTypes"][0]["id"], COUNT)
    for query in (public_events.EVENT_PAGE, public_events.TICKET_INVENTORY):
        plan = explain(connection, query, (event["id"],))
        assert "pk_event" in plan and "Seq Scan on event" not in plan and "on ticket " not in plan, plan


def bind_values(**filters: Any) -> dict[str, FilterValue]:
    values = filter_values(EventFilters(**filters))
    assert values is not None
    return {**values, "now": NOW}
