"""One bank statement for all events of an organisation: each row is recorded at the event that it names."""

import json
import random
from io import BytesIO
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.money import statements
from tests.allocations.blocks import festival
from tests.factories.accounts import create_account, create_customer, create_signed_in_client
from tests.factories.applications import TRANSFER_DAY, create_approved_application
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.http import Client, data, read_error
from tests.pages.desk.test_events import EVENTS
from tests.pages.desk.test_statement_choices import add_invoice, list_choices, remove_lock
from tests.pages.pages import Reader, Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import add_member, create_owner
from tests.races import run_concurrently

PAGE, PATH = "/desk/money/statement", "/api/organisations/me/money/statement"
HEAD = "Date,Amount,Description\n"
Event = dict[str, Any]


@pytest.fixture
def events(organiser: Client) -> list[Event]:
    return [festival(organiser, name=name) for name in ("Windhoek Lights", "Etosha Nights")]


@pytest.fixture
def fees(client: Client, organiser: Client, events: list[Event]) -> list[str]:
    """The reference of an application to each event, with a fee of N$ 2,500 that is due."""
    return [add_fee(client, organiser, event, f"stall{at}@example.com") for at, event in enumerate(events)]


@pytest.fixture
def numbers(organiser: Client, events: list[Event]) -> list[str]:
    """The number of the invoice of a block of each event, of N$ 8,500."""
    return [add_invoice(organiser, event) for event in events]


def add_fee(client: Client, organiser: Client, event: Event, email: str) -> str:
    application = create_approved_application(client, organiser, eventId=event["id"], documentsRequired=[], email=email)
    return str(application["reference"])


def write(*texts: str, amount: str = "2500.00") -> str:
    return HEAD + "".join(f"{TRANSFER_DAY},{amount},{text}\n" for text in texts)


def send(owner: Client, content: str, path: str = PATH, **fields: str) -> Any:
    form = {"file": (BytesIO(content.encode()), "statement.csv"), **fields}
    return owner.post(path, data=form, content_type="multipart/form-data")


def check(desk: Visitor, content: str, **fields: str) -> str:
    desk.open(PAGE)
    body = {
        "csrf_token": desk.forms[1].fields["csrf_token"],
        "file": (BytesIO(content.encode()), "march.csv"),
        **fields,
    }
    desk.page = desk.flask.post(PAGE, data=body, content_type="multipart/form-data")
    return desk.page.text


def record(desk: Visitor, *references: str) -> str:
    fields = Reader(desk.page.text).forms[1].fields
    body = {
        "csrf_token": fields["csrf_token"],
        "rows": fields["rows"],
        "recorded": fields["recorded"],
        "pays": list(references),
    }
    return desk.flask.post(PAGE, data=body).text


def test_each_row_is_recorded_at_its_event(
    organiser: Client, events: list[Event], fees: list[str], numbers: list[str]
) -> None:
    content = write(*fees, *numbers, "MA-22222222", "salaries")
    found = data(send(organiser, content))
    assert found["dryRun"] and fetch_scalar("SELECT count(*) FROM stall_fee_record") == 0
    found = data(send(organiser, content, dryRun="false"))
    assert [line["eventId"] for line in found["matched"]] == [event["id"] for event in events] * 2
    assert [line["reason"] for line in found["unmatched"]] == ["unknown_reference", "no_reference"]
    for event in events:
        where = f"WHERE event_id = '{event['id']}'"
        assert fetch_scalar(f"SELECT sum(amount_minor) FROM invoice_payment {where}") == 250000
        assert fetch_scalar(f"SELECT count(*) FROM merchant_application {where} AND status = 'ready'") == 1
    again = data(send(organiser, content, dryRun="false"))
    assert (again["matched"], len(again["alreadyRecorded"])) == ([], 4)
    own = f"/api/events/{events[0]['id']}/stall-fees/statement"
    found = data(send(organiser, content, own, dryRun="false"))
    assert (found["matched"], len(found["alreadyRecorded"])) == ([], 4), "the event's own page knows all rows"
    assert [line["reason"] for line in found["unmatched"]] == ["unknown_reference", "no_reference"]
    assert_ledger_integrity()


def test_what_an_event_has_recorded_is_recorded_for_all(
    organiser: Client, events: list[Event], fees: list[str]
) -> None:
    own = f"/api/events/{events[1]['id']}/stall-fees/statement"
    assert len(data(send(organiser, write(*fees), own, dryRun="false"))["matched"]) == 1
    found = data(send(organiser, write(*fees, f"{fees[1]} again"), dryRun="false"))
    assert [line["reference"] for line in found["matched"]] == fees[:1]
    assert [line["reference"] for line in found["alreadyRecorded"]] == fees[1:]
    assert [line["reason"] for line in found["unmatched"]] == ["paid_already"]


def test_references_of_two_events_are_several(organiser: Client, fees: list[str]) -> None:
    found = data(send(organiser, write(" ".join(fees)), dryRun="false"))
    assert [line["reason"] for line in found["unmatched"]] == ["several_references"]


