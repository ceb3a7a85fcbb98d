"""Ordering what is low, the sheets for suppliers, and counts against the book."""

import csv
import io

import pytest

from tests.factories.inventory import Stock, assert_quantities_match_movements
from tests.factories.organisations import register_for_vat
from tests.http import Client, data, list_problems
from tests.pdf_text import NEEDS_PDFTOTEXT, read_pdf


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


def test_orders_are_grouped_by_supplier_and_nothing_is_ordered_twice(stock: Stock) -> None:
    low = {"onHand": 4, "reorderLevel": 10, "parLevel": 30}
    lager = stock.item(**low, supplier="Breweries", minOrderQty=24, costPrice=100.5)
    water = stock.item(**low, supplier="Wholesale", minOrderQty=48)
    cups = stock.item(**low, minOrderQty=1)
    stock.item(onHand=11, reorderLevel=10, parLevel=30, supplier="Breweries")
    stock.item(onHand=0, reorderLevel=0, parLevel=0, minOrderQty=0)

    preview = data(stock.owner.post(f"{stock.path}/reorder/apply", {"dryRun": True}))
    assert preview["items"] == 3 and stock.read(lager)["onOrder"] == 0
    assert {order["id"] for order in preview["orders"]} == {None}
    one = data(stock.owner.post(f"{stock.path}/reorder/apply", {"itemIds": [water["id"]]}))
    assert [(order["supplier"], order["lines"][0]["quantity"]) for order in one["orders"]] == [("Wholesale", 48)]
    rest = data(stock.owner.post(f"{stock.path}/reorder/apply"))
    assert [(order["supplier"], order["lines"][0]["quantity"], order["totalValue"]) for order in rest["orders"]] == [
        ("Breweries", 26, 2613),
        (None, 26, 0),
    ]
    again = data(stock.owner.post(f"{stock.path}/reorder/apply"))
    assert (again["items"], again["orders"], again["more"]) == (0, [], False)
    assert stock.read(cups)["onOrder"] == 26
    assert_quantities_match_movements()


def test_what_was_ordered_and_is_low_again_is_ordered_again(stock: Stock) -> None:
    item = stock.item(onHand=4, reorderLevel=10, parLevel=12, minOrderQty=1)
    data(stock.owner.post(f"{stock.path}/reorder/apply"))
    data(stock.adjust(item, 8, reason="received"))
    data(stock.adjust(item, -12, reason="sold"))
    (order,) = data(stock.owner.post(f"{stock.path}/reorder/apply"))["orders"]
    assert order["lines"][0]["quantity"] == 12
    assert list_problems(stock.owner.post(f"{stock.path}/reorder/apply", {"itemIds": "all"}))


@NEEDS_PDFTOTEXT
def test_a_supplier_gets_a_sheet_with_what_people_wrote_and_nothing_more(stock: Stock) -> None:
    stock.item(
        name='<img src="/etc/passwd"> & <b>Lager</b>',
        onHand=0,
        reorderLevel=1,
        parLevel=2,
        minOrderQty=1.5,
        supplier="Breweries",
        costPrice=100.5,
        unit="case",
    )
    register_for_vat(stock.owner)
    (order,) = data(stock.owner.post(f"{stock.path}/reorder/apply"))["orders"]
    sheet = stock.owner.get(order["sheetUrl"])
    assert sheet.mimetype == "application/pdf" and sheet.get_data() == stock.owner.get(order["sheetUrl"]).get_data()
    text = " ".join(read_pdf(sheet.get_data()).split())
    place = f"{stock.event['venue']}, {stock.event['city']}"
    for expected in (
        "Breweries",
        stock.event["name"],
        "12 Independence Avenue Windhoek",
        place,
        order["id"][-8:].upper(),
        '<img src="/etc/passwd"> &',
        "<b>Lager</b>",
        "case",
        "201.00",
    ):
        assert expected in text, text
    assert stock.owner.get(f"{stock.path}/orders/{'0' * 24}/sheet.pdf").status_code == 404


def test_variance_is_counted_against_the_book(stock: Stock) -> None:
    lager = stock.item(name="=Lager", onHand=10, costPrice=2.5)
    stock.item(name="Never counted", onHand=3)
    data(stock.adjust(lager, counted=8))
    data(stock.adjust(lager, -1, reason="sold"))
    data(stock.adjust(lager, counted=6.5))
    (row,) = data(stock.owner.get(f"{stock.path}/variance"))["items"]
    assert (row["expected"], row["counted"], row["variance"], row["value"], row["counts"]) == (9, 6.5, -2.5, -6.25, 2)
    data(stock.adjust(lager, counted=2, reason="sold"))
    (row,) = data(stock.owner.get(f"{stock.path}/variance"))["items"]
    assert (row["expected"], row["counted"], row["variance"], row["value"], row["counts"]) == (4.5, 2, -2.5, -6.25, 3)
    assert data(stock.owner.get(f"{stock.path}/variance?to=2020-01-01"))["items"] == []
    file = stock.owner.get(f"{stock.path}/variance.csv?from=2020-01-01")
    (line,) = csv.DictReader(io.StringIO(file.get_data().decode("utf-8-sig")))
    assert (line["name"], line["expected"], line["variance"], line["value"]) == ("'=Lager", "4.5", "-2.5", "-6.25")
    assert list_problems(stock.owner.get(f"{stock.path}/variance?from=yesterday")) == {"from": "invalid_time"}
