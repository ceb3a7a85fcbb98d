"""Lists of a stock at the desk: import after a check, orders, counts, reports, the reminder."""

from html import unescape
from io import BytesIO
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from app.core.outbox.executor import run_due_jobs
from app.inventory import queries
from tests.factories.accounts import list_mails_to
from tests.factories.inventory import build_csv
from tests.factories.payouts import execute_sql
from tests.http import Client, data
from tests.pages.desk.test_events import open_as
from tests.pages.desk.test_stock import DeskStock
from tests.pages.desk.test_stock import stock as stock
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner

SHEET = build_csv("BEE-1,Lager,120,24,4,48,0,0", "CUP-1,Cups,10,1,4,2,0,0")


def upload(desk: Visitor, stock: DeskStock, content: str | bytes | None, name: str = "stock.csv") -> Any:
    """The page after a file was sent."""
    desk.open(f"{stock.desk_path}/import")
    raw = content.encode() if isinstance(content, str) else content
    files = {} if raw is None else {"file": (BytesIO(raw), name)}
    body = {"csrf_token": desk.forms[1].fields["csrf_token"], **files}
    desk.page = desk.flask.post(
        f"{stock.desk_path}/import", data=body, content_type="multipart/form-data", follow_redirects=True
    )
    return desk.page


def test_a_list_is_checked_and_then_imported(stock: DeskStock, desk: Visitor) -> None:
    stock.item(sku="BEE-1", name="Lager", onHand=5)
    page = upload(desk, stock, SHEET)
    assert "Nothing is imported yet." in page.text and "data-refresh-seconds" in page.text
    assert "Stock import" not in Visitor(desk.flask).open("/desk/files").text, "a check is no file"
    run_due_jobs(worker="test")
    check_path = page.request.path
    page = desk.open(check_path)
    assert "Import the list" in page.text and len(stock.items()) == 1
    page = desk.send(form=1)
    assert "The import has started." in page.text
    run_due_jobs(worker="test")
    page = desk.open(page.request.path)
    assert "Done." in page.text and [item["onHand"] for item in stock.items()] == [2, 48]
    page = desk.open(check_path)
    assert "It is imported." in page.text and "Import the list" not in page.text


def test_an_import_that_is_confirmed_twice_happens_once(stock: DeskStock, desk: Visitor) -> None:
    check = upload(desk, stock, SHEET)
    run_due_jobs(worker="test")
    desk.open(check.request.path)
    assert [desk.press(form=1).status_code for _ in range(2)] == [303, 303]
    run_due_jobs(worker="test")
    item = stock.items(q="lager")[0]
    data(stock.adjust(item, -8, reason="sold"))
    assert desk.press(form=1).status_code == 303
    run_due_jobs(worker="test")
    assert stock.read(item)["onHand"] == 40 and len(stock.book(item)) == 2


def test_errors_of_a_list_are_shown_by_row_and_column(stock: DeskStock, desk: Visitor) -> None:
    check = upload(desk, stock, build_csv("BEE-1,Lager,120,24,4,many,0,0", "CUP-1,Cups,10,1,4,2,0,0"))
    run_due_jobs(worker="test")
    page = desk.open(check.request.path).text
    row = page.split("<tbody>")[1]
    for text in (">2<", ">On hand<", "Must be a number", ">many<"):
        assert text in row, text
    assert "Import the list" not in page and "Download all errors" in page and "Import the correct rows" in page
    errors = desk.open(page.split('">Download all errors')[0].split('href="')[-1])
    assert errors.mimetype == "text/csv" and "many" in errors.text
    desk.open(check.request.path)
    page = desk.send(form=1)
    run_due_jobs(worker="test")
    assert [item["name"] for item in stock.items()] == ["Cups"]
    page = desk.open(page.request.path).text
    assert "Done." in page and ">many<" in page


def test_a_check_shows_what_would_change_of_each_item(stock: DeskStock, desk: Visitor) -> None:
    stock.item(sku="BEE-1", name="Lager", onHand=12)
    check = upload(desk, stock, build_csv("CUP-1,Cups,10,1,4,2,0,0", "bee-1,Lager,120,24,4,48,0,0"))
    run_due_jobs(worker="test")
    known, new = desk.open(check.request.path).text.split("<tbody>")[1].split("</tr>")[:2]
    assert "Lager (bee-1)" in known and "Item number: BEE-1 → bee-1" in known and "On hand: 12 → 48" in known
    assert "Cups (CUP-1)" in new and "New. " in new and "On hand: 2<" in new and "Damaged" not in new


