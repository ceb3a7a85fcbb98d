"""Lists of stock use their indexes among 20,000 items: what EXPLAIN says, and what is never read."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, select
from sqlalchemy.dialects import postgresql

from app.inventory.filters import conditions
from app.inventory.queries import ITEM, ROW, SORTS
from benchmarks.seed_inventory import seed_items, stock_event
from tests.events.test_plans import plan, removed

COUNT = 20_000


@pytest.fixture
def connection(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as opened:
        yield opened


LISTS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "name", "ix_inventory_item_name"),
    ({}, "sku", "uq_inventory_item_sku"),
    ({}, "expiryDate", "ix_inventory_item_expiry"),
    ({"sku": "SKU-0000017"}, "name", "uq_inventory_item_sku"),
    ({"q": "rare1"}, "name", "ix_inventory_item_search"),
    ({"q": "lager"}, "name", "ix_inventory_item_name"),
    ({"category": "beer"}, "name", "ix_inventory_item_name"),
    ({"batch_number": "b0031"}, "name", "ix_inventory_item_search"),
    ({"low_stock": True}, "name", "ix_inventory_item_low"),
]


def test_lists_read_by_their_indexes(connection: psycopg.Connection[Any]) -> None:
    event, other = stock_event(connection, 1), stock_event(connection, 2)
    seed_items(connection, event, COUNT)
    seed_items(connection, other, COUNT, first=COUNT)
    for filters, sort, index in LISTS:
        order = SORTS[sort]
        statement = select(*ROW).where(ITEM.event_id == event, *conditions(event, filters)).order_by(order, ITEM.id)
        compiled = statement.limit(21).compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})  # type: ignore[no-untyped-call]
        found = plan(connection, str(compiled), None)
        assert index in found and "Seq Scan" not in found, f"{filters} {sort}\n{found}"
        assert removed(found) < 1500, f"{filters} {sort}\n{found}"
