"""Stock sheets as people export them: each imports right, or says what is wrong, in which row and column."""

import csv
import io
import json
import time
import tracemalloc
import zipfile
from typing import Any

import pytest
import xlsxwriter

from tests.factories.accounts import run_jobs
from tests.factories.inventory import SHEETS, Stock, assert_quantities_match_movements, build_csv
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently
from tests.timing import assert_in_time

LEVELS = ("parLevel", "minOrderQty", "reorderLevel")
PLAIN = SHEETS / "plain-utf8.csv"


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


def counts(found: dict[str, Any]) -> tuple[int, int, int]:
    return found["created"], found["updated"], found["unchanged"]


def wrong(answer: Any) -> list[tuple[int, str, str]]:
    assert read_error(answer) == (422, "IMPORT_REJECTED"), answer.get_data(as_text=True)
    found = answer.get_json()["data"]
    assert counts(found) == (0, 0, 0)
    return [(error["row"], error["column"], error["code"]) for error in found["errors"]]


def values(item: dict[str, Any]) -> dict[str, Any]:
    return {name: it for name, it in item.items() if name not in ("id", "createdAt", "updatedAt")}


@pytest.mark.parametrize(
    "name",
    [
        "plain-utf8.csv",
        "excel-german-cp1252-semicolon.csv",
        "utf8-bom.csv",
        "tabs-unix-newlines.txt",
        "header-other-case-and-order.csv",
        "title-rows-dates-two-sheets.xlsx",
    ],
)
def test_every_dialect_says_the_same(stock: Stock, client: Client, name: str) -> None:
    assert counts(data(stock.sheet(SHEETS / name))) == (60, 0, 0)
    plain = Stock(client)
    assert counts(data(plain.form(PLAIN.read_bytes()))) == (60, 0, 0)
    assert [values(item) for item in stock.items(sort="sku")] == [values(item) for item in plain.items(sort="sku")]
    assert_quantities_match_movements()


def test_texts_are_kept_as_they_are(stock: Stock) -> None:
    assert counts(data(stock.sheet(SHEETS / "quoted-newlines-and-formulas.csv"))) == (8, 0, 0)
    found = {item["sku"]: item for item in stock.items()}
    assert found["BEE-00001"]["notes"] == 'two\nlines, "quoted"'
    assert found["BEE-00002"]["notes"] == '=HYPERLINK("x")'
    assert found["SOF-00003"]["name"] == "+27 energy drink"
    assert found["FOO-00004"]["notes"] == "-5 returned" and found["FOO-00005"]["name"] == "@home set"
    assert found["FOO-00006"]["barcode"] == "0000000000123"
    assert found["CAS-00007"]["name"] == "\u202eover left" and found["CON-00008"]["notes"] == "Tab first"


def test_seven_bad_rows_are_told_by_row_and_column_and_nothing_is_written(stock: Stock) -> None:
    answer = stock.sheet(SHEETS / "seven-bad-rows.csv")
    assert wrong(answer) == [
        (4, "onHand", "too_small"),
        (7, "taxRate", "too_large"),
        (9, "sku", "required"),
        (11, "sku", "duplicate"),
        (14, "costPrice", "invalid_number"),
        (17, "expiryDate", "invalid_date"),
        (20, "name", "too_long"),
    ]
    assert stock.items() == []
    told = stock.owner.get(answer.get_json()["data"]["errorsUrl"])
    lines = list(csv.DictReader(io.StringIO(told.get_data().decode("utf-8-sig"))))
    assert len(lines) == 7 and lines[0]["row"] == "4" and lines[0]["value"] == "'-4"
    assert "attachment" in told.headers["Content-Disposition"]


def test_a_partial_import_writes_what_is_right(stock: Stock) -> None:
    found = data(stock.sheet(SHEETS / "seven-bad-rows.csv", mode="partial"))
    assert counts(found) == (13, 0, 0) and found["errorCount"] == 7 and len(stock.items()) == 13
    assert_quantities_match_movements()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cut-off-in-the-middle.csv", [(19, "", "incomplete_row")]),
        ("missing-column-sku.csv", [(1, "sku", "missing_column")]),
    ],
)
def test_what_is_incomplete_says_where(stock: Stock, name: str, expected: list[tuple[int, str, str]]) -> None:
    assert wrong(stock.sheet(SHEETS / name)) == expected
    assert stock.items() == []


