"""A page of the directory costs the same among a thousand merchants and a hundred thousand."""

import json
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.caller import Caller
from app.accounts.permissions import Grant
from app.core.db import db
from app.core.transaction import transaction
from app.invitations import directory
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_event
from tests.http import Client

INSERT_MERCHANTS = """
    WITH made AS (
        INSERT INTO account (id, email, email_verified_at, password_version, name, roles, version)
        SELECT lpad(to_hex(n), 24, '0'), 'm' || n || '@example.com', CASE WHEN n % 10 > 0 THEN now() END, 1, 'M',
               '{merchant}', 1
          FROM generate_series(CAST(:low AS int), CAST(:high AS int)) AS n RETURNING id
    )
    INSERT INTO merchant_profile (account_id, business_name, city, category)
    SELECT lpad(to_hex(n), 24, '0'), md5(n::text) || ' ' || (ARRAY['Kapana', 'Café', 'Omuramba'])[1 + n % 3],
           (ARRAY['Windhoek', 'Swakopmund', 'Lüderitz'])[1 + n % 3], (ARRAY['food', 'crafts'])[1 + n % 2]
      FROM generate_series(CAST(:low AS int), CAST(:high AS int)) AS n
"""
FILTERS: list[dict[str, Any]] = [
    {},
    {"city": "Windhoek"},
    {"category": "food"},
    {"q": "kapana"},
    {"q": "cafe", "category": "crafts"},
    {"q": "c4ca"},
    {"city": "nowhere"},
]


def insert_merchants(low: int, high: int) -> None:
    with transaction() as session:
        session.execute(text("SET LOCAL session_replication_role = replica; SET LOCAL statement_timeout = 0"))
        session.execute(text(INSERT_MERCHANTS), {"low": low, "high": high})
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE merchant_profile"))
        connection.execute(text("VACUUM ANALYZE account"))


def count_pages(statement: Any) -> int:
    """The number of buffer pages that the first page of the list reads."""
    order = directory.DIRECTORY_SORTS["businessName"]
    page_query = statement.add_columns(order.label("sort_key")).order_by(order, "id").limit(21)
    compiled: Any = page_query.compile(db.engine)
    state = compiled.construct_expanded_state(compiled.params)
    explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {state.statement}"
    row = db.session.connection().exec_driver_sql(explain, dict(state.parameters)).scalar()
    plan = (json.loads(row) if isinstance(row, str) else row)[0]["Plan"]
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


@pytest.mark.timeout(180)
def test_page_costs_the_same_among_a_hundred_thousand_merchants(app: Flask, client: Client) -> None:
    owner_account = create_account("organiser")
    new_event = create_event(create_signed_in_client(client, owner_account))
    caller = build_caller(owner_account)
    costs: dict[str, list[int]] = {str(filter_): [] for filter_ in FILTERS}
    for low, high in ((1, 1_000), (1_001, 100_000)):
        insert_merchants(low, high)
        for filters in FILTERS:
            costs[str(filters)].append(count_pages(directory.list_directory_query(caller, new_event["id"], **filters)))
    for filters, (few, many) in costs.items():
        assert many <= 3 * few + 250, f"{filters}: {costs}"


def build_caller(owner: Any) -> Any:
    return Caller(
        owner.id,
        "s",
        owner.email,
        owner.name,
        None,
        True,
        frozenset({"organiser"}),
        None,
        None,
        1,
        grant=Grant((owner.id,)),
    )
