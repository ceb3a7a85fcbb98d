"""Stock lists with the columns of a spreadsheet: what each column is, amounts as people write them, and defaults."""

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.core.outbox.executor import run_due_jobs
from app.inventory.stock_import.column_names import suggest_mapping
from tests.factories.accounts import create_signed_in_client
from tests.factories.inventory import build_csv
from tests.http import data
from tests.pages.desk.test_stock import DeskStock
from tests.pages.desk.test_stock import stock as stock
from tests.pages.desk.test_stock_lists import upload
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner
from tests.races import run_concurrently

OWN_LIST = (
    "Item code,Product,Qty,Cost price (N$),Selling price,Vendor,Colour\n"
    'BEE-1,Lager,48,"N$ 265,00","1 265,50",Brewery,green\n'
    "CUP-1,Cups,,N$ 38.50,,Print House,\n"
)


def check(desk: Visitor, form: int = 1, **chosen: str) -> Any:
    """The page of the check, after its job."""
    page = desk.send(form=form, **chosen)
    run_due_jobs(worker="test")
    return desk.open(page.request.path)


def read_counts(page: TestResponse) -> list[int]:
    """How many items a check would add, change and leave."""
    return [int(number) for number in re.findall(r"<dd>(\d+)", page.text)[:3]]


def choose(mapping: dict[str, str], *columns: str) -> dict[str, str]:
    """What is chosen for the columns of a file."""
    meanings = {column: field for field, column in mapping.items()}
    return {f"column{chr(ord('A') + number)}": meanings.get(column, "") for number, column in enumerate(columns)}


def test_a_list_with_other_columns_is_mapped_checked_and_imported(stock: DeskStock, desk: Visitor) -> None:
    cups = stock.item(sku="CUP-1", name="Old cups", onHand=5, reserved=1)
    page = upload(desk, stock, OWN_LIST)
    assert page.request.path.endswith("/columns") and "What are the columns?" in page.text
    assert "For example: BEE-1 · CUP-1" in page.text and "stock.csv, 2 rows" in page.text
    for field in ("sku", "name", "onHand", "costPrice", "sellPrice", "supplier"):
        assert f'<option value="{field}" selected>' in page.text, field
    columns = OWN_LIST.splitlines()[0].split(",")
    page = check(desk, **choose(suggest_mapping(columns), *columns))
    assert read_counts(page) == [1, 1, 0] and "Choose the columns" in page.text
    assert stock.items() == [cups]
    desk.send(form=1)
    run_due_jobs(worker="test")
    lager = stock.items(q="lager")[0]
    assert (lager["costPrice"], lager["sellPrice"], lager["supplier"], lager["onHand"]) == (265, 1265.5, "Brewery", 48)
    assert [lager[name] for name in ("damaged", "minOrderQty", "parLevel", "reserved", "reorderLevel")] == [0] * 5
    changed = stock.read(cups)
    assert (changed["name"], changed["onHand"], changed["reserved"], changed["costPrice"]) == ("Cups", 5, 1, 38.5)


def test_columns_are_chosen_again_after_a_check(stock: DeskStock, desk: Visitor) -> None:
    page = upload(desk, stock, "Number;Item;Left;Ordered\n7;Lager;1,5;9\n8;Stout;x;3\n")
    columns_path = page.request.path
    page = check(desk, columnA="sku", columnB="name", columnC="onHand")
    assert read_counts(page)[0] == 1 and ">On hand<" in page.text and ">3<" in page.text, "the error has row and column"
    first_check = page.request.path
    desk.open(columns_path)
    page = check(desk, columnA="sku", columnB="name", columnD="onHand", columnC="")
    assert read_counts(page)[:2] == [2, 0]
    desk.open(first_check)
    assert "Import the correct rows" in desk.page.text
    desk.send(form=1)
    run_due_jobs(worker="test")
    assert [item["onHand"] for item in stock.items()] == [1.5], "the import has the columns of the check that was seen"