@pytest.mark.parametrize(
    ("sheet", "expected"),
    [
        (build_csv('A,"Lager'), [(2, "", "malformed_row")]),
        (build_csv("A,Lager,1,1,1,1,0,0,9"), [(2, "", "too_many_cells")]),
        ("sku,SKU\nA,B\n", [(1, "sku", "duplicate_column")]),
        (build_csv("A,,1,1,1,1,0,0", "B,Bier,1,1,1,1,,0"), [(2, "name", "required"), (3, "reserved", "required")]),
        (build_csv("A,Lager,1,1,1,1,1,1"), [(2, "onHand", "insufficient_stock")]),
        (build_csv("A,Lager\x07,1,1,1,1,0,0"), [(2, "name", "invalid_characters")]),
        (build_csv("A,Lager,1,1,1,1.0005,0,0"), [(2, "onHand", "too_precise")]),
        (build_csv("A,Lager,1,1,1,1e3,0,0"), [(2, "onHand", "invalid_number")]),
    ],
)
def test_each_thing_that_is_wrong_has_its_code(stock: Stock, sheet: str, expected: list[tuple[int, str, str]]) -> None:
    assert wrong(stock.sheet(sheet)) == expected


def test_a_known_item_is_changed_and_blank_cells_keep_what_is_there(stock: Stock) -> None:
    item = stock.item(sku="BEE-1", name="Lager", onHand=10, brand="Windhoek", notes="cold")
    found = data(stock.sheet("SKU;Name;On hand;brand;Colour\nbee-1;;7,5;;red\n"))
    assert counts(found) == (0, 1, 0)
    now = stock.read(item)
    assert (now["sku"], now["name"], now["onHand"], now["brand"], now["notes"]) == (
        "bee-1",
        "Lager",
        7.5,
        "Windhoek",
        "cold",
    )
    assert stock.book(item)[-1]["reason"] == "correction" and stock.book(item)[-1]["delta"] == -2.5
    assert_quantities_match_movements()


def test_the_same_bytes_change_stock_once(stock: Stock) -> None:
    data(stock.sheet(PLAIN))
    item = stock.items()[0]
    data(stock.adjust(item, 5))
    found = data(stock.sheet(PLAIN))
    assert counts(found) == (0, 0, 60) and found["alreadyImportedAt"]
    assert stock.read(item)["onHand"] == item["onHand"] + 5
    assert counts(data(stock.sheet(PLAIN, again="true"))) == (0, 1, 59)
    assert stock.read(item)["onHand"] == item["onHand"]


def test_a_dry_run_writes_nothing(stock: Stock) -> None:
    assert counts(data(stock.sheet(PLAIN, dryRun="true"))) == (60, 0, 0)
    told = data(stock.sheet(SHEETS / "seven-bad-rows.csv", dryRun="true"))
    assert len(told["errors"]) == 7 and stock.items() == []
    assert counts(data(stock.sheet(PLAIN))) == (60, 0, 0)


def test_five_thousand_rows_with_one_bad_change_nothing(stock: Stock) -> None:
    stock.item(sku="S-1", onHand=3)
    lines = [f"S-{n},Item {n},1,1,1,{n % 9},0,0" for n in range(1, 5001)]
    lines[4321] = "S-4322,Item,1,1,1,many,0,0"
    assert wrong(stock.sheet(build_csv(*lines))) == [(4323, "onHand", "invalid_number")]
    (only,) = stock.items()
    assert only["onHand"] == 3 and only["version"] == 1
    lines[4321] = "S-4322,Item,1,1,1,4,0,0"
    assert counts(data(stock.sheet(build_csv(*lines)))) == (4999, 1, 0)
    assert_quantities_match_movements()


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/workbook.xml", "<workbook/>")
        with package.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as file:
            for _ in range(200):
                file.write(b"\0" * 1024 * 1024)
    return out.getvalue()


def far_out() -> bytes:
    return workbook([["sku", "name"], ["A", "B"]], far=True)


