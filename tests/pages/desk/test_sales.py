"""The sales of an event at the desk: upload, columns, check, import, undo, figures, tickets."""

import json
import re
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.accounts.models import Account
from app.core.db import db
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from app.events.actions import ticket_uploads
from app.events.ticket_uploads import delete_old_uploads
from tests.blueprints.test_inventory_import import bomb, far_out, workbook
from tests.blueprints.test_ticket_import_undo import scan
from tests.counting import count_statements
from tests.events.law import assert_books_agree
from tests.events.test_import import DATA, TYPES, stats
from tests.factories.accounts import create_signed_in_client
from tests.factories.events import create_published_event, update_event
from tests.http import Client, data, read_error
from tests.pages.desk.test_events import EVENTS, WRITERS, open_as
from tests.pages.desk.test_stalls import READERS, ROLES
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_stall_page import find_title
from tests.pages.test_team_pages import create_owner
from tests.races import run_concurrently

PRETIX, EVENTBRITE = DATA / "pretix-positions.csv", DATA / "eventbrite-attendees.csv"
HEADER = "reference,ticketType,name,email,price,soldAt,status,secret\n"
ROWS = (
    "A1,Weekend pass,Zoë,zoe@example.com,850,2026-10-01,sold,one\n"
    "A2,Weekend pass,Petrus,p@example.com,850,2026-10-03,sold,two\n"
)
OTHER = "Nr;Kind;Guest;Barcode;Paid\n7;Early Bird;Zoë;007;850,00\n8;Weekend pass;Petrus;008;850,00\n"
COLUMNS = {
    "columnA": "reference",
    "columnB": "ticketType",
    "columnC": "name",
    "columnD": "secret",
    "columnE": "price",
}


@pytest.fixture
def event(organiser: Client) -> dict[str, Any]:
    return create_published_event(organiser, name="Windhoek Lights", ticketTypes=TYPES)


@pytest.fixture
def path(event: dict[str, Any]) -> str:
    return f"{EVENTS}/{event['id']}/sales"


def upload(desk: Visitor, path: str, content: str | bytes, name: str = "tickets.csv") -> TestResponse:
    """Send a file by the form, and follow where it leads."""
    desk.open(f"{path}/import")
    body = content if isinstance(content, bytes) else content.encode()
    fields: dict[str, Any] = {**desk.forms[-1].fields, "file": (BytesIO(body), name)}
    return desk._went("POST", f"{path}/import", data=fields, follow_redirects=True)


def post(desk: Visitor, address: str, **fields: Any) -> TestResponse:
    """Send fields to an address with the token of the open page."""
    token = next(form.fields["csrf_token"] for form in desk.forms if "csrf_token" in form.fields)
    return desk._went("POST", address, data={"csrf_token": token, **fields}, follow_redirects=True)


def book(desk: Visitor, path: str, content: str | bytes) -> TestResponse:
    """Upload and import a file, and open the page of the import."""
    upload(desk, path, content)
    page = post(desk, f"{desk.page.request.path}/import")
    assert "The tickets are imported" in page.text, page.text
    return desk.open(
        page.text.split('href="')[-1] and next(part for part in page.text.split('"') if "/imports/" in part)
    )


def count_rows(table: str) -> int:
    return int(db.session.scalar(text(f"SELECT count(*) FROM {table}")) or 0)


def test_a_small_file_and_one_with_an_open_quote_are_described(desk: Visitor, path: str) -> None:
    assert (
        "tickets.csv · A file with our column names · 1 row</p>"
        in upload(desk, path, "reference,ticketType\nA1,Day\n").text
    )
    page = upload(desk, path, 'reference,ticketType\nA1,"' + "x" * 200_000)
    assert page.status_code == 415 and "a cell has more than 131,072 characters, or its quotation mark" in page.text


