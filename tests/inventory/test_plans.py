"""Lists of stock read a small part of their indexes, whatever is asked: what PostgreSQL says it did.

An event of 20,000 items among others; every question in every order, as it is planned for its values and, where a
statement is prepared, as it is planned for any.
"""

from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url

from app.core.db import DIALECT
from app.inventory import item_list, item_list_sql, item_search, reminders
from app.inventory.item_fields import DECIMAL_PLACES, ITEM_FIELDS
from app.inventory.item_list import SCANNED_PER_ROW, SECOND_SCAN_FACTOR, UNINDEXED_SCAN
from app.inventory.item_list_sql import SORTS, QueryShape
from benchmarks.seed_inventory import seed_items, stock_event
from tests.plans import EXPLAIN, count_rows, describe, explain_prepared, nodes, prepare

COUNT, LIMIT = 20_000, 20
PAGE = LIMIT + 1
# A walk counts twice what it passes: once to look, again to say where it stopped.
WALK, FURTHEST = 2 * SCANNED_PER_ROW * PAGE + PAGE, 2 * SCANNED_PER_ROW * SECOND_SCAN_FACTOR * PAGE + PAGE
WORD_SCAN = COUNT // 10
"""The second scan for words here: small, so that a search by index that reads too much is noticed."""
WORD_WALK = 2 * WORD_SCAN
POINTED_AT = ("pk_inventory_item", "pk_event")
Statement = tuple[str, dict[str, Any], bool | None]