def workbook(cells: list[list[object]], *, far: bool = False) -> bytes:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet()
        for at, row in enumerate(cells):
            sheet.write_row(at, 0, row)
        if far:
            sheet.write(1_048_575, 16_383, "x")
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\0" * 10 * 1024 * 1024, {(415, "NOT_A_SPREADSHEET")}),
        (b"sku,name\nA," + b"x" * 1024 * 1024 + b"\n", {(422, "IMPORT_REJECTED")}),
        (b"\x89PNG\r\n\x1a\n\0\0", {(415, "NOT_A_SPREADSHEET")}),
        (b"PK\x03\x04 and no more", {(415, "NOT_A_SPREADSHEET")}),
        (b"%PDF-1.7 \0", {(415, "NOT_A_SPREADSHEET")}),
        (b'"' * 100_000, {(422, "IMPORT_REJECTED")}),
        (b"sku\n" + b"A\n" * 100_001, {(413, "IMPORT_TOO_LARGE")}),
        (b"x" * (20 * 1024 * 1024 + 1), {(413, "IMPORT_TOO_LARGE"), (413, "PAYLOAD_TOO_LARGE")}),
    ],
    ids=["zeros", "one field", "picture", "package", "document", "quotes", "rows", "bytes"],
)
def test_what_is_no_sheet_is_refused_quickly(stock: Stock, content: bytes, expected: set[tuple[int, str]]) -> None:
    started = time.thread_time()
    assert read_error(stock.sheet(content)) in expected
    assert_in_time(time.thread_time() - started < 3)
    tracemalloc.start()
    try:
        stock.sheet(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(content) + 8 * 1024 * 1024


@pytest.mark.parametrize("make", [bomb, far_out])
def test_a_hostile_workbook_takes_down_nothing_but_its_reader(stock: Stock, make: Any) -> None:
    started = time.monotonic()
    assert read_error(stock.form(make(), "stock.xlsx")) == (415, "NOT_A_SPREADSHEET")
    assert_in_time(time.monotonic() - started < 30)


def test_cells_of_a_workbook_are_read_as_they_show(stock: Stock) -> None:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["SKU", "Name", *LEVELS, "On Hand", "reserved", "damaged"])
        sheet.write_row(1, 0, ["00123", "Lager", 1, 1, 1])
        sheet.write_formula(1, 5, "=0.1+0.2", None, 0.1 + 0.2)
        sheet.write_row(1, 6, [0, 0])
    assert counts(data(stock.form(out.getvalue(), "stock.xlsx"))) == (1, 0, 0)
    (item,) = stock.items()
    assert (item["sku"], item["onHand"]) == ("00123", 0.3)


def test_a_formula_without_its_value_says_so(stock: Stock) -> None:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["sku", "name", *LEVELS, "onHand", "reserved", "damaged"])
        sheet.write_row(1, 0, ["A", "Lager", 1, 1, 1, "", 0, 0])
        sheet.write_formula(1, 5, "=B1+1", None, "")
        sheet.write_row(2, 0, ["B", "Lager", 1, 1, 1, 1, 0, 0])
        sheet.write_formula(2, 5, "=1/0", None, "#DIV/0!")
    assert wrong(stock.form(out.getvalue(), "stock.xlsx")) == [
        (2, "onHand", "formula_without_value"),
        (3, "onHand", "error_value"),
    ]


def test_a_file_has_to_be_sent(stock: Stock) -> None:
    assert list_problems(stock.owner.post(f"{stock.path}/import")) == {"file": "required"}
    assert list_problems(stock.owner.post(f"{stock.path}/import", data={"x": "y"}, content_type="multipart/form-data"))
    assert read_error(stock.owner.post(f"{stock.path}/import", {"sku": "A"})) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert list_problems(stock.sheet(PLAIN, mode="perhaps")) == {"mode": "unknown_value"}


def test_the_same_key_imports_once(stock: Stock) -> None:
    def send() -> Any:
        return stock.owner.post(
            f"{stock.path}/import",
            data=PLAIN.read_bytes(),
            content_type="text/csv",
            headers={"Idempotency-Key": "delivery-0001"},
        )

    first, again = send(), send()
    assert data(first) == data(again) and again.headers["Idempotent-Replayed"] == "true"


def test_an_export_imports_back_unchanged_and_no_cell_is_a_formula(stock: Stock) -> None:
    data(stock.sheet(PLAIN))
    payloads = ["=1+1", "+1", "-1", "@SUM(A1)", "'=x", "''+x", "'plain", "＝1", "＋1", "－1", "＠x", 'a "b", c\nd;e']
    for at, payload in enumerate(payloads):
        stock.item(sku=f"={at}", name=payload, notes=payload, onHand=0.125)
    exported = stock.export()
    assert exported.startswith(b"\xef\xbb\xbf")
    table = list(csv.reader(io.StringIO(exported.decode("utf-8-sig"))))
    assert not [cell for row in table[1:] for cell in row if cell[:1] in tuple("=+-@\t\r＝＋－＠")]
    assert len(table) == 1 + 60 + len(payloads) and len(table[0]) == 22
    assert counts(data(stock.sheet(exported))) == (0, 0, 60 + len(payloads))
    assert run_concurrently(1, lambda _: stock.export()) == [exported], (
        "also when the request is over before it is read"
    )
    copy = Stock(Client(stock.owner.flask))
    assert counts(data(copy.sheet(exported))) == (60 + len(payloads), 0, 0)
    assert copy.export() == exported


