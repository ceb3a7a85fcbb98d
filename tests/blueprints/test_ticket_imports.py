"""`/api/events/{eventId}/tickets`: importing a file, and listing what was imported."""

import json
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.core.db import db
from app.events.actions import import_ticket_file
from app.events.models import Ticket
from app.events.ticket_column_names import suggest_mapping
from app.events.ticket_layouts import build_layout
from app.events.ticket_uploads import suggest_for_sample
from tests.events.test_import import DATA, TYPES, as_excel
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data, read_error
from tests.races import run_concurrently

OWN = "reference,ticketType,name,secret\nA1,Weekend pass,Zoë,one\nA2,Weekend pass,Petrus,two\n"
OTHER = "Ticket No;Kind;Barcode;Paid;State\n7;Weekend pass;007;850,00;paid\n8;Weekend pass;008;;Refunded\n"
MAPPING = {"reference": "ticket no", "ticketType": "Kind", "secret": "Barcode", "price": "Paid", "status": "State"}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def path(owner: Client) -> str:
    return f"/api/events/{create_published_event(owner, ticketTypes=TYPES)['id']}/tickets"


def send(client: Client, path: str, content: str | bytes, headers: Any = None, **fields: Any) -> TestResponse:
    body = content if isinstance(content, bytes) else content.encode()
    form = {"file": (BytesIO(body), "tickets.csv"), **fields}
    options = {"data": form, "content_type": "multipart/form-data"}
    return client.open("POST", f"{path}/import", headers=headers or {}, **options)


def count_tickets() -> int:
    return db.session.scalar(select(func.count()).select_from(Ticket)) or 0


@pytest.mark.parametrize(
    ("name", "format", "created", "skipped"),
    [("pretix-positions.csv", "pretix", 282, 114), ("eventbrite-attendees.csv", "eventbrite", 103, 17)],
)
def test_exports_are_recognised_and_written_once(
    owner: Client, path: str, name: str, format: str, created: int, skipped: int
) -> None:
    content = (DATA / name).read_bytes()
    dry_run = data(send(owner, path, content, dryRun="true"))
    assert count_tickets() == 0
    first = data(send(owner, path, content))
    assert len(dry_run.pop("firstTickets")) == 3 and first.pop("firstTickets") == []
    assert first.pop("importId") and first == {name: value for name, value in dry_run.items() if name != "importId"}
    assert (first["format"], first["created"], first["skipped"], first["errors"]) == (format, created, skipped, [])
    again = data(send(owner, path, as_excel(content.decode()) if format == "eventbrite" else content, format=format))
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 0, created)


def test_mapping_reads_any_sheet(owner: Client, path: str) -> None:
    result = data(send(owner, path, OTHER, mapping=json.dumps(MAPPING)))
    assert (result["format"], result["created"], result["skipped"]) == ("mapping", 1, 1)
    (ticket,) = data(owner.get(path))["tickets"]
    assert (ticket["reference"], ticket["secret"], ticket["priceMinor"]) == ("7", "007", 85000)


@pytest.mark.parametrize(
    ("mapping", "status"),
    [
        ("{", 422),
        ("[]", 422),
        ("[" * 20_000, 422),
        ('{"reference": "Ticket No"}', 422),
        ('{"reference": "Ticket No", "ticketType": {}}', 422),
        ('{"reference": "Ticket No", "ticketType": "Kind", "colour": "Kind"}', 422),
        ('{"reference": "Ticket No", "ticketType": "Colour"}', 415),
        ('{"reference": "Ticket No", "ticketType": "--"}', 415),
    ],
)
def test_bad_mapping_is_refused(owner: Client, path: str, mapping: str, status: int) -> None:
    assert send(owner, path, OTHER, mapping=mapping).status_code == status


def test_errors_are_listed_by_row_and_column_and_nothing_is_written(owner: Client, path: str) -> None:
    content = "reference,ticketType,secret\nA1,Weekend pass,one\nA2,Backstage,two\n"
    response = send(owner, path, content)
    assert read_error(response) == (422, "IMPORT_REJECTED")
    (error,) = response.get_json()["data"]["errors"]
    assert (error["row"], error["column"], error["code"]) == (3, "ticketType", "unknown_value")
    dry_run = data(send(owner, path, content, dryRun="true"))
    assert dry_run["errors"] == [error] and dry_run["errorCount"] == 1 and count_tickets() == 0
    assert data(send(owner, path, content, createTypes="true"))["newTypes"] == 1


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"\x89PNG\r\n\x1a\n\0\0", 415),
        (b"a,b\n1,2\n", 415),
        (b'reference,ticketType\nA1,"x', 415),
        (b"PK\x03\x04 broken", 415),
        (b"reference,ticketType" + b",x" * 600 + b"\nA1,Weekend pass\n", 415),
        (b"reference,ticketType\nA1,Weekend pass,3,4,5\n", 422),
        (b"reference,ticketType,validFrom\nA1,Weekend pass,9999-12-31\n", 422),
    ],
)
def test_hostile_files_are_refused(owner: Client, path: str, content: bytes, status: int) -> None:
    assert send(owner, path, content).status_code == status and count_tickets() == 0


