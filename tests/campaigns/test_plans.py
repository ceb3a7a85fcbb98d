"""Pages and searches use their indexes among 8,000 holders of two events, as EXPLAIN shows."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, text

from app.allocations.will_call import build_tsquery
from app.campaigns import audience_sql
from app.campaigns.filtered_people_sql import build_filter_parameters
from benchmarks.seed_campaigns import seed_crowd
from tests.events.test_plans import count_discarded, explain
from tests.factories.accounts import create_account

COUNT = 8_000


@pytest.fixture
def connection(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
        yield connection


@pytest.fixture
def event(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    owner = create_account("organiser")
    seed_crowd(connection, create_account("organiser").id, COUNT)
    return seed_crowd(connection, owner.id, COUNT)


def test_pages_and_searches_read_no_more_than_they_return(
    connection: psycopg.Connection[Any], event: dict[str, Any]
) -> None:
    statement = text(
        audience_sql.with_reachability_sql(audience_sql.next_page_sql("event_ticket_holders"), ("email", "sms", "push"))
    )
    values = {"event_id": event["event"], "after": "holder15", "most": 500, "respect": True}
    plan = explain(connection, statement, values)
    for index in ("ix_ticket_holders", "ix_allocation_slot_holders"):
        assert index in plan, plan
    assert "Seq Scan on ticket" not in plan and "Seq Scan on allocation_slot" not in plan, plan
    assert count_discarded(plan) < 1500, plan

    scope = f"{{{event['organiser']}}}"
    parameters = {"event_id": event["event"], "event_scope": scope, "is_admin": False, "plain": "x"}
    for q in ("amupolo 17", "holder1234", "fan7."):
        plan = explain(connection, audience_sql.FIND_PEOPLE, {**parameters, "words": build_tsquery(q, event["event"])})
        assert "ix_ticket_search" in plan and "ix_allocation_slot_search" in plan, plan
        assert count_discarded(plan) < 1500, plan


def test_a_page_of_filtered_people_reads_the_chosen_roles_only(
    connection: psycopg.Connection[Any], event: dict[str, Any]
) -> None:
    statement = text(audience_sql.with_reachability_sql(audience_sql.next_page_sql("filtered_people"), ("email",)))
    chosen = build_filter_parameters({"roles": ["ticket_holders"], "admitted": False})
    values = {"event_id": event["event"], "after": "holder15", "most": 500, "respect": True, **chosen}
    plan = explain(connection, statement, values)
    assert "ix_ticket_holders" in plan and "Seq Scan on ticket" not in plan, plan
    assert "merchant_application" not in plan and "participation" not in plan, plan
    assert count_discarded(plan) < 1500, plan