def test_the_template_has_the_columns_alone(stock: Stock) -> None:
    answer = stock.owner.get(f"{stock.path}/export.csv?template=true")
    assert answer.mimetype == "text/csv" and "stock-template.csv" in answer.headers["Content-Disposition"]
    assert counts(data(stock.sheet(answer.get_data()))) == (0, 0, 0)
    assert len(answer.get_data(as_text=True).split(",")) == 22


MAPPED = b"Item code;Product;Qty\nBEE-1;Castle Lager;24\nBEE-2;Windhoek Draught;36\n"
COLUMNS = {"sku": "Item code", "name": "Product", "onHand": "Qty"}


def send_mapped(stock: Stock, columns: Any, content: bytes = MAPPED, **options: str) -> Any:
    query = {"mapping": json.dumps(columns), "mode": "partial", **options}
    return stock.owner.open("POST", f"{stock.path}/import", query_string=query, data=content, content_type="text/csv")


def test_columns_are_mapped_to_fields(stock: Stock) -> None:
    for sku in ("BEE-1", "BEE-2"):
        stock.item(sku=sku, onHand=0)
    assert counts(data(send_mapped(stock, COLUMNS))) == (0, 2, 0)
    assert [item["onHand"] for item in stock.items(sort="sku")] == [24, 36]
    assert "alreadyImportedAt" in data(send_mapped(stock, COLUMNS))
    assert counts(data(send_mapped(stock, {"sku": "Item code", "notes": "Product"}))) == (0, 2, 0)
    content = b"Item code;Product\n" + b"".join(b"BEE-1;x%d\n" % number for number in range(6000))
    job = data(send_mapped(stock, {"sku": "Item code", "name": "Product"}, content, dryRun="true"), 202)
    run_jobs()
    done = data(stock.owner.get(f"{stock.path}/reports?jobId={job['jobId']}"))
    assert done["status"] == "done" and {error["code"] for error in done["result"]["errors"]} == {"duplicate"}


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"name": "Product"}, "required"),
        ({"sku": "Item code", "colour": "Product"}, "unknown_value"),
        ({"sku": "Item code", "notes": "Item code"}, "duplicate"),
        ({"sku": "Item code", "name": " - "}, "invalid_type"),
        ({"sku": "Item\x00code"}, "invalid_characters"),
        (["sku"], "invalid_type"),
        ({"name": "Product", "sku": "Product", "notes": "Product"}, "duplicate"),
        ({"name": "Product", "sku": "Item code", "notes": "Item code"}, "duplicate"),
    ],
)
def test_wrong_mappings_are_refused(stock: Stock, columns: Any, code: str) -> None:
    assert list_problems(send_mapped(stock, columns)) == {"mapping": code}


def test_the_name_can_be_the_sku_too(stock: Stock) -> None:
    columns = {"name": "Product", "sku": "Product", "onHand": "Qty"}
    zeros = {"reserved": "a", "damaged": "b", "parLevel": "c", "minOrderQty": "d", "reorderLevel": "e"}
    content = b"Product;Qty;a;b;c;d;e\nLager;48;0;0;0;0;0\nCider;4;0;0;0;0;0\ncider;5;0;0;0;0;0\n"
    result = data(send_mapped(stock, {**columns, **zeros}, content))
    assert [(error["row"], error["column"], error["code"]) for error in result["errors"]] == [(4, "sku", "duplicate")]
    assert [(item["name"], item["sku"]) for item in stock.items(sort="sku")] == [("Cider", "Cider"), ("Lager", "Lager")]
    like = {**columns, "notes": "PRODUCT"}
    assert {column for _, column, _ in wrong(send_mapped(stock, like, content))} == {"name", "sku", "notes"}


def test_columns_that_the_file_does_not_have_are_named(stock: Stock) -> None:
    answer = send_mapped(stock, {**COLUMNS, "brand": "Maker", "sku": "SKU"})
    assert sorted(wrong(answer)) == [(1, "brand", "missing_column"), (1, "sku", "missing_column")]
    assert stock.items() == []


def test_columns_of_like_names_are_told_apart_by_their_exact_names(stock: Stock) -> None:
    stock.item(sku="BEE-1")
    content = "Item code;Price ($);Price (€)\nBEE-1;10;20\n".encode()
    columns = {"sku": "Item code", "costPrice": "Price ($)", "sellPrice": "Price (€)"}
    assert counts(data(send_mapped(stock, columns, content))) == (0, 1, 0)
    (item,) = stock.items()
    assert (item["costPrice"], item["sellPrice"]) == (10, 20)
    same = {"sku": "item CODE", "name": "Item code", "brand": "item-code"}
    answer = send_mapped(stock, same, content)
    assert sorted(wrong(answer)) == [(1, name, "duplicate_column") for name in ("brand", "name", "sku")]