def test_the_limit_is_for_the_whole_statement(
    organiser: Client, fees: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.money.statements.MAX_RECORDED", 1)
    assert read_error(send(organiser, write(*fees), dryRun="false")) == (422, "STATEMENT_UNREADABLE")
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == 0


def test_a_mapping_names_the_columns(organiser: Client, fees: list[str]) -> None:
    content = f"Booked,N$,What\n{TRANSFER_DAY},2500.00,{fees[0]}\n"
    mapping = json.dumps({"date": "Booked", "amount": "N$", "text": "What"})
    assert len(data(send(organiser, content, mapping=mapping))["matched"]) == 1


def test_another_organisation_has_other_events(client: Client, fees: list[str]) -> None:
    stranger = create_signed_in_client(client, create_account("organiser"))
    found = data(send(stranger, write(*fees), dryRun="false"))
    assert [line["reason"] for line in found["unmatched"]] == ["unknown_reference"] * 2


@pytest.mark.parametrize(
    ("role", "status"), [("finance", 200), ("manager", 200), ("viewer", 403), ("door", 403), ("messages", 403)]
)
def test_members_for_all_events_with_money_may(
    app: Flask, client: Client, owner: Account, fees: list[str], role: str, status: int
) -> None:
    member = create_customer()
    add_member(client, owner, member, role)
    assert send(create_signed_in_client(client, member), write(*fees)).status_code == status
    visitor = sign_in_browser(app, member)
    assert visitor.open(PAGE).status_code == status
    assert (f'href="{PAGE}"' in visitor.open("/desk/money").text) == (status == 200)


def test_a_member_of_one_event_has_its_own_page_only(
    app: Flask, client: Client, owner: Account, events: list[Event], fees: list[str]
) -> None:
    member = create_customer()
    add_member(client, owner, member, "finance", eventIds=[events[0]["id"]])
    limited = create_signed_in_client(client, member)
    assert read_error(send(limited, write(*fees), dryRun="false")) == (403, "ROLE_NOT_ALLOWED")
    assert sign_in_browser(app, member).open(PAGE).status_code == 403
    own = f"/api/events/{events[0]['id']}/stall-fees/statement"
    assert len(data(send(limited, write(*fees), own, dryRun="false"))["matched"]) == 1


def test_the_desk_shows_the_event_of_each_row(
    desk: Visitor, events: list[Event], fees: list[str], numbers: list[str]
) -> None:
    page = check(desk, write(*fees, numbers[1], "MA-22222222"))
    for event in events:
        assert f'href="{EVENTS}/{event["id"]}/stalls/' in page and f"<bdi>{event['name']}</bdi>" in page
    assert f'href="{EVENTS}/{events[1]["id"]}/guests/' in page
    assert "The reference belongs to no application to your events" in page
    page = record(desk)
    assert "Fees recorded as received: 2." in page and "Payments of invoices recorded: 1." in page
    assert_ledger_integrity()


def test_rows_are_assigned_to_any_event(desk: Visitor, fees: list[str], numbers: list[str]) -> None:
    page = check(desk, write("KAPANA", "GOLD"))
    assert [sorted(choices) for choices in list_choices(page)] == [sorted([*fees, *numbers])] * 2
    assert "· Etosha Nights</option>" in page
    page = record(desk, fees[1], numbers[0])
    assert "Fees recorded as received: 1." in page and "Payments of invoices recorded: 1." in page
    assert "Recorded before (2)" in check(desk, write("KAPANA", "GOLD"))


def test_the_columns_are_those_of_the_organisation(desk: Visitor, events: list[Event], fees: list[str]) -> None:
    content = f"Booked,N$,What\n{TRANSFER_DAY},2500.00,{fees[1]}\n"
    assert "What are the columns?" in check(desk, content)
    page = desk.send(form=1, columnA="date", columnB="amount", columnC="text").text
    assert "Pays a fee or an invoice (1)" in page
    assert "Pays a fee or an invoice (1)" in check(desk, content)
    desk.open(f"{EVENTS}/{events[0]['id']}/stalls/statement")
    body = {"csrf_token": desk.forms[1].fields["csrf_token"], "file": (BytesIO(content.encode()), "march.csv")}
    page = desk.flask.post(f"{EVENTS}/{events[0]['id']}/stalls/statement", data=body).text
    assert "What are the columns?" not in page and "The reference belongs to no application to this event" in page


def test_without_stalls_and_invoices_nothing_is_paid(app: Flask) -> None:
    desk = sign_in_browser(app, create_owner())
    assert "No row of this file pays a fee or an invoice that is open." in check(desk, write("x"))
    assert "What are the columns?" in check(desk, "Booked,N$,What\n1,2,3\n")
    page = desk.send(form=1, columnA="date", columnB="amount", columnC="text")
    assert page.status_code == 200 and "The day cannot be read" in page.text


def test_statements_of_all_events_and_of_one_do_not_wait_for_each_other_forever(
    client: Client, organiser: Client, events: list[Event], fees: list[str], numbers: list[str]
) -> None:
    fees = fees + [add_fee(client, organiser, events[at % 2], f"more{at}@example.com") for at in range(4)]
    rows = [*fees, *numbers]
    paths = [PATH, *(f"/api/events/{event['id']}/stall-fees/statement" for event in events)]

    def pay(number: int) -> int:
        order = random.Random(number).sample(rows, len(rows))
        return len(data(send(organiser, write(*order), paths[number % 3], dryRun="false"))["matched"])

    assert sum(run_concurrently(12, pay)) == len(rows)
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == len(fees)
    assert fetch_scalar("SELECT count(*) FROM invoice_payment") == len(numbers)
    assert_ledger_integrity()


@pytest.mark.parametrize(("lock", "records"), [(True, 1), pytest.param(False, 2, marks=pytest.mark.control)])
def test_of_two_who_assign_a_row_to_two_events_at_once_one_records_it(
    app: Flask, owner: Account, fees: list[str], monkeypatch: pytest.MonkeyPatch, lock: bool, records: int
) -> None:
    content, caller = write("KAPANA").encode(), build_caller(owner)
    if not lock:
        remove_lock(monkeypatch)

    def assign(number: int) -> None:
        with app.app_context():
            statements.import_statement(caller, None, content, dry_run=False, references=[fees[number]])

    run_concurrently(2, assign)
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == records
    assert_ledger_integrity()