def test_a_list_without_a_correct_row_is_not_offered(stock: DeskStock, desk: Visitor) -> None:
    check = upload(desk, stock, build_csv("BEE-1,Lager,120,24,4,many,0,0"))
    run_due_jobs(worker="test")
    page = desk.open(check.request.path).text
    assert "No row of the file is correct." in page and "Import the correct rows" not in page


@pytest.mark.parametrize(
    ("content", "name", "status", "text"),
    [
        (None, "", 422, "Choose a file."),
        ("", "a.csv", 422, 'href="#file"'),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a.png", 415, 'href="#file"'),
        (b"PK\x03\x04broken", "a.xlsx", 415, 'href="#file"'),
    ],
)
def test_a_file_of_the_wrong_kind_is_refused(
    stock: DeskStock, desk: Visitor, content: Any, name: str, status: int, text: str
) -> None:
    page = upload(desk, stock, content, name)
    assert page.status_code == status and text in page.text


def test_a_file_is_kept_for_two_hours(stock: DeskStock, desk: Visitor) -> None:
    check = upload(desk, stock, SHEET)
    run_due_jobs(worker="test")
    desk.open(check.request.path)
    execute_sql("UPDATE inventory_job SET created_at = now() - interval '3 hours' WHERE status = 'queued'")
    page = desk.send(form=1)
    assert page.status_code == 409 and "Choose it again." in page.text and stock.items() == []


def continue_import(desk: Visitor, stock: DeskStock) -> Any:
    """The page to which the stock leads when an import was left."""
    page = desk.open(stock.desk_path).text
    return desk.open(unescape(page.split('">Continue the import')[0].split('href="')[-1]))


def test_an_import_that_was_left_is_continued_from_the_stock(
    app: Flask, client: Client, stock: DeskStock, desk: Visitor, owner: Account
) -> None:
    assert "is not finished" not in desk.open(stock.desk_path).text
    upload(desk, stock, "Product,Qty\nLager,48\n", "bar.csv")
    assert "The import of bar.csv is not finished." in desk.open(stock.desk_path).text
    assert "What are the columns?" in continue_import(desk, stock).text
    check_path = desk.send(form=1, columnA="nameAndSku", columnB="onHand").request.path
    run_due_jobs(worker="test")
    assert "is not finished" not in open_as(app, client, owner, "viewer").open(stock.desk_path).text
    assert continue_import(desk, stock).request.path == check_path
    execute_sql("UPDATE inventory_job SET created_at = created_at - interval '3 hours' WHERE asked ? 'kept'")
    assert "is not finished" not in desk.open(stock.desk_path).text
    execute_sql("UPDATE inventory_job SET created_at = created_at + interval '3 hours' WHERE asked ? 'kept'")
    upload(desk, stock, SHEET)
    run_due_jobs(worker="test")
    continue_import(desk, stock)
    desk.send(form=1)
    assert "is not finished" not in desk.open(stock.desk_path).text, "the newer list took the place of the first one"


def test_a_list_that_was_left_is_discarded(
    app: Flask, client: Client, stock: DeskStock, desk: Visitor, owner: Account
) -> None:
    upload(desk, stock, "Product,Qty\nLager,48\n", "bar.csv")
    columns_path = desk.page.request.path
    assert "Discard the list" in desk.open(stock.desk_path).text
    path = columns_path.replace("/columns", "/discard")
    assert open_as(app, client, owner, "viewer").flask.post(path).status_code in (400, 403)
    form = next(number for number, form in enumerate(desk.forms) if form.action.endswith("/discard"))
    page = desk.send(form=form)
    assert "It was not imported." in page.text and "is not finished" not in page.text
    assert desk.open(columns_path).status_code == 404 and stock.items() == []


def test_an_import_that_has_started_is_not_discarded(stock: DeskStock, desk: Visitor) -> None:
    check = upload(desk, stock, SHEET)
    run_due_jobs(worker="test")
    desk.open(stock.desk_path)
    form = next(number for number, form in enumerate(desk.forms) if form.action.endswith("/discard"))
    fields = desk.forms[form]
    desk.open(check.request.path)
    desk.send(form=1)
    path = desk.flask.post(fields.action, data=fields.fields).location
    assert "The import has started already." in desk.open(path).text
    run_due_jobs(worker="test")
    assert stock.items() != []