def test_large_files_are_refused(owner: Client, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_ticket_file, "MAX_ROWS", 1)
    response = send(owner, path, OWN)
    assert read_error(response) == (413, "IMPORT_TOO_LARGE") and count_tickets() == 0


def test_repeated_key_gets_the_first_answer(owner: Client, path: str) -> None:
    key = {"Idempotency-Key": "ticket-import-0001"}
    assert data(send(owner, path, OWN, key))["created"] == 2 == data(send(owner, path, OWN, key))["created"]


def test_two_imports_at_once_book_every_ticket_once(app: Flask, owner: Client, path: str) -> None:
    def run(_: int) -> dict[str, int]:
        client = Client(app.test_client(), owner.headers)
        return data(send(client, path, OWN))

    results = run_concurrently(4, run)
    assert sorted(result["created"] for result in results) == [0, 0, 0, 2] and count_tickets() == 2


def test_list_has_filters(owner: Client, path: str) -> None:
    send(owner, path, OWN)
    send(owner, path, "reference,ticketType,status\nA2,Weekend pass,cancelled\n")

    def found(**query: str) -> list[str]:
        return [ticket["reference"] for ticket in data(owner.get(path, query_string=query))["tickets"]]

    assert found() == ["A1", "A2"] and found(sort="-reference") == ["A2", "A1"]
    assert found(q="ZO") == ["A1"] and found(q="a2") == ["A2"] and found(q="%") == []
    assert found(status="sold") == ["A1"] and found(admitted="true") == [] and found(admitted="false") == ["A1", "A2"]
    assert found(ticketTypeId="6565a1f0c3d2e1b0a9f8e7d6") == []


def test_other_organisers_see_and_import_nothing(client: Client, owner: Client, path: str) -> None:
    other = create_organiser_client(client)
    assert other.get(path).status_code == 404 and send(other, path, OWN).status_code == 404
    assert count_tickets() == 0


def test_secret_and_price_need_permissions_of_their_own(client: Client, owner: Client, path: str) -> None:
    send(owner, path, OWN)
    analyst = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    (ticket, _) = data(analyst.get(path))["tickets"]
    assert ticket["secret"] is None and ticket["name"] == "Zoë" and ticket["priceMinor"] == 85000
    assert send(analyst, path, OWN).status_code == 403


def test_names_of_the_file_get_ticket_types_of_the_event(owner: Client, path: str) -> None:
    weekend = data(owner.get(path.removesuffix("/tickets")))["ticketTypes"][0]["id"]
    content = "reference,ticketType\nA1,Early Bird\nA2,early bird\nA3,Backstage\n"
    unknown = data(send(owner, path, content, dryRun="true"))["unknownTypes"]
    names = [{"name": "Early Bird", "rows": 1}, {"name": "early bird", "rows": 1}, {"name": "Backstage", "rows": 1}]
    assert unknown == names
    types = {"ticketTypes": json.dumps({"EARLY BIRD": weekend})}
    unknown = data(send(owner, path, content, dryRun="true", **types))["unknownTypes"]
    assert unknown == [{"name": "Backstage", "rows": 1}]
    assert data(send(owner, path, content, createTypes="true", **types))["newTypes"] == 1
    assert [row["ticketType"] for row in data(owner.get(path))["tickets"]] == [*["Weekend pass"] * 2, "Backstage"]
    for wrong in (json.dumps({"X": "0" * 24}), json.dumps({"X": 1}), json.dumps([weekend]), "{"):
        assert read_error(send(owner, path, content, ticketTypes=wrong))[0] == 422, wrong
    assert count_tickets() == 3


def test_tickets_that_are_cancelled_or_missing_are_counted(owner: Client, path: str) -> None:
    rows = "reference,ticketType,status\nA1,Weekend pass,sold\nA2,Weekend pass,sold\nA3,Weekend pass,sold\n"
    first = data(send(owner, path, rows))
    assert (first["created"], first["cancelled"], first["missing"]) == (3, 0, 0)
    second = data(send(owner, path, "reference,ticketType,status\nA1,Weekend pass,refunded\nA9,Weekend pass,sold\n"))
    assert (second["created"], second["updated"], second["cancelled"], second["missing"]) == (1, 1, 1, 2)
    statistics = data(owner.get(f"{path.removesuffix('/tickets')}/ticket-stats"))
    assert statistics["sources"] == [{"format": "own", "tickets": 4}] and statistics["totals"]["sold"] == 3


