"""Archived items: they keep their movements, are never low, and cannot be changed until they are restored."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.inventory.reminders import load_digest
from tests.factories.inventory import Stock, assert_quantities_match_movements, build_csv
from tests.http import Client, data, read_error
from tests.races import run_concurrently


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


def change(stock: Stock, item: dict[str, Any], **fields: Any) -> Any:
    return stock.owner.patch(f"{stock.path}/items/{item['id']}", fields)


def list_names(stock: Stock, **filters: Any) -> list[str]:
    return [item["name"] for item in stock.items(**filters)]


def test_an_archived_item_is_not_changed_until_it_is_restored(stock: Stock) -> None:
    item = stock.item(onHand=10)
    archived = data(change(stock, item, archived=True))
    assert archived["archivedAt"] and archived["version"] == item["version"] + 1
    assert data(change(stock, item, archived=True))["version"] == archived["version"]
    earlier = (datetime.now(UTC) - timedelta(minutes=3)).isoformat()
    refused = (
        change(stock, item, name="Other"),
        stock.adjust(item, -1),
        stock.adjust(item, counted=4),
        stock.adjust(item, -1, occurredAt=earlier),
    )
    assert [read_error(answer)[1] for answer in refused] == ["ITEM_ARCHIVED"] * 4
    assert stock.read(item) == archived and len(stock.book(item)) == 1
    restored = data(change(stock, item, archived=False, name="Other"))
    assert (restored["archivedAt"], restored["name"]) == (None, "Other")
    assert data(stock.adjust(item, -1))["onHand"] == 9
    assert_quantities_match_movements()


def test_an_archived_item_does_not_count_as_low(stock: Stock) -> None:
    low = {"onHand": 1, "reorderLevel": 4, "expiryDate": datetime.now(UTC).date().isoformat()}
    stock.item(name="Tafel", **low)
    archived = stock.item(name="Lager", **low)
    assert list_names(stock, lowStock=True) == ["Lager", "Tafel"]
    assert data(change(stock, archived, archived=True))["lowStock"] is False
    assert list_names(stock, lowStock=True) == ["Tafel"] and list_names(stock, lowStock=False) == []
    assert [item["lowStock"] for item in stock.items(q="lager")] == [False]
    orders = data(stock.owner.post(f"{stock.path}/reorder/apply", {"dryRun": True}))
    assert orders["items"] == 1 and orders["orders"][0]["lines"][0]["name"] == "Tafel"
    summary = data(stock.owner.get(f"{stock.path}/reports"))
    assert (summary["totals"]["items"], summary["totals"]["lowStock"]) == (2, 1)
    digest = load_digest(stock.event["id"])
    assert digest and [item.name for item in (*digest.low, *digest.expiring)] == ["Tafel", "Tafel"]


@pytest.mark.parametrize("sort", ["name", "-name", "sku", "expiryDate"])
def test_lists_have_archived_items_or_those_in_use(stock: Stock, sort: str) -> None:
    for number in range(4):
        item = stock.item(name=f"Lager {number}", category="Beer", onHand=0)
        if number % 2:
            data(change(stock, item, archived=True))
    assert len(list_names(stock, sort=sort)) == 4
    for filters in ({}, {"q": "lager"}, {"category": "beer"}, {"onHand": 0}, {"q": "lager", "category": "beer"}):
        assert sorted(list_names(stock, sort=sort, archived=True, **filters)) == ["Lager 1", "Lager 3"], filters
        assert sorted(list_names(stock, sort=sort, archived=False, **filters)) == ["Lager 0", "Lager 2"], filters
    page = data(stock.owner.get(f"{stock.path}?archived=true&limit=1&sort={sort}&withTotal=true"))
    rest = stock.items(archived=True, sort=sort, cursor=page["pagination"]["nextCursor"], limit=1)
    assert page["pagination"]["total"] == 2 and len(rest) == 1 and rest != page["items"]


def test_the_sku_stays_with_the_archived_item(stock: Stock) -> None:
    item = stock.item(sku="BEE-1", name="Lager", onHand=3)
    data(change(stock, item, archived=True))
    answer = stock.owner.post(f"{stock.path}/items", stock.body(sku="bee-1"))
    assert answer.status_code == 409 and read_error(answer)[1] == "SKU_TAKEN"
    answer = stock.sheet(build_csv("BEE-1,Lager,120,24,4,9,0,0", "NEW-1,New,1,1,1,1,0,0"))
    assert answer.status_code == 422
    (row_error,) = answer.get_json()["data"]["errors"]
    assert (row_error["column"], row_error["code"]) == ("sku", "archived")
    assert data(stock.sheet("sku,onHand\nBEE-1,3\n"))["unchanged"] == 1
    assert b"BEE-1" not in stock.export()


def test_an_adjustment_can_expect_a_version(stock: Stock) -> None:
    item = stock.item(onHand=10)
    assert data(stock.adjust(item, 1, bucket="damaged", expectedVersion=item["version"]))["damaged"] == 1
    answer = stock.adjust(item, 1, bucket="damaged", expectedVersion=item["version"])
    assert answer.status_code == 412 and stock.read(item)["damaged"] == 1


def test_of_an_archive_and_sales_at_once_none_is_lost(stock: Stock) -> None:
    item = stock.item(onHand=100)
    answers = run_concurrently(
        8, lambda number: change(stock, item, archived=True) if number == 4 else stock.adjust(item, -1)
    )
    sold = sum(answer.status_code == 200 for number, answer in enumerate(answers) if number != 4)
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert stock.read(item)["onHand"] == 100 - sold and stock.read(item)["archivedAt"]