def test_the_headings_of_the_list_are_explained(stock: DeskStock, desk: Visitor) -> None:
    page = desk.open(f"{stock.desk_path}/import").text
    assert "<dt><code>parLevel</code></dt><dd>Fill up to. An order brings the item up to this number.</dd>" in page


def test_a_file_that_was_imported_before_is_noticed(stock: DeskStock, desk: Visitor) -> None:
    data(stock.sheet(SHEET))
    check = upload(desk, stock, SHEET)
    run_due_jobs(worker="test")
    assert "This file was imported before." in desk.open(check.request.path).text


def test_jobs_of_others_are_not_there(app: Flask, stock: DeskStock, desk: Visitor) -> None:
    check = upload(desk, stock, SHEET)
    run_due_jobs(worker="test")
    import_id, check_id = check.request.path.split("/")[-2:]
    assert desk.open(f"{stock.desk_path}/import/{check_id}/{import_id}").status_code == 404
    other = sign_in_browser(app, create_owner("Other"))
    for path in (check.request.path, f"{stock.desk_path}/jobs/{check_id}", f"{stock.desk_path}/jobs/{check_id}/file"):
        assert other.open(path).status_code == 404


def test_the_stock_and_an_empty_list_are_downloaded(stock: DeskStock, desk: Visitor) -> None:
    stock.item(name="Lager")
    assert "Lager" in desk.open(f"{stock.desk_path}/export.csv").text
    template = desk.open(f"{stock.desk_path}/export.csv?template=true").text
    assert "sku" in template and "Lager" not in template


def test_low_items_are_ordered_once(stock: DeskStock, desk: Visitor) -> None:
    assert "There is nothing to order." in desk.open(f"{stock.desk_path}/order").text
    stock.item(name="Lager", onHand=1, reorderLevel=4, parLevel=20, supplier="Brewery", costPrice=10, unit="case")
    stock.item(name="Cups", onHand=1, reorderLevel=4, parLevel=5, minOrderQty=1)
    page = desk.open(f"{stock.desk_path}/order").text
    assert "Brewery" in page and "24 cases" in page and "N$\u00a0240.00" in page.replace("&#160;", "\u00a0")
    late = stock.item(name="Late", onHand=0, reorderLevel=4)
    page = desk.send(form=1)
    assert "Items ordered: 2." in page.text and "2 orders" in page.text
    assert stock.read(late)["onOrder"] == 0
    page = desk.open(f"{stock.desk_path}/order")
    link = page.text.split(f"{stock.desk_path}/orders/")[1].split('"')[0]
    assert desk.open(f"{stock.desk_path}/orders/{link}/sheet.pdf").get_data().startswith(b"%PDF")
    assert f">{link[-8:].upper()}<" in page.text
    assert f"Order {link[-8:].upper()}" in desk.open(f"{stock.desk_path}/orders/{link}").text
    desk.open(f"{stock.desk_path}/order")
    assert desk.press(form=1).status_code == desk.press(form=1).status_code == 303
    assert stock.read(late)["onOrder"] == 120
    desk.open(f"{stock.desk_path}/order")
    assert desk.open(f"{stock.desk_path}/orders/{late['id']}").status_code == 404


def open_order(stock: DeskStock, desk: Visitor, **fields: Any) -> tuple[str, dict[str, Any]]:
    """The page of an order of 24 cases of a new item, and the item."""
    low = {"onHand": 1, "reorderLevel": 4, "parLevel": 20, "supplier": "Brewery", "unit": "case"}
    item = stock.item(**{"name": "Lager", **low, **fields})
    (order,) = data(stock.owner.post(f"{stock.path}/reorder/apply", {}))["orders"]
    path = f"{stock.desk_path}/orders/{order['id']}"
    desk.open(path)
    return path, item


