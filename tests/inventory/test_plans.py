"""Lists of stock use their indexes among 20,000 items: what EXPLAIN says, and what is never read."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, select
from sqlalchemy.dialects import postgresql

from app.events import demo
from app.inventory.filters import conditions
from app.inventory.queries import ITEM, SORTS, listed
from benchmarks.seed_events import ORGANISER
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
    ({"low_stock": True}, "name", "ix_inventory_item_low"),
    ({"q": "lager"}, "name", "ix_inventory_item_name"),
    ({"category": "beer"}, "name", "ix_inventory_item_name"),
    ({"q": "rare1"}, "name", "pk_inventory_item"),
    ({"batch_number": "b0031"}, "name", "pk_inventory_item"),
    ({"q": "rare1", "supplier": "meatco"}, "name", "pk_inventory_item"),
]


def test_lists_read_by_their_indexes(connection: psycopg.Connection[Any], app: Flask) -> None:
    event, other = stock_event(connection, 1), stock_event(connection, 2)
    seed_items(connection, event, COUNT)
    seed_items(connection, other, COUNT, first=COUNT)
    caller = demo.caller(ORGANISER)
    for filters, sort, index in LISTS:
        statement = listed(caller, event, **filters).order_by(SORTS[sort], ITEM.id).limit(21)
        compiled = statement.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})  # type: ignore[no-untyped-call]
        found = plan(connection, str(compiled), None)
        assert index in found and "Seq Scan" not in found, f"{filters} {sort}\n{found}"
        assert removed(found) < 1500, f"{filters} {sort}\n{found}"


def test_looking_first_reads_the_index_of_words(connection: psycopg.Connection[Any], app: Flask) -> None:
    event = stock_event(connection, 1)
    seed_items(connection, event, COUNT)
    for filters in ({"q": "rare1"}, {"batch_number": "B0031"}, {"q": "rare0 lager"}):
        wanted = select(ITEM.id).where(ITEM.event_id == event, *conditions(event, filters)).limit(2001)
        compiled = wanted.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})  # type: ignore[no-untyped-call]
        found = plan(connection, str(compiled), None)
        assert "ix_inventory_item_search" in found, f"{filters}\n{found}"