@pytest.fixture
def connection(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as opened:
        yield opened


@pytest.fixture
def event(connection: psycopg.Connection[Any]) -> str:
    """An event among others, one of whose items is rare in every way."""
    event, other = stock_event(connection, 1), stock_event(connection, 2)
    seed_items(connection, event, COUNT)
    seed_items(connection, other, COUNT // 10, first=COUNT)
    rare = ", ".join(f"{item} = 'Zweites {item}'" for item in ("supplier", "category", "unit", "storage_location"))
    connection.execute(
        f"UPDATE inventory_item SET {rare}, reorder_level = 10000, expiry_date = '2026-01-01' WHERE sku = 'SKU-0012345'"
    )
    connection.commit()
    connection.autocommit = True
    connection.execute("VACUUM (FULL) inventory_item")  # what earlier tests left behind makes indexes look dear
    connection.execute("VACUUM (ANALYZE) inventory_item")
    return event


# What is asked, and how many items may be read for a page of twenty by name and in the other orders.
QUESTIONS: list[tuple[dict[str, Any], int, int]] = [
    ({}, PAGE, PAGE),
    ({"sku": "SKU-0000017"}, 1, 1),
    ({"sku": "nothing"}, 0, 0),
    ({"name": "nothing"}, 0, WALK),
    *(
        ({name: value}, PAGE, FURTHEST)
        for name, value in (
            ("category", "beer"),
            ("supplier", "meatco"),
            ("storage_location", "bar west"),
            ("unit", "case"),
            ("low_stock", False),
            ("low_stock", True),
        )
    ),
    *(({name: f"zweites {name}"}, 1, WALK) for name in ("supplier", "category", "unit", "storage_location")),
    *(
        ({name: "nothing"}, 0, WALK)
        for name in (
            "product_type",
            "category",
            "brand",
            "supplier",
            "barcode",
            "storage_location",
            "batch_number",
            "unit",
        )
    ),
    ({"batch_number": "B0031"}, PAGE, WALK),
    ({"category": "beer", "supplier": "meatco"}, WALK, FURTHEST),
    ({"category": "beer", "batch_number": "B0031"}, WALK, WALK),
    ({"category": "beer", "supplier": "zweites supplier"}, WALK, WALK),
    ({"expiry_date": date(2027, 3, 3)}, WALK, WALK),
    ({"expiry_date": date(2026, 1, 1)}, WALK, WALK),
    ({"expiring_before": date(2027, 4, 1)}, WALK, WALK),
    ({"expiring_before": date(2026, 6, 1)}, WALK, WALK),
    ({"category": "beer", "low_stock": True}, WALK, WALK),
    ({"q": "rare1"}, WORD_WALK, WORD_WALK),
    ({"q": "sku-0012345"}, WORD_WALK, WORD_WALK),
    ({"q": "rare1 lager"}, WORD_WALK, WORD_WALK),
    ({"q": "nothing"}, WORD_WALK, WORD_WALK),
    ({"q": "rare1", "category": "beer"}, WALK, WALK),
    ({"q": "kapana meatco"}, WORD_WALK, WORD_WALK),
    ({"on_hand": Decimal("17.5")}, 2 * UNINDEXED_SCAN, 2 * UNINDEXED_SCAN),
    ({"on_hand": Decimal(0)}, 2, 2 * UNINDEXED_SCAN),
    ({"category": "beer", "on_hand": Decimal("17.5")}, 2 * UNINDEXED_SCAN, 2 * UNINDEXED_SCAN),
    *(
        ({column.attribute: Decimal("12345")}, 2 * UNINDEXED_SCAN, 2 * UNINDEXED_SCAN)
        for column in ITEM_FIELDS
        if column.kind in DECIMAL_PLACES
    ),
    ({"notes": "nothing"}, 2 * UNINDEXED_SCAN, 2 * UNINDEXED_SCAN),
    ({"image_url": "https://example.com/a.png"}, 2 * UNINDEXED_SCAN, 2 * UNINDEXED_SCAN),
]


def asked(event: str, given: dict[str, Any], sort: str) -> list[Statement]:
    """The statements that a page took."""
    seen: list[Statement] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_list, "fetch_rows", _noting(item_list.fetch_rows, seen))
        item_list.list_items_of_event(event, given, sort=sort, limit=LIMIT, after=None)
    return seen


def _noting(run: Callable[..., Any], seen: list[Statement]) -> Callable[..., Any]:
    def noted(statement: str, values: Any, *, prepare: bool | None = None) -> Any:
        seen.append((statement, dict(values), prepare))
        return run(statement, values, prepare=prepare)

    return noted


def plans(connection: psycopg.Connection[Any], statement: Statement) -> Iterator[dict[str, Any]]:
    """What PostgreSQL did for these values, and what it does with a plan for any."""
    text, values, is_prepared = statement
    yield connection.execute(f"{EXPLAIN} {text}", values).fetchall()[0][0][0]["Plan"]
    if is_prepared is False:
        return
    prepare(connection, "page", text)
    yield explain_prepared(connection, "page", text, values)
    connection.execute("DEALLOCATE page")
    connection.execute("RESET plan_cache_mode")


def read(plan: dict[str, Any]) -> int:
    """How many items were read, discarded ones included. Filters that stand above a scan read what it gives."""
    items = [node for node in nodes(plan) if node.get("Relation Name") == "inventory_item"]
    assert all(item["Node Type"] != "Seq Scan" for item in items), describe(plan)
    return round(sum(count_rows(item) for item in items if item.get("Index Name") != "pk_inventory_item"))


def every_filter_in_every_order_reads_little(connection: psycopg.Connection[Any], event: str) -> None:
    assert {name for given, *_ in QUESTIONS for name in given} >= {column.attribute for column in ITEM_FIELDS}
    for (given, by_name, otherwise), sort in product(QUESTIONS, [sign + name for name in SORTS for sign in ("", "-")]):
        most = by_name if sort.endswith("name") else otherwise
        found = asked(event, given, sort)
        assert len(found) <= 3, f"{given} {sort}"
        for statement in found:
            for plan in plans(connection, statement):
                assert read(plan) <= most, f"{given} {sort}: {read(plan)}\n{describe(plan)}"


def common_words_are_read_from_the_list_alone(connection: psycopg.Connection[Any], event: str) -> None:
    """They may stand far down: then the list is walked to them, but no item on the way is touched."""
    for q, sort in product(("lager", "lager rooibos", "wrist blu"), SORTS):
        for statement in asked(event, {"q": q}, sort):
            if item_search.WORD_ENTRIES_SQL.split("(")[0] in statement[0]:
                continue
            for plan in plans(connection, statement):
                walks = [node for node in nodes(plan) if "Index Name" in node and node["Index Name"] not in POINTED_AT]
                kinds = {walk["Node Type"] for walk in walks}
                assert kinds == {"Index Only Scan"}, f"{q} {sort}\n{describe(plan)}"


def pages_further_on_begin_where_the_last_one_ended(connection: psycopg.Connection[Any], event: str) -> None:
    for given, sort in product(({}, {"category": "beer"}, {"low_stock": False}), SORTS):
        page = item_list.list_items_of_event(event, given, sort=sort, limit=50, after=None)
        shape = QueryShape(frozenset(given), sort, True, PAGE)
        assert page.after is not None
        values = {"event": event, "is_admin": True, "event_scope": "{}", **given}
        values |= {"last_key": page.after[0], "last_id": page.after[1]}
        text = (
            item_list_sql.scan_sql(shape, SCANNED_PER_ROW * PAGE)
            if shape.remaining_filters
            else item_list_sql.index_sql(shape)
        )
        for plan in plans(connection, (text, values, False if shape.remaining_filters else None)):
            assert read(plan) <= (WALK if shape.remaining_filters else PAGE), f"{given} {sort}\n{describe(plan)}"


def reminders_read_what_they_tell(connection: psycopg.Connection[Any], event: str) -> None:
    for statement in (
        reminders.list_low_items_query(event),
        reminders.list_expiring_items_query(event, date(2026, 6, 1)),
    ):
        text = str(statement.compile(dialect=DIALECT, compile_kwargs={"literal_binds": True}))
        found = connection.execute(f"{EXPLAIN} {text}")
        assert read(found.fetchall()[0][0][0]["Plan"]) <= reminders.MAX_LISTED_ITEMS + 1, text


def words_are_found_before_postgresql_has_seen_them(connection: psycopg.Connection[Any], event: str) -> None:
    connection.execute("DELETE FROM pg_statistic WHERE starelid = %s::regclass", (item_search.INDEX_NAME,))
    for q, count in (("rare1", 20), ("lager rooibos", 0), ("sku-0012345", 1)):
        assert len(item_list.list_items_of_event(event, {"q": q}, sort="name", limit=20, after=None).rows) == count


def test_lists_read_a_small_part(
    connection: psycopg.Connection[Any], event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_list, "WORD_SCAN", WORD_SCAN)
    every_filter_in_every_order_reads_little(connection, event)
    pages_further_on_begin_where_the_last_one_ended(connection, event)
    reminders_read_what_they_tell(connection, event)
    words_are_found_before_postgresql_has_seen_them(connection, event)
    monkeypatch.setattr(item_list, "WORD_SCAN", COUNT // 5)
    common_words_are_read_from_the_list_alone(connection, event)