def test_a_delivery_is_recorded_with_its_order(stock: DeskStock, desk: Visitor) -> None:
    path, item = open_order(stock, desk)
    assert "Order to Brewery" in desk.page.text and "Arrived now of Lager" in desk.page.text
    name = f"quantity-{item['id']}"
    assert desk.forms[1].fields[name] == "24"
    page = desk.send(form=1, **{name: "many"})
    assert page.status_code == 422 and "Lager: Enter a number like 12 or 12.5." in page.text
    page = desk.send(form=1, **{name: ""})
    assert "Lager: Enter how many have arrived, or 0." in page.text
    page = desk.send(form=1, **{name: "999999999"})
    assert "Lager: Enter a smaller number." in page.text and stock.read(item)["onHand"] == 1
    page = desk.send(form=1, **{name: "20"})
    assert "The delivery is recorded, and the order is closed." in page.text
    assert "Received" in page.text and "20 cases" in page.text
    assert (stock.read(item)["onHand"], stock.read(item)["onOrder"]) == (21, 0)
    assert "Received" in desk.open(f"{stock.desk_path}/order").text


def test_live_leads_to_the_order_of_a_delivery(stock: DeskStock, desk: Visitor) -> None:
    path, item = open_order(stock, desk)
    desk.send(form=1)
    data(stock.adjust(item, -1, reference="till 3"))
    page = desk.open(f"{stock.desk_path}/live").text
    assert f'<a href="{path}">order</a>' in page and "(till 3)" in page


def test_a_form_of_a_delivery_that_is_sent_twice_counts_once(stock: DeskStock, desk: Visitor) -> None:
    _, item = open_order(stock, desk)
    assert [desk.press(form=1).status_code for _ in range(2)] == [303, 303]
    assert stock.read(item)["onHand"] == 25
    assert "not open any more" not in desk.open(f"{stock.desk_path}/order").text


def test_what_was_recorded_with_the_item_is_left_out_of_its_delivery(stock: DeskStock, desk: Visitor) -> None:
    path, item = open_order(stock, desk)
    data(stock.adjust(item, 24, reason="received"))
    desk.open(path)
    assert desk.forms[1].fields[f"quantity-{item['id']}"] == "0"
    assert desk.page.text.count("24 cases") == 2 and "0 cases" in desk.page.text, "ordered, arrived, still to come"
    page = desk.send(form=1)
    assert page.text.count("24 cases") == 2, "ordered, and arrived"
    assert stock.read(item)["onHand"] == 25


def test_the_rest_of_an_order_comes_later(stock: DeskStock, desk: Visitor) -> None:
    path, item = open_order(stock, desk)
    name = f"quantity-{item['id']}"
    page = desk.send(form=1, **{name: "0", "restComesLater": "true"})
    assert page.status_code == 422 and "Enter how many of at least one item have arrived." in page.text
    part = {name: "15", "restComesLater": "true"}
    old_form = desk.forms[1]
    assert [desk.press(form=1, **part).status_code for _ in range(2)] == [303, 303]
    page = desk.open(path)
    assert "The order stays open for the rest." in page.text and "Is the delivery here?" in page.text
    assert "15 cases" in page.text and "9 cases" in page.text and desk.forms[1].fields[name] == "9"
    body = {**old_form.fields, **part, "formKey": "another-window"}
    assert "recorded meanwhile" in desk.flask.post(path, data=body, follow_redirects=True).text
    assert (stock.read(item)["onHand"], stock.read(item)["onOrder"]) == (16, 9)
    desk.open(path)
    page = desk.send(form=1)
    assert "and the order is closed." in page.text and "Record the delivery" not in page.text
    assert (stock.read(item)["onHand"], stock.read(item)["onOrder"]) == (25, 0)


def test_a_form_that_was_open_counts_no_delivery_twice(stock: DeskStock, desk: Visitor) -> None:
    path, item = open_order(stock, desk)
    data(stock.adjust(item, 24, reason="received"))
    page = desk.send(form=1)
    assert "Something of this order was recorded meanwhile." in page.text and stock.read(item)["onHand"] == 25
    assert desk.forms[1].fields[f"quantity-{item['id']}"] == "0"
    desk.send(form=1)
    assert stock.read(item)["onHand"] == 25


def test_the_form_of_a_delivery_reads_its_own_quantity(stock: DeskStock, desk: Visitor) -> None:
    _, item = open_order(stock, desk, minOrderQty=12.125, parLevel=4)
    assert desk.forms[1].fields[f"quantity-{item['id']}"] == "12.1250"
    desk.send(form=1)
    assert stock.read(item)["onHand"] == 13.125