def test_a_ticket_is_found_by_its_whole_secret(owner: Client, path: str) -> None:
    send(owner, path, OWN)
    for q, found in (("two", ["A2"]), ("tw", [])):
        tickets = data(owner.get(path, query_string={"q": q}))["tickets"]
        assert [ticket["reference"] for ticket in tickets] == found


ORDERS = "Ticket No,Order No,Kind\n71,B-9,Weekend pass\n72,B-9,Weekend pass\n73,b-10,Weekend pass\n"
ORDER_COLUMNS = {"reference": "Ticket No", "orderNumber": "Order No", "ticketType": "Kind"}


def test_tickets_are_found_by_their_order(owner: Client, path: str) -> None:
    data(send(owner, path, ORDERS, mapping=json.dumps(ORDER_COLUMNS)))
    for q, found in (("b-9", ["71", "72"]), ("B-1", ["73"]), ("9", [])):
        tickets = data(owner.get(path, query_string={"q": q}))["tickets"]
        assert [ticket["reference"] for ticket in tickets] == found, q
    assert [ticket["orderNumber"] for ticket in tickets] == []
    assert [row["orderNumber"] for row in data(owner.get(path))["tickets"]] == ["B-9", "B-9", "b-10"]


def test_orders_of_pretix_and_eventbrite_are_read(owner: Client, path: str) -> None:
    data(send(owner, path, (DATA / "pretix-positions.csv").read_bytes()))
    tickets = data(owner.get(path, query_string={"q": "K9DCE-2"}))["tickets"]
    assert [ticket["orderNumber"] for ticket in tickets] == ["K9DCE"]


def test_an_order_number_is_kept_and_can_be_corrected(owner: Client, path: str) -> None:
    data(send(owner, path, ORDERS, mapping=json.dumps(ORDER_COLUMNS)))
    without = "reference,ticketType\n71,Weekend pass\n"
    assert data(send(owner, path, without))["unchanged"] == 1
    changed = data(send(owner, path, "reference,ticketType,orderNumber\n71,Weekend pass,B-11\n"))
    assert changed["updated"] == 1 and data(owner.get(path))["tickets"][0]["orderNumber"] == "B-11"
    data(owner.post(f"{path}/imports/{changed['importId']}/undo"))
    assert data(owner.get(path))["tickets"][0]["orderNumber"] == "B-9"


def test_a_long_order_number_is_an_error(owner: Client, path: str) -> None:
    response = send(owner, path, f"reference,ticketType,orderNumber\n1,Weekend pass,{'x' * 121}\n")
    assert [(error["row"], error["column"]) for error in response.get_json()["data"]["errors"]] == [(2, "orderNumber")]


@pytest.mark.parametrize(
    ("columns", "reference", "order_number"),
    [
        (["Ticket No", "Order No", "Kind"], "Ticket No", "Order No"),
        (["Order No", "Kind"], "Order No", None),
        (["Ticketnummer", "Bestellnummer", "Ticketart"], "Ticketnummer", "Bestellnummer"),
        (["Order ref", "Ticket id", "Ticket"], "Ticket id", "Order ref"),
    ],
)
def test_a_column_of_orders_is_the_number_of_the_ticket_only_without_one(
    columns: list[str], reference: str, order_number: str | None
) -> None:
    mapping = suggest_mapping(columns)
    assert (mapping.get("reference"), mapping.get("orderNumber")) == (reference, order_number)


def test_a_number_that_repeats_is_that_of_the_order() -> None:
    sample = [
        {"name": "Order No", "values": ["1"], "repeats": True},
        {"name": "Barcode", "values": ["7", "8"], "repeats": False},
    ]
    assert suggest_for_sample(sample) == {"reference": "Barcode", "orderNumber": "Order No", "secret": "Barcode"}


def test_a_number_beside_that_of_the_order_is_the_number_of_the_ticket() -> None:
    names = ["Order No", "Booking No", "Purchaser e-mail", "Paid N$", "Paid on"]
    sample = [{"name": name, "values": [], "repeats": name == "Order No"} for name in names]
    assert suggest_for_sample(sample) == {
        "reference": "Booking No",
        "orderNumber": "Order No",
        "email": "Purchaser e-mail",
        "price": "Paid N$",
        "soldAt": "Paid on",
    }


