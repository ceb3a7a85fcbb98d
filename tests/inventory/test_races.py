"""What happens when everybody presses at once; each guard is taken away once, to see that the test would notice."""

from collections import Counter

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from app.inventory import adjustment_sql
from app.inventory.actions import purchase_orders
from tests.factories.inventory import Stock, assert_quantities_match_movements, build_csv
from tests.http import Client, data
from tests.races import run_concurrently
from tests.unguarded import without_rules


def number(statement: str) -> int:
    with transaction() as session:
        return int(session.scalar(text(statement)) or 0)


def test_of_sixty_four_who_take_one_of_ten_ten_get_it(client: Client) -> None:
    stock = Stock(client)
    item = stock.item(onHand=10, reorderLevel=4)
    answers = Counter(run_concurrently(64, lambda _: stock.adjust(item, -1, reason="sold").status_code))
    assert answers == {200: 10, 409: 54}
    assert stock.read(item)["onHand"] == 0 and len(stock.book(item)) == 11
    assert number("SELECT count(*) FROM inventory_alert") == 1, "the level was crossed once"
    assert_quantities_match_movements()


@pytest.mark.control
def test_without_the_guard_more_would_get_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table has the rule as well; with both gone, all get one."""
    monkeypatch.setattr(adjustment_sql, "ENOUGH_STOCK_SQL", "true")
    adjustment_sql.adjustment_sql.cache_clear()
    with without_rules("ck_inventory_item_enough"):
        stock = Stock(client)
        item = stock.item(onHand=10)
        assert Counter(run_concurrently(16, lambda _: stock.adjust(item, -1).status_code)) == {200: 16}
    adjustment_sql.adjustment_sql.cache_clear()


def test_counts_and_sales_at_once_add_up(client: Client) -> None:
    stock = Stock(client)
    item = stock.item(onHand=100)

    def act(turn: int) -> int:
        if turn % 3 == 0:
            return stock.adjust(item, counted=50 + turn).status_code
        if turn % 3 == 1:
            return stock.adjust(item, -1, occurredAt=f"2026-01-{1 + turn % 28:02}T10:00:00Z").status_code
        return stock.adjust(item, -1).status_code

    assert set(run_concurrently(24, act)) == {200}
    assert_quantities_match_movements()


def test_of_many_who_want_a_sku_one_gets_it(client: Client) -> None:
    stock = Stock(client)
    names = ("bee-1", "BEE-1", "Bee-1", "bEE-1")
    bodies = [stock.body(sku=names[n % 4]) for n in range(16)]
    answers = Counter(run_concurrently(16, lambda n: stock.owner.post(f"{stock.path}/items", bodies[n]).status_code))
    assert answers == {201: 1, 409: 15} and len(stock.items()) == 1


@pytest.mark.control
def test_without_the_index_many_would_get_it(client: Client) -> None:
    stock = Stock(client)
    look = "SELECT count(*), pg_sleep(0.05) FROM inventory_item WHERE sku_key = 'bee-1'"
    add = "INSERT INTO inventory_item (id, event_id, name, sku, sku_key) VALUES (:id, :event, 'A', 'bee-1', 'bee-1')"

    def plainly(turn: int) -> None:
        with client.flask.application.app_context(), transaction() as session:
            if not session.execute(text(look)).scalar():
                session.execute(text(add), {"id": f"{turn:024x}", "event": stock.event["id"]})

    with without_rules("uq_inventory_item_sku"):
        run_concurrently(8, plainly)
        assert number("SELECT count(*) FROM inventory_item") > 1


def order(stock: Stock) -> int:
    return int(data(stock.owner.post(f"{stock.path}/reorder/apply"))["items"])


def test_sixteen_reorders_at_once_order_once(client: Client) -> None:
    stock = Stock(client)
    items = [stock.item(onHand=0, reorderLevel=5, parLevel=10, supplier=f"S{n % 2}") for n in range(6)]
    assert sum(run_concurrently(16, lambda _: order(stock))) == 6
    assert {stock.read(item)["onOrder"] for item in items} == {24}
    assert number("SELECT count(*) FROM inventory_order_line") == 6
    assert_quantities_match_movements()


@pytest.mark.control
def test_without_the_lock_they_would_order_more(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "WITH due AS MATERIALIZED (SELECT found.*, pg_sleep(0.05) FROM ("
    unlocked = (
        str(purchase_orders.CREATE_ORDERS_SQL).replace("WITH due AS (", slow).replace("FOR NO KEY UPDATE)", ") found)")
    )
    monkeypatch.setattr(purchase_orders, "CREATE_ORDERS_SQL", text(unlocked))
    stock = Stock(client)
    stock.item(onHand=0, reorderLevel=5, parLevel=10)
    assert sum(run_concurrently(8, lambda _: order(stock))) > 1


def test_imports_and_sales_at_once_add_up(client: Client) -> None:
    stock = Stock(client)
    items = [stock.item(sku=f"S-{n}", onHand=1000) for n in range(10)]
    sheet = build_csv(*(f"S-{n},Item,1,1,1,{500 + n},0,0" for n in range(20)))

    def act(turn: int) -> int:
        if turn % 4 == 0:
            return stock.sheet(f"{sheet}Z-{turn},Z,1,1,1,1,0,0\n").status_code
        return stock.adjust(items[turn % 10], -1).status_code

    assert set(run_concurrently(16, act)) == {200}
    assert len(stock.items()) == 24
    assert_quantities_match_movements()


def test_the_same_sheet_sixteen_times_at_once_counts_once(client: Client) -> None:
    stock = Stock(client)
    sheet = build_csv(*(f"S-{n},Item,1,1,1,{n},0,0" for n in range(1, 50)))
    made = run_concurrently(16, lambda _: data(stock.sheet(sheet))["created"])
    assert sorted(made) == [0] * 15 + [49]
    assert number("SELECT count(*) FROM inventory_movement") == 49