def test_an_order_is_cancelled(stock: DeskStock, desk: Visitor) -> None:
    path, item = open_order(stock, desk)
    desk.open(f"{path}/cancel")
    assert "tell Brewery yourself" in desk.page.text
    page = desk.send(form=1)
    assert (
        "The order is cancelled." in page.text and "Cancelled" in page.text and "Record the delivery" not in page.text
    )
    assert stock.read(item)["onOrder"] == 0
    desk.open(f"{path}/cancel")
    assert "This order is not open any more" in desk.send(form=1).text


def test_low_items_that_no_order_fills_up_are_named(
    app: Flask, client: Client, owner: Account, stock: DeskStock, desk: Visitor
) -> None:
    stock.item(name="Lager", onHand=1, reorderLevel=4, parLevel=20)
    stock.item(name="Plenty", onHand=9, reorderLevel=4)
    assert "Low, without a number" not in desk.open(f"{stock.desk_path}/order").text
    cups = stock.item(name="Cups <b>", onHand=1, reorderLevel=4, unit="case", minOrderQty=0, parLevel=0)
    page = desk.open(f"{stock.desk_path}/order").text
    part = page.partition("Low, without a number to fill up to")[2]
    field = f"parLevel-{cups['id']}"
    assert "Cups &lt;b&gt;</a>" in part and "1 case<" in part and field in part
    assert "Lager" not in part and "Plenty" not in page
    page = open_as(app, client, owner, "viewer").open(f"{stock.desk_path}/order").text
    assert "Cups &lt;b&gt;</a>" in page and "1 case<" in page and field not in page


def test_low_items_get_a_number_to_fill_up_to_in_the_list(stock: DeskStock, desk: Visitor) -> None:
    bread, cups, lager = (
        stock.item(name=name, onHand=2, reorderLevel=4, minOrderQty=0, parLevel=0)
        for name in ("Bread", "Cups", "Lager")
    )
    names = [f"parLevel-{item['id']}" for item in (bread, cups, lager)]

    def read_levels() -> list[float]:
        return [stock.read(item)["parLevel"] for item in (bread, cups, lager)]

    desk.open(f"{stock.desk_path}/order")
    assert "Enter a number for at least one item." in desk.send(form=1).text
    page = desk.send(form=1, **{names[0]: "many", names[1]: "2", names[2]: "20"})
    assert page.status_code == 422 and "Bread: Enter a number like 12 or 12.5." in page.text
    page = desk.send(form=1, **{names[0]: "-1", names[1]: "2", names[2]: "20"})
    assert "Bread: Enter 0 or more." in page.text
    page = desk.send(form=1, **{names[0]: "", names[1]: "2", names[2]: "20"})
    assert page.status_code == 422 and "Enter more than 2: so many are there or on order." in page.text
    assert read_levels() == [0, 0, 0] and desk.elements[names[2]]["value"] == "20"
    typed = {names[0]: "", names[1]: "1 200", names[2]: "20"}
    assert [desk.press(form=1, **typed).status_code for _ in range(2)] == [303, 303]
    page = desk.open(f"{stock.desk_path}/order")
    assert "2 numbers are saved." in page.text and "Make the order<" in page.text
    assert read_levels() == [0, 1200, 20] and "1198" in page.text and names[1] not in page.text
    assert "Items ordered: 2." in desk.send(form=1).text
    assert [stock.read(item)["onOrder"] for item in (bread, cups, lager)] == [0, 1198, 18]


def test_a_number_that_somebody_else_gave_meanwhile_stays(app: Flask, stock: DeskStock, desk: Visitor) -> None:
    item, other = stock.item(onHand=1, reorderLevel=4, minOrderQty=0, parLevel=0), DeskStock(stock.owner)
    desk.open(f"{stock.desk_path}/order")
    data(stock.owner.patch(f"{stock.path}/items/{item['id']}", {"parLevel": 50}))
    assert "0 numbers are saved." in desk.send(form=1, **{f"parLevel-{item['id']}": "20"}).text
    foreign = other.item(onHand=1, reorderLevel=4, minOrderQty=0, parLevel=0)
    stock.item(onHand=1, reorderLevel=4, minOrderQty=0, parLevel=0)
    desk.open(f"{stock.desk_path}/order")
    desk.send(form=2, **{f"parLevel-{foreign['id']}": "20", f"parLevel-{'x' * 24}": "20"})
    assert stock.read(item)["parLevel"] == 50 and other.read(foreign)["parLevel"] == 0


