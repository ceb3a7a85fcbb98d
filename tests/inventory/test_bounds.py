"""An item holds at most 999,999,999.999 of anything, whichever way it comes; what it holds goes out and comes back."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.outbox.executor import run_due_jobs
from app.inventory import adjustment_sql
from tests.factories.inventory import Stock, assert_quantities_match_movements, build_csv
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently

MOST = 999_999_999.999
REPORTS = ("summary", "valuation", "movements", "expiry", "reorder")


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


def ago(minutes: int) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()


def test_what_goes_beyond_the_limit_is_refused_with_the_figures(stock: Stock) -> None:
    item = stock.item(onHand=0)
    assert data(stock.adjust(item, 999_999_999))["onHand"] == 999_999_999
    for _ in range(10):
        answer = stock.adjust(item, 999_999_999)
        assert read_error(answer) == (409, "QUANTITY_TOO_LARGE")
        assert answer.get_json()["data"]["onHand"] == 999_999_999
    assert data(stock.adjust(item, 0.999))["onHand"] == MOST
    assert read_error(stock.adjust(item, 0.001)) == (409, "QUANTITY_TOO_LARGE")
    assert stock.read(item)["onHand"] == MOST and len(stock.book(item)) == 2
    assert_quantities_match_movements()


def test_the_other_buckets_and_other_ways_have_the_same_limit(stock: Stock) -> None:
    item = stock.item(onHand=MOST)
    assert data(stock.adjust(item, MOST, bucket="reserved"))["available"] == 0
    for bucket in ("reserved", "damaged"):
        assert read_error(stock.adjust(item, MOST, bucket=bucket)) == (409, "INSUFFICIENT_STOCK")
    path = f"{stock.path}/items/{item['id']}"
    for name in ("onHand", "reserved", "damaged"):
        assert list_problems(stock.owner.patch(path, {name: 1_000_000_000})) == {name: "too_large"}
        assert list_problems(stock.owner.post(f"{stock.path}/items", stock.body(**{name: 1e9}))) == {name: "too_large"}
    assert list_problems(stock.adjust(item, counted=1_000_000_000))["counted"] == "too_large"
    answer = stock.sheet(build_csv("A,Lager,1,1,1,1000000000,0,0"))
    assert answer.get_json()["data"]["errors"][0]["code"] == "too_large"


def test_late_movements_have_the_limit_as_well(stock: Stock) -> None:
    item = stock.item(onHand=0)
    assert data(stock.adjust(item, 999_999_999, occurredAt=ago(30)))["onHand"] == 999_999_999
    assert read_error(stock.adjust(item, 999_999_999, occurredAt=ago(40))) == (409, "QUANTITY_TOO_LARGE")
    data(stock.adjust(item, counted=0))
    for turn in range(12):
        assert stock.adjust(item, 999_999_999, occurredAt=ago(60 + turn)).status_code == 200
    assert read_error(stock.adjust(item, counted=1, occurredAt=ago(20))) == (409, "QUANTITY_TOO_LARGE")
    assert stock.read(item)["onHand"] == 0
    assert stock.owner.get(f"{stock.path}/variance.csv").status_code == 200
    assert_quantities_match_movements()


def test_at_once_no_more_than_the_limit_gets_in(stock: Stock) -> None:
    item = stock.item(onHand=0)
    answers = run_concurrently(8, lambda _: stock.adjust(item, 400_000_000).status_code)
    assert sorted(answers) == [200] * 2 + [409] * 6
    assert stock.read(item)["onHand"] == 800_000_000
    assert_quantities_match_movements()


@pytest.mark.control
def test_without_the_limit_the_book_holds_what_an_import_refuses(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjustment_sql, "QUANTITY_LIMIT_SQL", "true")
    adjustment_sql.adjustment_sql.cache_clear()
    item = stock.item(onHand=0)
    assert [stock.adjust(item, 999_999_999).status_code for _ in range(2)] == [200, 200]
    adjustment_sql.adjustment_sql.cache_clear()
    assert read_error(stock.sheet(stock.export())) == (422, "IMPORT_REJECTED")


def full(stock: Stock, count: int) -> None:
    """So many items that hold all that an item can hold, at the highest prices."""
    header = "sku,name,category,supplier,unit,costPrice,sellPrice,parLevel,minOrderQty,reorderLevel,onHand,reserved"
    header += ",damaged,expiryDate"
    lines = [
        f"F-{n},Item {n},Top,Dear,case,{MOST},{MOST},{MOST},{MOST},{MOST},{MOST},0,{MOST if n % 2 else 0},2027-01-01"
        for n in range(count)
    ]
    assert data(stock.sheet("\n".join([header, *lines]) + "\n"))["created"] == count


def test_an_export_at_the_limit_imports_back_unchanged(client: Client, stock: Stock) -> None:
    full(stock, 10)
    exported = stock.export()
    assert data(stock.sheet(exported))["unchanged"] == 10
    copy = Stock(client)
    assert data(copy.sheet(exported))["created"] == 10
    assert copy.export() == exported
    assert_quantities_match_movements()


@pytest.mark.slow
def test_reports_orders_and_documents_of_thousands_of_items_at_the_limit(stock: Stock) -> None:
    full(stock, 3000)
    for item in stock.items(limit=3):
        data(stock.adjust(item, -MOST, bucket="onHand") if not item["damaged"] else stock.adjust(item, counted=MOST))
    for name in REPORTS:
        for form in ("json", "csv"):
            query = {"type": name, "format": form}
            answer = stock.owner.get(f"{stock.path}/reports", query_string=query)
            assert answer.status_code == 200, answer.get_data(as_text=True)[:500]
            assert len(answer.get_data()) > 100
        job = data(stock.owner.get(f"{stock.path}/reports", query_string={"type": name, "format": "pdf"}), 202)
        run_due_jobs(worker="test")
        told = data(stock.owner.get(f"{stock.path}/reports", query_string={"jobId": job["jobId"]}))
        assert told["status"] == "done", told
    worth = data(stock.owner.get(f"{stock.path}/reports", query_string={"type": "valuation"}))["totals"]
    assert worth["costValueMinor"] > 2999 * 9.9e19
    assert stock.owner.get(f"{stock.path}/variance.csv").status_code == 200
    for _ in range(2):
        ordered = data(stock.owner.post(f"{stock.path}/reorder/apply", {}))
    order: Any = ordered["orders"][0] if ordered["orders"] else None
    assert order is None or stock.owner.get(order["sheetUrl"]).status_code == 200