def test_columns_and_states_of_other_sellers_are_known() -> None:
    header = ["Buchungsnr", "Nachname", "Vorname", "Mailadresse", "Kategorie", "Preis brutto", "Gekauft am", "Status"]
    mapping = suggest_mapping([*header, "Barcode-Inhalt"])
    assert mapping == {
        "reference": "Buchungsnr",
        "ticketType": "Kategorie",
        "name": "Vorname",
        "lastName": "Nachname",
        "email": "Mailadresse",
        "price": "Preis brutto",
        "soldAt": "Gekauft am",
        "status": "Status",
        "secret": "Barcode-Inhalt",
    }
    layout = build_layout(["No", "Kind"], {"reference": "No", "ticketType": "Kind"})
    words = {word: layout.statuses[word] for word in ("bezahlt", "storniert", "erstattet", "gekanselleer")}
    assert words == {"bezahlt": "sold", "storniert": "cancelled", "erstattet": "refunded", "gekanselleer": "cancelled"}
    assert suggest_mapping(["Ticket"]) == {"ticketType": "Ticket"}
    known = suggest_mapping(["Booking reference", "Ticket", "Buyer", "Mail", "Paid", "When"])
    assert list(known) == ["reference", "ticketType", "name", "email", "price", "soldAt"]


@pytest.mark.parametrize(
    ("columns", "name", "last_name"),
    [
        (["First name", "Last name"], "First name", "Last name"),
        (["Surname", "Name"], "Name", "Surname"),
        (["Given name", "Family name", "Name"], "Given name", "Family name"),
        (["Nachname", "Vorname"], "Vorname", "Nachname"),
        (["Vorname", "Familienname"], "Vorname", "Familienname"),
        (["Name", "Vorname"], "Vorname", "Name"),
        (["Voornaam", "Van"], "Voornaam", "Van"),
        (["Naam", "Van"], "Naam", "Van"),
        (["Surname"], None, "Surname"),
        (["Forename"], "Forename", None),
        (["Full name", "Surname"], "Full name", None),
        (["Full name", "Vorname"], "Full name", None),
        (["Name", "Company"], "Name", None),
    ],
)
def test_first_and_last_names_are_two_columns(columns: list[str], name: str | None, last_name: str | None) -> None:
    mapping = suggest_mapping(columns)
    assert (mapping.get("name"), mapping.get("lastName")) == (name, last_name)


def test_first_and_last_names_are_joined(owner: Client, path: str) -> None:
    rows = ["1;Weekend pass;Zoë;Shilongo", "2;Weekend pass;;Nangolo", "3;Weekend pass;Petrus;", "4;Weekend pass;;"]
    content = "No;Kind;Voornaam;Van\n" + "\n".join(rows)
    mapping = {"reference": "No", "ticketType": "Kind", "name": "Voornaam", "lastName": "Van"}
    names = ["Zoë Shilongo", "Nangolo", "Petrus", None]
    data(send(owner, path, content, mapping=json.dumps(mapping)))
    assert [ticket["name"] for ticket in data(owner.get(path))["tickets"]] == names
    del mapping["name"]
    result = data(send(owner, path, "No;Kind;Van\n4;Weekend pass;Amupolo\n", mapping=json.dumps(mapping)))
    assert result["updated"] == 1 and data(owner.get(path))["tickets"][3]["name"] == "Amupolo"


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("firstName,lastName", ["Zoë Shilongo", "Nangolo", "Petrus"]),
        ("name,lastName", ["Zoë", "Nangolo", "Petrus"]),
    ],
)
def test_own_columns_have_whole_names_or_two_parts(
    owner: Client, path: str, columns: str, names: list[str | None]
) -> None:
    rows = "A1,Weekend pass,Zoë,Shilongo\nA2,Weekend pass,,Nangolo\nA3,Weekend pass,Petrus,\n"
    assert data(send(owner, path, f"reference,ticketType,{columns}\n{rows}"))["created"] == 3
    assert [ticket["name"] for ticket in data(owner.get(path))["tickets"]] == names


@pytest.mark.parametrize(
    ("first", "last", "code"),
    [
        ("x" * 150, "y" * 49, None),
        ("x" * 150, "y" * 50, "too_long"),
        ("", "y" * 201, "too_long"),
        ("Zoë", "\x07", "invalid_characters"),
    ],
)
def test_joined_names_have_the_limits_of_one_name(
    owner: Client, path: str, first: str, last: str, code: str | None
) -> None:
    mapping = {"reference": "No", "ticketType": "Kind", "name": "First", "lastName": "Last"}
    content = f"No,Kind,First,Last\n1,Weekend pass,{first},{last}\n"
    result = data(send(owner, path, content, mapping=json.dumps(mapping), dryRun="true"))
    column = "First" if first else "Last"
    assert [(error["column"], error["code"]) for error in result["errors"]] == ([(column, code)] if code else [])