def test_a_number_that_somebody_else_gives_while_it_is_saved_stays(
    stock: DeskStock, desk: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = stock.item(onHand=1, reorderLevel=4, minOrderQty=0, parLevel=0)
    desk.open(f"{stock.desk_path}/order")
    list_items = queries.list_unfilled_items

    def list_items_and_change_one(event_id: str) -> Any:
        items = list_items(event_id)
        data(stock.owner.patch(f"{stock.path}/items/{item['id']}", {"parLevel": 50}))
        return items

    monkeypatch.setattr(queries, "list_unfilled_items", list_items_and_change_one)
    assert "0 numbers are saved." in desk.send(form=1, **{f"parLevel-{item['id']}": "20"}).text
    assert stock.read(item)["parLevel"] == 50


def test_an_order_of_anything_else_orders_nothing(stock: DeskStock, desk: Visitor) -> None:
    stock.item(name="Lager", onHand=1, reorderLevel=4)
    desk.open(f"{stock.desk_path}/order")
    for items in ("", "x,y", "\0", "0" * 24, "," * 40_000):
        desk.open(f"{stock.desk_path}/order")
        assert "Nothing was ordered" in desk.send(form=1, items=items).text


def test_counts_and_reports(stock: DeskStock, desk: Visitor) -> None:
    item = stock.item(name="Lager", onHand=10, costPrice=2.5)
    data(stock.adjust(item, counted=7))
    page = desk.open(f"{stock.desk_path}/counts").text
    assert "1 counted item " in page and ">−3<" in page and ">−N$\u00a07.50<" in page
    assert '"-3"' in desk.open(f"{stock.desk_path}/counts?format=csv").text
    assert "Nothing matches" in desk.open(f"{stock.desk_path}/counts?to=2020-01-01").text
    assert desk.open(f"{stock.desk_path}/counts?from=x").status_code == 422
    report = desk.open(f"{stock.desk_path}/reports/valuation")
    assert report.mimetype == "text/csv" and "Lager" in report.text
    assert desk.open(f"{stock.desk_path}/reports/other").status_code == 404
    desk.open(f"{stock.desk_path}/counts")
    page = desk.send(form=3)
    assert "The report is being made." in page.text
    run_due_jobs(worker="test")
    page = desk.open(page.request.path)
    assert "Download the report" in page.text
    assert desk.open(f"{page.request.path}/file").get_data().startswith(b"%PDF")


def test_the_reminder_is_set_and_sent(stock: DeskStock, desk: Visitor, owner: Account) -> None:
    path = f"{stock.desk_path}/reminder"
    desk.open(path)
    page = desk.send(form=1, enabled="true", frequency="weekly", weekday="friday", hour="25", recipients="nobody")
    assert page.status_code == 422 and "Enter e-mail addresses like" in page.text
    settings = {"enabled": "true", "frequency": "weekly", "weekday": "friday", "hour": "7"}
    page = desk.send(form=1, **settings, recipients="")
    assert page.status_code == 422 and "Enter an address." in page.text
    page = desk.send(form=1, **settings, recipients="bar@stock.example, Boss@stock.example\n\nbar@stock.example")
    assert "The reminder is saved." in page.text
    reminder = data(stock.owner.get(f"{stock.path}/reminder"))
    assert reminder["recipients"] == ["bar@stock.example", "boss@stock.example"] and reminder["weekday"] == "friday"
    desk.open(path)
    data(stock.owner.patch(f"{stock.path}/reminder", {"hour": 9}))
    page = desk.send(form=1, **settings, recipients="x@stock.example")
    assert page.status_code == 412 and data(stock.owner.get(f"{stock.path}/reminder"))["hour"] == 9
    desk.open(f"{path}/send")
    assert "The reminder goes to bar@stock.example" in desk.send(form=1).text
    run_due_jobs(worker="test")
    assert len(list_mails_to("bar@stock.example")) == 1


def test_only_who_may_sets_the_reminder(app: Flask, client: Client, owner: Account, stock: DeskStock) -> None:
    visitor = open_as(app, client, owner, "stock")
    visitor.open(stock.desk_path)
    body = {"csrf_token": visitor.forms[0].fields["csrf_token"], "version": "0"}
    for path in ("/reminder", "/reminder/send"):
        assert visitor.flask.post(f"{stock.desk_path}{path}", data=body).status_code == 403