def test_a_list_without_numbers_is_imported_by_its_names(stock: DeskStock, desk: Visitor) -> None:
    rows = "Product,Qty\nLager,48\nCups,100\nlager,5\n" + "x" * 81 + ",1\n"
    page = upload(desk, stock, rows)
    assert '<option value="nameAndSku" selected>' in page.text
    chosen = {"columnA": "nameAndSku", "columnB": "onHand"}
    page = check(desk, **chosen)
    assert read_counts(page) == [2, 0, 0] and "Row 2 already has this item number." in page.text
    assert "80 characters" in page.text
    upload(desk, stock, rows[: rows.index("lager")])
    assert read_counts(check(desk, **chosen)) == [2, 0, 0]
    desk.send(form=1)
    run_due_jobs(worker="test")
    assert {(item["name"], item["sku"], item["onHand"]) for item in stock.items()} == {
        ("Lager", "Lager", 48),
        ("Cups", "Cups", 100),
    }
    upload(desk, stock, "Product,Qty\nLAGER,50\n")
    assert read_counts(check(desk, **chosen)) == [0, 1, 0]
    rows = "Item,Count\nCider,50\n"
    assert '<option value="nameAndSku" selected>' in upload(desk, stock, rows).text
    stock.item(name="Stout", sku="BEE-7")
    page = upload(desk, stock, rows)
    assert '<option value="nameAndSku" selected>' not in page.text, "the items may have other numbers"


def test_wrong_choices_are_said_and_kept(stock: DeskStock, desk: Visitor) -> None:
    upload(desk, stock, OWN_LIST)
    page = desk.send(form=1, columnA="", columnB="name", columnC="name")
    assert page.status_code == 422
    assert "Choose the column that is “Item number”, or" in page.text and "“Product” is “Name” already." in page.text
    assert '<option value="name" selected>' in page.text
    assert desk.send(form=1, columnA="colour").status_code == 422
    assert stock.items() == []


def test_a_list_with_all_our_columns_needs_no_choice(stock: DeskStock, desk: Visitor) -> None:
    page = upload(desk, stock, build_csv("BEE-1,Lager,120,24,4,48,0,0"))
    assert "Choose the columns" in page.text and not page.request.path.endswith("/columns")
    run_due_jobs(worker="test")
    assert read_counts(desk.open(page.request.path)) == [1, 0, 0]


def test_a_list_without_quantities_gets_zeros_at_the_desk_and_errors_in_the_api(
    stock: DeskStock, desk: Visitor
) -> None:
    page = upload(desk, stock, "sku,name\nBEE-1,Lager\n")
    run_due_jobs(worker="test")
    assert read_counts(desk.open(page.request.path))[0] == 1
    desk.send(form=1)
    run_due_jobs(worker="test")
    (item,) = stock.items()
    assert [item[name] for name in ("onHand", "reserved", "damaged", "parLevel")] == [0] * 4
    response = stock.sheet("sku,name\nBEE-2,Stout\n")
    assert response.status_code == 422
    errors = response.get_json()["data"]["errors"]
    assert {error["column"] for error in errors} == {
        "parLevel", "minOrderQty", "reorderLevel", "onHand", "reserved", "damaged",
    }  # fmt: skip


def test_a_file_that_was_imported_before_says_what_it_would_change(stock: DeskStock, desk: Visitor) -> None:
    sheet = build_csv("BEE-1,Lager,120,24,4,48,0,0")
    data(stock.sheet(sheet))
    data(stock.adjust(stock.items()[0], -8, reason="sold"))
    page = upload(desk, stock, sheet)
    run_due_jobs(worker="test")
    page = desk.open(page.request.path)
    assert "This file was imported before." in page.text and read_counts(page) == [0, 1, 0]