def test_two_columns_of_last_names_are_an_error(owner: Client, path: str) -> None:
    mapping = {"reference": "No", "ticketType": "Kind", "name": "First", "lastName": "Last"}
    content = "No,Kind,First,Last,last\n1,Weekend pass,Zoë,Shilongo,Nangolo\n"
    (error,) = data(send(owner, path, content, mapping=json.dumps(mapping), dryRun="true"))["errors"]
    assert (error["row"], error["column"], error["code"]) == (1, "last", "duplicate_column")


def test_states_of_other_sellers_are_read(owner: Client, path: str) -> None:
    content = "No;Kind;State\n1;Weekend pass;Bezahlt\n2;Weekend pass;storniert\n"
    mapping = {"reference": "No", "ticketType": "Kind", "status": "State"}
    result = data(send(owner, path, content, mapping=json.dumps(mapping)))
    assert (result["created"], result["skipped"], result["errors"]) == (1, 1, [])


def test_a_dry_run_tells_what_counts_without_price_and_status(owner: Client, path: str) -> None:
    content = "reference,ticketType,price,status\n1,Weekend pass,850,sold\n2,Weekend pass,,\n3,Weekend pass,,refunded\n"
    result = data(send(owner, path, content, dryRun="true"))
    assert result["unpriced"] == [{"ticketType": "Weekend pass", "priceMinor": 85000, "tickets": 1}]
    assert result["assumedSold"] == 1
    assert data(send(owner, path, content))["created"] == 2
    again = data(send(owner, path, content, dryRun="true"))
    assert (again["unpriced"], again["assumedSold"]) == ([], 1)


def test_words_for_a_status_are_explained(owner: Client, path: str) -> None:
    content = "No;Kind;State\n1;Weekend pass;Sponsor\n2;Weekend pass;SPONSOR\n3;Nonsense;Test\n4;Weekend pass;comp\n"
    options = {"mapping": json.dumps({"reference": "No", "ticketType": "Kind", "status": "State"})}
    result = data(send(owner, path, content, dryRun="true", mode="partial", **options))
    assert result["unknownStatuses"] == [{"word": word, "rows": 1} for word in ("Sponsor", "SPONSOR", "Test")]
    assert (result["created"], result["wrongRows"], result["errorCount"]) == (1, 3, 3)
    assert {error["code"] for error in result["errors"]} == {"unknown_value"}
    options["statusWords"] = json.dumps({"sponsor": "sold", "Test": "omitted", "comp": "cancelled"})
    result = data(send(owner, path, content, **options))
    assert (result["created"], result["skipped"], result["omitted"], result["wrongRows"]) == (2, 1, 1, 0)
    assert result["errors"] == [] and result["unknownStatuses"] == [] and count_tickets() == 2
    for wrong in (json.dumps({"Test": "maybe"}), json.dumps({"Test": None}), "[]"):
        assert read_error(send(owner, path, content, **{**options, "statusWords": wrong}))[0] == 422, wrong


def test_every_format_takes_words_for_a_status(owner: Client, path: str) -> None:
    content = "reference,ticketType,status\nA1,Weekend pass,paid\n"
    assert send(owner, path, content).status_code == 422
    assert data(send(owner, path, content, statusWords='{"Paid": "sold"}'))["created"] == 1


def test_only_the_most_frequent_unknown_words_are_listed(owner: Client, path: str) -> None:
    rows = "".join(f"A{number},Weekend pass,word {number}\n" for number in range(30))
    content = f"reference,ticketType,status\n{rows}B1,Weekend pass,word 29\nB2,Weekend pass,{'x' * 101}\n"
    result = data(send(owner, path, content, dryRun="true"))
    assert len(result["unknownStatuses"]) == 20 and result["errorCount"] == 32
    assert result["unknownStatuses"][0] == {"word": "word 29", "rows": 2}


@pytest.mark.parametrize("word", ["Complimentary", "comp", "FREE", "Gratis", "kostenlos", "Freikarte"])
def test_a_free_ticket_is_sold_for_nothing(owner: Client, path: str, word: str) -> None:
    content = f"No;Kind;State\n1;Weekend pass;{word}\n"
    mapping = json.dumps({"reference": "No", "ticketType": "Kind", "status": "State"})
    result = data(send(owner, path, content, mapping=mapping))
    assert (result["created"], result["createdMinor"], result["unpriced"]) == (1, 0, [])