def test_a_pretix_export_is_checked_imported_and_undone(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    assert "We know of no sold ticket yet" in desk.open(path).text
    page = desk.open(f"{path}/import").text
    assert "Only paid orders" in page and "is not cancelled" in page
    page_text = upload(desk, path, PRETIX.read_bytes(), "lights_orders.csv").text
    assert "Nothing is imported yet" in page_text and "lights_orders.csv · pretix · 396 rows" in page_text
    assert "<dd>282</dd>" in page_text and "<dd>114</dd>" in page_text and count_rows("ticket") == 0
    address = desk.page.request.path
    assert "Left out: tickets that are not paid" in page_text
    assert "The tickets are imported" in post(desk, f"{address}/import").text
    assert count_rows("ticket") == 282 and stats(organiser, event)["totals"]["sold"] == 282
    assert db.session.scalar(text("SELECT data FROM ticket_upload")) is None
    post(desk, f"{address}/import")
    assert "The tickets are imported" in desk.open(address).text and count_rows("ticket_import") == 1
    page_text = desk.open(path).text
    assert page_text.count("<svg") == 2 and "pretix" in page_text and "of 500" in page_text and "Takings" in page_text
    page_text = desk.open(f"{path}/imports").text
    assert "1 import " in page_text and "lights_orders.csv" in page_text
    import_id = db.session.scalar(text("SELECT id FROM ticket_import"))
    desk.open(f"{path}/imports/{import_id}/undo")
    assert "New tickets that go: 282" in desk.page.text
    assert "The import is undone." in desk.send(form=-1).text and "was undone on" in desk.page.text
    assert count_rows("ticket") == 0
    assert_books_agree()


def test_the_same_file_again_changes_nothing_and_says_so(desk: Visitor, path: str) -> None:
    book(desk, path, HEADER + ROWS)
    page = upload(desk, path, HEADER + ROWS).text
    assert "The file changes nothing" in page and "Import the tickets" not in page
    cancelled = ROWS.splitlines(True)[0].replace("sold", "cancelled")
    page = upload(desk, path, HEADER + cancelled).text
    assert "Cancelled (part of the changed ones)" in page and "not in the file: 1." in page
    page = upload(desk, path, EVENTBRITE.read_bytes()).text
    assert "Eventbrite · 120 rows" in page and "<dd>103</dd>" in page


def test_columns_and_ticket_types_of_another_shop_are_chosen(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    page = upload(desk, path, OTHER)
    assert find_title(page.text) == "What are the columns?" and "For example: 007 · 008" in page.text
    address = page.request.path
    page = post(desk, address, columnA="name", columnB="", columnC="name", columnD="nonsense")
    assert page.status_code == 422 and page.text.count("Choose one of the choices") == 2
    page = post(desk, address, columnA="name", columnC="name")
    assert page.status_code == 422 and "“Nr” is “Name (or first name)” already." in page.text
    assert "Choose the column that is “Ticket type”." in page.text and "Number of the ticket”, or" in page.text
    page = post(desk, address, **COLUMNS)
    assert "Ticket types that the event does not have" in page.text and "Early Bird" in page.text
    check = address.replace("columns", "check")
    type_id = event["ticketTypes"][0]["id"]
    assert post(desk, check, name="Early Bird", type="0" * 24).status_code == 404
    desk.open(address.removesuffix("/columns"))
    page = post(desk, check, name="Early Bird", type=type_id)
    assert "Nothing is imported yet" in page.text
    post(desk, address.replace("columns", "import"))
    sold = {row["name"]: row["sold"] for row in stats(organiser, event)["ticketTypes"]}
    assert sold["Weekend pass"] == 2 and "Early Bird" not in sold
    assert data(scan(organiser, event, "007"))["ticketType"] == "Weekend pass"


def test_first_and_last_names_are_two_columns(desk: Visitor, path: str) -> None:
    page = upload(desk, path, "Nr;Art;Vorname;Nachname\n7;Weekend pass;Zoë;Shilongo\n8;Weekend pass;;Nangolo\n")
    assert "Name (or first name)" in page.text and '<option value="lastName" selected>' in page.text
    address = page.request.path
    columns = {"columnA": "reference", "columnB": "ticketType", "columnC": "name"}
    page = post(desk, address, **columns, columnD="name")
    assert page.status_code == 422 and "“Vorname” is “Name (or first name)” already." in page.text
    post(desk, address, **columns, columnD="lastName")
    post(desk, address.replace("columns", "import"))
    page = desk.open(f"{path}/tickets")
    assert "Zoë Shilongo" in page.text and "Nangolo" in page.text


def test_the_columns_of_the_last_import_are_suggested(desk: Visitor, path: str) -> None:
    page = upload(desk, path, OTHER)
    assert "The columns are as you chose them" not in page.text
    post(desk, page.request.path, **COLUMNS)
    page = upload(desk, path, OTHER.replace("007", "107"))
    assert "The columns are as you chose them" in page.text
    assert [page.text.count(f'<option value="{field}" selected>') for field in COLUMNS.values() if field] == [
        1 for field in COLUMNS.values() if field
    ]


def test_the_columns_of_a_file_with_one_more_are_known_by_their_headings(
    app: Flask, client: Client, desk: Visitor, path: str
) -> None:
    """The latest choice of each heading counts; a column has one meaning, and another organisation knows nothing."""
    sheet = "Serial;Kind;Who;Seal;Extra\n7;Early Bird;Zoë;007;x\n"
    page = upload(desk, path, sheet)
    chosen = {"columnA": "reference", "columnB": "ticketType", "columnC": "name", "columnD": "secret"}
    run_concurrently(4, lambda _: desk.press(form=1, **chosen))
    page = upload(desk, path, "Colour;SEAL;who;Mail;Serial;Kind\nred;8;Otto;o@example.com;8;Early Bird\n")
    assert "Some columns are as you chose them last time." in page.text and list_choices(page) == {
        "Colour": "",
        "SEAL": "secret",
        "who": "name",
        "Mail": "email",
        "Serial": "reference",
        "Kind": "ticketType",
    }
    post(desk, page.request.path, columnB="numberAndCode", columnC="name", columnF="ticketType")
    page = upload(desk, path, "Seal;Kind;Serial;Who;Other\n9;Early Bird;9;Otto;x\n")
    assert list_choices(page) == {
        "Seal": "numberAndCode",
        "Kind": "ticketType",
        "Serial": "",
        "Who": "name",
        "Other": "",
    }
    page = upload(desk, path, sheet)
    assert "The columns are as you chose them last time." in page.text and list_choices(page)["Seal"] == "secret"
    account = create_owner("Namib Events")
    other = create_published_event(create_signed_in_client(client, account))
    page = upload(sign_in_browser(app, account), f"{EVENTS}/{other['id']}/sales", sheet.replace("Extra", "More"))
    assert "last time" not in page.text and list_choices(page)["Seal"] == ""


def list_choices(page: TestResponse) -> dict[str, str]:
    """The chosen meaning of each column on the page of columns, by its heading."""
    parts = page.text.split('<label for="column')[1:]
    headings = (part.split(">", 1)[1].split("<")[0].strip() for part in parts)
    chosen = (re.search(r'<option value="(\w*)" selected>', part) for part in parts)
    return {heading: match[1] if match else "" for heading, match in zip(headings, chosen, strict=True)}


def test_the_number_of_a_ticket_is_its_code_where_the_shop_says_so(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    address = upload(desk, path, "Serial;Kind\n8800001;Weekend pass\n").request.path
    page = post(desk, address, columnA="reference", columnB="ticketType")
    assert "The gate finds a ticket without a code by name only." in page.text
    page = post(desk, address, columnA="numberAndCode", columnB="numberAndCode")
    assert page.status_code == 422 and "“Serial” is “Code in the QR code or barcode” already." in page.text
    page = post(desk, address, columnA="numberAndCode", columnB="ticketType")
    assert "Nothing is imported yet" in page.text and "by name only" not in page.text
    assert '<option value="numberAndCode" selected>' in desk.open(address).text
    assert "the gate admits them" in post(desk, address.replace("columns", "import")).text
    assert data(scan(organiser, event, "8800001"))["ticketType"] == "Weekend pass"


def test_a_column_is_not_the_order_and_the_code(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    sheet = "Nr;Kind;Order;ORDER\n1;Weekend pass;88;88\n"
    address = upload(desk, path, sheet).request.path
    chosen = {"columnA": "reference", "columnB": "ticketType"}
    page = post(desk, address, **chosen, columnC="orderNumber", columnD="secret")
    assert page.status_code == 415 and "One column cannot be both the number of the order and the code" in page.text
    page = post(desk, address, **chosen, columnC="orderNumber")
    assert "cannot be both" not in page.text
    mapping = {"reference": "Nr", "ticketType": "Kind", "orderNumber": "Code", "secret": "code"}
    form = {"file": (BytesIO(b"Nr,Kind,Code\n1,Weekend pass,88\n"), "sales.csv"), "mapping": json.dumps(mapping)}
    response = organiser.post(f"/api/events/{event['id']}/tickets/import", data=form)
    assert read_error(response) == (415, "NOT_A_SPREADSHEET") and "cannot be both" in response.get_json()["message"]
    assert count_rows("ticket") == 0


def test_an_unknown_ticket_type_is_made(organiser: Client, event: dict[str, Any], desk: Visitor, path: str) -> None:
    upload(desk, path, HEADER + ROWS.replace("Weekend pass", "Backstage"))
    address = desk.page.request.path
    assert "New ticket types" in post(desk, f"{address}/check", name="Backstage", type="new").text
    post(desk, f"{address}/import")
    assert {row["name"]: row["sold"] for row in stats(organiser, event)["ticketTypes"]}["Backstage"] == 2


def test_a_ticket_type_is_chosen_once_for_the_files_of_an_event(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    upload(desk, path, HEADER + ROWS.replace("Weekend pass", "Wochenende"))
    address = desk.page.request.path
    assert "Choose what each name and word" in post(desk, f"{address}/check", name="Wochenende", type="").text
    type_id = event["ticketTypes"][0]["id"]
    page = post(desk, f"{address}/check", name="Wochenende", type=type_id).text
    assert "“Wochenende” is Weekend pass" in page and "Import the tickets" in page
    post(desk, f"{address}/import")
    page = upload(desk, path, HEADER + ROWS.replace("Weekend pass", "Wochenende")).text
    assert "“Wochenende” is Weekend pass" in page and "The file changes nothing" in page
    address = desk.page.request.path
    page = post(desk, f"{address}/check", again="true").text
    assert "Ticket types that the event does not have" in page and "“Wochenende” is" not in page
    page = post(desk, f"{address}/check", name="Wochenende", type="new").text
    assert "New ticket types" in page and "“Wochenende” is" not in page
    page = upload(desk, path, HEADER + ROWS.replace("Weekend pass", "Wochenende")).text
    assert "Ticket types that the event does not have" in page, "a new ticket type takes back the earlier choice"
    other = create_published_event(organiser)
    page = upload(desk, f"{EVENTS}/{other['id']}/sales", HEADER + ROWS.replace("Weekend pass", "Wochenende")).text
    assert "Ticket types that the event does not have" in page


def test_the_number_of_an_order_is_not_taken_for_that_of_a_ticket(desk: Visitor, path: str) -> None:
    rows = "".join(f"ORD{number // 3},8800{number},Weekend pass\n" for number in range(9))
    page = upload(desk, path, f"Order No,Barcode,Ticket type\n{rows}")
    columns = page.request.path
    assert '<option value="numberAndCode" selected>' in page.text and 'value="reference" selected' not in page.text
    page = post(desk, columns, columnA="reference", columnB="secret", columnC="ticketType").text
    assert "the column is perhaps that of the order" in page
    page = post(desk, columns, columnB="numberAndCode", columnC="ticketType").text
    assert "perhaps that of the order" not in page and "<dt>New</dt><dd>9</dd>" in page


def test_only_the_names_that_were_chosen_become_ticket_types(event: dict[str, Any], desk: Visitor, path: str) -> None:
    page = upload(desk, path, "Serial;Kind;Guest\nA1;Early Bird;Zoë\nA2;Backstage;Petrus\n")
    columns = page.request.path
    post(desk, columns, columnA="reference", columnB="ticketType")
    address = columns.removesuffix("/columns")
    page = post(desk, f"{address}/check", name="Early Bird", type=event["ticketTypes"][0]["id"]).text
    assert "Backstage" in page and "New ticket types" not in page
    page = post(desk, f"{address}/check", name="Backstage", type="new").text
    assert "<dt>New ticket types</dt><dd>1 <span" in page and "“Early Bird” is Weekend pass" in page
    page = post(desk, columns, columnA="reference", columnC="ticketType").text
    assert "Zoë" in page and "Ticket types that the event does not have" in page and "New ticket types" not in page


def test_a_ticket_type_that_is_removed_is_no_choice_any_more(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    types = [*event["ticketTypes"], {"name": "One day", "priceMinor": 100, "quantity": 5}]
    update_event(organiser, event, ticketTypes=types)
    event = data(organiser.get(f"/api/events/{event['id']}"))
    columns = upload(desk, path, "Serial;Kind\nA1;Tag\n").request.path
    address = columns.removesuffix("/columns")
    post(desk, columns, columnA="reference", columnB="ticketType")
    post(desk, f"{address}/check", name="Tag", type=event["ticketTypes"][-1]["id"])
    update_event(organiser, event, ticketTypes=event["ticketTypes"][:-1])
    for page in (post(desk, columns, columnA="reference", columnB="ticketType"), post(desk, f"{address}/import")):
        assert page.status_code == 200 and "Ticket types that the event does not have" in page.text


def test_errors_are_listed_by_row_and_column(desk: Visitor, path: str) -> None:
    content = HEADER + ROWS + "A2,Weekend pass,,nobody,8.5.0,yesterday,sold,two\n,,,,,,,\nA4,,,,,,,\n"
    page = upload(desk, path, content).text
    for text_ in ("some rows have problems", "nobody", "8.5.0", "yesterday", "Must not be empty."):
        assert text_ in page, text_
    assert "Import the tickets" not in page and "--" not in page
    page = post(desk, f"{desk.page.request.path}/import").text
    assert "cannot be imported like this" in page and count_rows("ticket") == 0


def test_the_check_names_cancelled_tickets_new_types_and_the_money(desk: Visitor, path: str) -> None:
    upload(desk, path, HEADER + ROWS)
    page = post(desk, f"{desk.page.request.path}/import").text
    assert "Price of the new tickets</dt><dd>N$\u00a01\u202f700.00" in page and "cancelled ticket" not in page
    cancelled = ROWS.replace("sold", "cancelled", 1)
    new = "A9,<b>Camping</b>,Nela,,120,2026-10-01,sold,nine\nB1,<B>CAMPING</B>,Otto,,120,2026-10-01,sold,ten\n"
    upload(desk, path, HEADER + cancelled + new)
    page = post(desk, f"{desk.page.request.path}/check", name="<b>Camping</b>", type="new").text
    assert "1 cancelled ticket<" in page and "<li>A1 · <bdi>" in page
    assert '<dt>New ticket types</dt><dd>1 <span class="unit">&lt;b&gt;Camping&lt;/b&gt;</span>' in page
    assert "N$\u00a0240.00" in page


def test_the_check_shows_the_first_rows_as_they_will_be_imported(
    event: dict[str, Any], desk: Visitor, path: str
) -> None:
    header = HEADER.replace("secret", "secret,orderNumber")
    rows = "A0,Weekend pass,Nobody,,,,cancelled,nil,\n" + "".join(
        f"A{number},WEEKEND PASS,<b>Zoë {number}</b>,zoe{number}@example.com,850,2026-10-0{number} 18:00,sold,s{number},K77\n"
        for number in range(1, 6)
    )
    page = upload(desk, path, header + rows).text
    table = page.split("The first rows, as they will be imported")[1].split("</table>")[0]
    assert table.count("<tr>") == 4 and "Nobody" not in table and "A4" not in table
    for text_ in ("A1", "s1", "K77", ">Weekend pass<", "&lt;b&gt;Zoë 3&lt;/b&gt;", "zoe3@", "N$\u00a0850.00", "18:00"):
        assert text_ in table, text_
    assert "The first rows" not in post(desk, f"{desk.page.request.path}/import").text
    stored = db.session.scalar(text("SELECT result -> 'first_tickets' FROM ticket_upload"))
    assert stored == [], "codes are not kept after the import"
    page = upload(desk, path, "reference,ticketType\nB1,Weekend pass\n").text
    assert "The first rows" in page and '<th scope="col">Price</th>' not in page


def test_more_than_there_are_places_needs_a_click(organiser: Client, desk: Visitor) -> None:
    event = create_published_event(organiser, ticketTypes=[{"name": "Weekend pass", "priceMinor": 1, "quantity": 1}])
    path = f"{EVENTS}/{event['id']}/sales"
    page = upload(desk, path, HEADER + ROWS).text
    assert "Tickets that the file adds: 2. Free tickets of this type: 1 of 1." in page and "allow-oversell" not in page
    address = desk.page.request.path
    assert "Raise the numbers and check again" in page and "the capacity" not in page
    page = post(desk, f"{address}/check", raiseTotals="true").text
    assert "Nothing is imported yet" in page and "Weekend pass: 2 tickets instead of 1." in page
    assert data(organiser.get(f"/api/events/{event['id']}"))["ticketTypes"][0]["quantity"] == 1
    post(desk, f"{address}/import")
    changed = data(organiser.get(f"/api/events/{event['id']}"))
    assert changed["ticketTypes"][0]["quantity"] == 2 and changed["version"] > event["version"]
    assert "Sold above the total" not in desk.open(path).text


def test_more_than_the_capacity_needs_a_click(organiser: Client, desk: Visitor) -> None:
    types = [{"name": "Weekend pass", "priceMinor": 1, "quantity": 1}]
    event = create_published_event(organiser, ticketTypes=types, capacity=1)
    path = f"{EVENTS}/{event['id']}/sales"
    upload(desk, path, HEADER + ROWS)
    address = desk.page.request.path
    page = post(desk, f"{address}/check", raiseTotals="true").text
    assert "Import more than the capacity" in page and "Raise the numbers" not in page
    assert "Nothing is imported yet" in post(desk, f"{address}/check", allowOversell="true").text
    post(desk, f"{address}/import")
    assert data(organiser.get(f"/api/events/{event['id']}"))["ticketTypes"][0]["quantity"] == 2


def nul_workbook() -> bytes:
    return workbook([["reference", "ticketType"], ["A_x0000_1", "Weekend pass"]])


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "empty.csv", "Choose a file that is not empty."),
        (b"\n\n", "blank.csv", "The file is empty."),
        (b"reference,ticketType\nA\0,B\n", "nul.csv", "This is not a text file"),
        (b"\x89PNG\r\n\x1a\n\0\0", "picture.png", "This is not a text file"),
        (b"PK\x03\x04 not a workbook", "broken.xlsx", "The workbook is damaged"),
        (bomb, "bomb.xlsx", "workbook"),
        (far_out, "far.xlsx", "workbook"),
        (b'reference,ticketType\n"A,B\n', "quote.csv", "cannot read this file as a table"),
        (b"%PDF-1.7 TICKET", "ticket.pdf", "This is not a text file"),
        (b"reference,ticketType\n", "header.csv", "The file has no tickets"),
        (b"a," * 600 + b"\n1\n", "wide.csv", "more than 500 columns"),
    ],
)
def test_a_bad_file_is_an_error_on_the_form(desk: Visitor, path: str, content: Any, name: str, message: str) -> None:
    page = upload(desk, path, content() if callable(content) else content, name)
    assert page.status_code in (415, 422) and message in page.text and 'href="#file"' in page.text, page.text
    assert count_rows("ticket_upload") == 0


def test_two_columns_of_one_name_are_refused_if_they_are_read(desk: Visitor, path: str) -> None:
    page = upload(desk, path, "reference,ticketType,Name,name\nA1,Day,Tuli,Selma\n")
    assert "There are two columns of this name." in page.text and count_rows("ticket") == 0
    page = upload(desk, path, "reference,ticketType,Company,Company\nA1,Weekend pass,x,y\n")
    assert "There are two columns" not in page.text and "1 row</p>" in page.text


def test_no_file_and_a_large_one_are_errors_too(desk: Visitor, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.open(f"{path}/import")
    assert desk.send(form=-1).status_code == 422 and "Choose a file" in desk.page.text
    monkeypatch.setattr(ticket_uploads, "MAX_ROWS", 1)
    page = upload(desk, path, HEADER + ROWS)
    assert page.status_code == 413 and "100,000 rows. Split it" in page.text
    page = desk.open(f"{path}/import?tooLarge=99999999")
    assert page.status_code == 413 and "The file is too large." in page.text


def test_nul_in_a_workbook_breaks_nothing(desk: Visitor, path: str) -> None:
    assert upload(desk, path, nul_workbook(), "nul.xlsx").status_code == 200
    odd = workbook([["Nr\0", "_x0000_", "Kind"], ["1", "2", "3"]])
    assert upload(desk, path, odd, "odd.xlsx").status_code == 200


def test_uploads_of_others_and_old_ones_are_not_there(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    upload(desk, path, HEADER + ROWS)
    address = desk.page.request.path
    manager = open_as(app, client, owner, "manager")
    stranger = sign_in_browser(app, create_owner("Other"))
    other_event = create_published_event(organiser, name="Desert Days", ticketTypes=TYPES)
    moved = address.replace(event["id"], other_event["id"])
    manager.open(f"{path}/import")
    for visitor, place in ((manager, address), (stranger, address), (desk, moved)):
        for page in ("", "/columns"):
            assert visitor.open(f"{place}{page}").status_code == 404
    manager.open(f"{path}/import")
    for act in ("/import", "/check", "/columns"):
        assert post(manager, f"{address}{act}").status_code == 404
        manager.open(f"{path}/import")
    assert desk.open(f"{path}/uploads/{'0' * 24}").status_code == 404
    with transaction() as session:
        session.execute(text("UPDATE ticket_upload SET created_at = now() - interval '49 hours'"))
    assert desk.open(address).status_code == 404

    with transaction() as session:
        delete_old_uploads(session)
    assert count_rows("ticket_upload") == 0


def test_a_person_has_five_uploads_at_most(desk: Visitor, path: str) -> None:
    for number in range(7):
        upload(desk, path, HEADER + ROWS.replace("A1", f"B{number}"))
    assert count_rows("ticket_upload") == 5
    assert desk.open(desk.page.request.path).status_code == 200


def test_a_large_file_is_left_to_a_worker(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticket_uploads, "MAX_SYNC_ROWS", 1)
    page = upload(desk, path, HEADER + ROWS).text
    address = desk.page.request.path
    assert "Checking the file" in page and "data-refresh-seconds" in page and "<progress" in page
    post(desk, f"{address}/import")
    assert "Checking the file" in desk.page.text
    run_due_jobs(worker="test")
    assert "Nothing is imported yet" in desk.open(address).text and count_rows("ticket") == 0
    assert "Importing the tickets" in post(desk, f"{address}/import").text
    post(desk, f"{address}/import")
    assert count_rows("outbox WHERE kind = 'events.import_upload' AND state = 'ready'") == 1
    run_due_jobs(worker="test")
    assert "The tickets are imported" in desk.open(address).text and count_rows("ticket") == 2
    entry = "SELECT actor_kind, actor_id FROM audit_entry WHERE action = 'events.tickets_imported'"
    assert [tuple(row) for row in db.session.execute(text(entry))] == [
        ("person", db.session.scalar(text("SELECT account_id FROM ticket_upload")))
    ]
    assert_books_agree()


def test_a_check_whose_worker_died_is_started_again(desk: Visitor, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticket_uploads, "MAX_SYNC_ROWS", 1)
    upload(desk, path, HEADER + ROWS)
    address = desk.page.request.path
    with transaction() as session:
        session.execute(text("UPDATE ticket_upload SET asked_at = now() - interval '1 hour'"))
        session.execute(text("DELETE FROM outbox WHERE kind = 'events.import_upload'"))
    assert "The file is not checked yet" in desk.open(address).text
    post(desk, f"{address}/check")
    run_due_jobs(worker="test")
    assert "Nothing is imported yet" in desk.open(address).text


def test_a_type_that_was_removed_meanwhile_is_a_problem_to_check_again(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticket_uploads, "MAX_SYNC_ROWS", 1)
    upload(desk, path, HEADER + ROWS)
    with transaction() as session:
        session.execute(
            text(
                """UPDATE ticket_upload SET options = options || '{"ticket_types": {"X": "000000000000000000000000"}}'"""
            )
        )
    run_due_jobs(worker="test")
    assert "Check it again" in desk.open(desk.page.request.path).text


def test_the_undo_says_why_it_is_refused(organiser: Client, event: dict[str, Any], desk: Visitor, path: str) -> None:
    first = book(desk, path, HEADER + ROWS).request.path
    assert "Undo this import" in desk.page.text
    second = book(desk, path, HEADER + ROWS.replace("Petrus", "Paul")).request.path
    page = desk.open(first).text
    assert "Undo that one first." in page and "Undo this import" not in page
    desk.open(f"{first}/undo")
    page = desk.send(form=-1)
    assert page.status_code == 409 and "Undo that one first." in page.text
    data(scan(organiser, event, "two"))
    desk.open(f"{second}/undo")
    page = desk.send(form=-1)
    assert page.status_code == 409 and "Guests have entered" in page.text and count_rows("ticket") == 2


def test_tickets_are_searched_and_filtered(organiser: Client, event: dict[str, Any], desk: Visitor, path: str) -> None:
    assert "Tickets appear here" in desk.open(f"{path}/tickets").text
    content = ROWS + "A3,Camping add-on,Ruusa,r@example.com,120,2026-10-02,sold,three\n"
    import_id = book(desk, path, HEADER + content).request.path.split("/")[-1]
    data(scan(organiser, event, "two"))
    camping = event["ticketTypes"][2]["id"]
    for query, name in (
        ("q=Zo", "Zoë"),
        ("q=A3", "Ruusa"),
        ("q=p@exa", "Petrus"),
        ("q=three", "Ruusa"),
        (f"ticketTypeId={camping}", "Ruusa"),
        ("admitted=true", "Petrus"),
    ):
        page = desk.open(f"{path}/tickets?{query}").text
        assert "1 ticket " in page and name in page, query
    assert "3 tickets" in desk.open(f"{path}/tickets?importId={import_id}").text
    for query in ("status=refunded", "q=hre", f"importId={'0' * 24}"):
        assert "Nothing matches" in desk.open(f"{path}/tickets?{query}").text, query
    assert desk.open(f"{path}/tickets?ticketTypeId=x&q=%00").status_code == 422
    answer = desk.open(f"{path}/tickets?format=csv")
    assert "Ruusa" in answer.text and "120.00" in answer.text
    assert count_rows("audit_entry WHERE action = 'exports.sales'") == 1


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_and_does_what_it_may(
    app: Flask, client: Client, owner: Account, desk: Visitor, path: str, role: str
) -> None:
    import_path = book(desk, path, HEADER + ROWS).request.path
    upload_path = upload(desk, path, HEADER + ROWS.replace("A2", "A9")).request.path
    visitor = open_as(app, client, owner, role)
    page = visitor.open(path)
    assert page.status_code == 200 and "Sold each day" in page.text
    assert ("Takings" in page.text) == (role in ("owner", "manager", "finance"))
    assert ("Import sales" in page.text) == (role in WRITERS)
    for name in ("tickets", "imports"):
        assert visitor.open(f"{path}/{name}").status_code == (200 if role in READERS else 403)
    if role in READERS:
        assert ("Undo this import" in visitor.open(import_path).text) == (role in WRITERS)
    for address in (f"{path}/import", f"{import_path}/undo"):
        assert visitor.open(address).status_code == (200 if role in WRITERS else 403)
    if role in WRITERS:
        return
    visitor.open(path)
    visitor.open(EVENTS)
    for address in (f"{path}/import", f"{import_path}/undo", f"{upload_path}/import", f"{upload_path}/check"):
        token = visitor.forms[0].fields["csrf_token"]
        assert visitor.flask.post(address, data={"csrf_token": token}).status_code == 403, address
    assert count_rows("ticket") == 2


def test_sales_of_others_are_not_there(app: Flask, desk: Visitor, path: str) -> None:
    import_path = book(desk, path, HEADER + ROWS).request.path
    stranger = sign_in_browser(app, create_owner("Other"))
    for address in (path, f"{path}/tickets", f"{path}/imports", f"{path}/import", import_path, f"{import_path}/undo"):
        assert stranger.open(address).status_code == 404, address


def test_the_pages_take_few_statements(desk: Visitor, path: str) -> None:
    import_path = book(desk, path, HEADER + ROWS).request.path
    book(desk, path, HEADER + ROWS.replace("Petrus", "Paul"))
    found = [
        len(count_statements(lambda address=address: desk.flask.get(address))[1])
        for address in (path, f"{path}/tickets", f"{path}/imports", import_path)
    ]
    assert found == [12, 10, 10, 9]