def test_a_second_start_changes_nothing_and_a_check_of_another_file_starts_nothing(
    stock: DeskStock, desk: Visitor
) -> None:
    columns_path = upload(desk, stock, "Number;Item;Left;Ordered\n7;Lager;1;9\n").request.path
    checks = []
    for on_hand in ("columnC", "columnD"):
        desk.open(columns_path)
        checks.append(
            check(desk, **{"columnA": "sku", "columnB": "name", "columnC": "", on_hand: "onHand"}).request.path
        )
    other_check = upload(desk, stock, build_csv("BEE-1,Lager,120,24,4,48,0,0")).request.path
    run_due_jobs(worker="test")
    mixed = f"{checks[0].rpartition('/')[0]}/{other_check.rpartition('/')[2]}"
    token = desk.forms[0].fields["csrf_token"]
    assert desk.flask.post(mixed, data={"csrf_token": token}).status_code == 404
    for path in checks:
        desk.open(path)
        assert desk.press(form=1).status_code == 303
    assert desk.open(columns_path).status_code == 404, "the columns of a started import stay"
    run_due_jobs(worker="test")
    assert [item["onHand"] for item in stock.items(q="lager")] == [1]


def test_the_columns_of_the_last_import_are_remembered(app: Flask, stock: DeskStock, desk: Visitor) -> None:
    sheet = "Number;Item;Left;Ordered\n7;Lager;1;9\n"
    assert "The columns are as you chose them" not in upload(desk, stock, sheet).text
    chosen = {"columnA": "sku", "columnB": "name", "columnC": "", "columnD": "onHand"}
    run_concurrently(8, lambda _: desk.press(form=1, **chosen, formKey=""))
    page = upload(desk, DeskStock(stock.owner), sheet.replace("7;Lager", "8;Stout"))
    assert "The columns are as you chose them" in page.text and page.text.count('<option value="onHand" selected>') == 1
    assert page.text.index('<option value="onHand" selected>') > page.text.index('name="columnD"')
    desk.send(form=1, columnA="sku", columnB="name", columnC="onHand", columnD="")
    page = upload(desk, stock, sheet)
    assert page.text.index('<option value="onHand" selected>') < page.text.index('name="columnD"'), (
        "the last choice wins"
    )
    assert "The columns are as you chose them" not in upload(desk, stock, sheet.replace("Left", "Rest")).text
    other = create_owner("Namib Events")
    other_stock = DeskStock(create_signed_in_client(stock.owner, other))
    page = upload(sign_in_browser(app, other), other_stock, sheet)
    assert "What are the columns?" in page.text and "The columns are as you chose them" not in page.text


def test_the_columns_of_others_are_not_there(stock: DeskStock, desk: Visitor) -> None:
    page = upload(desk, stock, OWN_LIST)
    import_id = page.request.path.split("/")[-2]
    other = DeskStock(stock.owner)
    assert desk.open(f"{other.desk_path}/import/{import_id}/columns").status_code == 404
    assert desk.open(f"{stock.desk_path}/import/{import_id[::-1]}/columns").status_code == 404


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (["SKU", "Name", "Qty"], {"sku": "SKU", "name": "Name", "onHand": "Qty"}),
        (
            ["Artikel-Nr.", "Bezeichnung", "Bestand", "EK-Preis", "Lieferant"],
            {
                "sku": "Artikel-Nr.",
                "name": "Bezeichnung",
                "onHand": "Bestand",
                "costPrice": "EK-Preis",
                "supplier": "Lieferant",
            },
        ),
        (
            ["Kode", "Naam", "Hoeveelheid", "Kosprys", "Verskaffer"],
            {
                "sku": "Kode",
                "name": "Naam",
                "onHand": "Hoeveelheid",
                "costPrice": "Kosprys",
                "supplier": "Verskaffer",
            },
        ),
        (["Price (N$)", "Colour"], {"sellPrice": "Price (N$)"}),
    ],
)
def test_usual_names_are_suggested(header: list[str], expected: dict[str, str]) -> None:
    assert suggest_mapping(header) == expected


@pytest.mark.parametrize("amount", ["N$ 265,00", "265.00", "NAD 265", "265,0", "N$265,00"])
def test_amounts_are_read_as_people_write_them(stock: DeskStock, amount: str) -> None:
    sheet = build_csv("BEE-1,Lager,120,24,4,48,0,0").splitlines()
    data(stock.sheet(f'{sheet[0]},costPrice\n{sheet[1]},"{amount}"\n'))
    assert stock.items()[0]["costPrice"] == 265
