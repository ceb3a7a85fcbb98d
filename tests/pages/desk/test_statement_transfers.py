"""A transfer that is recorded at any event of an organisation is recorded for all its statements."""

import random
from collections import Counter
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.applications.errors import StatementUnreadable
from app.applications.fee_statement import MATCHED, write_statement
from app.money import statement_choices, statements
from app.money.recorded_transfers import digest_transfers
from tests.factories.accounts import create_customer, create_signed_in_client
from tests.factories.applications import TRANSFER_DAY
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.http import Client, data
from tests.pages.desk.test_organisation_statement import HEAD, Event, add_fee, check, record, send, write
from tests.pages.desk.test_organisation_statement import events as events
from tests.pages.desk.test_organisation_statement import fees as fees
from tests.pages.desk.test_organisation_statement import numbers as numbers
from tests.pages.desk.test_statement_choices import add_invoice, list_choices
from tests.pages.desk.test_statement_choices import check as check_event
from tests.pages.desk.test_statement_choices import record as record_event
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import add_member

RECORDS = "SELECT count(*) FROM stall_fee_record"
ALL_RECORDS = """
    SELECT json_object_agg(text, count) FROM (SELECT text, count(*) FROM (
        SELECT amount_minor || regexp_replace(reference, '^(MA-\\w+|\\d+-\\d+) (?=ROW)', '') AS text FROM stall_fee_record
         UNION ALL SELECT amount_minor || regexp_replace(reference, '^(MA-\\w+|\\d+-\\d+) (?=ROW)', '') FROM invoice_payment
    ) record GROUP BY text) counted
"""


def build_path(event: Event) -> str:
    return f"/api/events/{event['id']}/stall-fees/statement"


def test_a_row_assigned_at_an_event_is_not_recorded_again_for_all(
    organiser: Client, desk: Visitor, events: list[Event], fees: list[str]
) -> None:
    """The row has the reference of the other event; the person chose a fee of this one for it."""
    content = write(f"EFT {fees[1]}")
    assert list_choices(check_event(desk, events[0], content)) == [[fees[0]]]
    record_event(desk, events[0], fees[0])
    assert fetch_scalar(RECORDS) == 1
    for path in ({}, {"path": build_path(events[1])}):
        found = data(send(organiser, content, dryRun="false", **path))
        assert (found["matched"], [line["reference"] for line in found["alreadyRecorded"]]) == ([], fees[:1])
    assert fetch_scalar(RECORDS) == 1


def test_a_row_recorded_for_all_is_not_offered_at_an_event(
    organiser: Client, desk: Visitor, events: list[Event], fees: list[str], numbers: list[str]
) -> None:
    content = write(f"EFT {fees[1]}", f"INV {numbers[1]}")
    data(send(organiser, content, dryRun="false"))
    page = check_event(desk, events[0], content)
    assert list_choices(page) == [] and "Recorded before (2)" in page and "<bdi>Etosha Nights</bdi>" in page


def test_a_row_recorded_by_hand_at_another_event_is_not_offered(
    organiser: Client, desk: Visitor, events: list[Event], fees: list[str], numbers: list[str]
) -> None:
    block = fetch_scalar(f"SELECT block_id FROM invoice WHERE number = '{numbers[1]}'")
    body = {"amountMinor": 250000, "receivedOn": TRANSFER_DAY, "part": True, "reference": "by hand"}
    data(organiser.post(f"/api/events/{events[1]['id']}/allocations/{block}/invoice/received", body))
    page = check_event(desk, events[0], write(f"INV {numbers[1]}", f"INV {numbers[1]} again"))
    assert "Recorded before (1)" in page and list_choices(page) == [[*sorted([fees[0], numbers[0]], key=page.index)]]


def test_an_assigned_row_is_not_offered_at_another_event(desk: Visitor, events: list[Event], fees: list[str]) -> None:
    content = write("KAPANA")
    check(desk, content)
    record(desk, fees[1])
    assert list_choices(check_event(desk, events[0], content)) == []


def test_a_row_moved_to_an_invoice_of_another_event_is_not_recorded_again(
    organiser: Client, events: list[Event], numbers: list[str]
) -> None:
    """Its payment was taken back and recorded by hand at the right invoice, as docs/applications.md says."""
    text = f"EFT {numbers[0]}"
    data(send(organiser, write(text), build_path(events[0]), dryRun="false"))
    ids = [fetch_scalar(f"SELECT block_id FROM invoice WHERE number = '{number}'") for number in numbers]
    paths = [f"/api/events/{events[at]['id']}/allocations/{ids[at]}/invoice" for at in (0, 1)]
    data(organiser.post(f"{paths[0]}/received/take-back", {"number": 1, "reason": "Another invoice"}))
    by_hand = {"amountMinor": 250000, "receivedOn": TRANSFER_DAY, "part": True, "reference": f"{numbers[1]} {text}"}
    data(organiser.post(f"{paths[1]}/received", by_hand))
    for path in ({}, {"path": build_path(events[0])}, {"path": build_path(events[1])}):
        assert data(send(organiser, write(text), **path))["matched"] == []


def test_a_member_of_one_event_learns_only_that_a_row_is_recorded(
    app: Flask, client: Client, owner: Account, organiser: Client, events: list[Event], fees: list[str]
) -> None:
    content = write(f"EFT {fees[1]}")
    data(send(organiser, content, dryRun="false"))
    member = create_customer()
    add_member(client, owner, member, "finance", eventIds=[events[0]["id"]])
    (line,) = data(send(create_signed_in_client(client, member), content, build_path(events[0])))["alreadyRecorded"]
    assert not any(line[name] for name in ("reference", "applicationId", "eventId", "invoiceNumber", "blockId"))
    page = check_event(sign_in_browser(app, member), events[0], content)
    assert "At another event" in page and "Etosha" not in page and events[1]["id"] not in page
    page = check_event(sign_in_browser(app, owner), events[0], content)
    assert "<bdi>Etosha Nights</bdi>" in page and f"/events/{events[1]['id']}/stalls/" in page


def test_a_statement_records_only_what_its_page_said(
    organiser: Client, desk: Visitor, events: list[Event], numbers: list[str]
) -> None:
    """A payment of a row that was recorded before is taken back between the check and the button."""
    block = fetch_scalar(f"SELECT block_id FROM invoice WHERE number = '{numbers[0]}'")
    invoice = f"/api/events/{events[0]['id']}/allocations/{block}/invoice"
    texts = [f"INV {numbers[0]} {which}" for which in "ab"]
    check_event(desk, events[0], write(texts[0]))
    record_event(desk, events[0])
    page = check_event(desk, events[0], write(*texts))
    assert "Pays a fee or an invoice (1)" in page and "Recorded before (1)" in page
    data(organiser.post(f"{invoice}/received/take-back", {"number": 1, "reason": "Another invoice"}))
    assert "Check the file again" in record_event(desk, events[0])
    assert all(it["takenBack"] for it in data(organiser.get(invoice))["payments"])
    assert "Pays a fee or an invoice (2)" in check_event(desk, events[0], write(*texts))


def test_a_row_with_a_number_and_a_fee_of_another_event_is_recorded_once(
    organiser: Client, events: list[Event], fees: list[str], numbers: list[str]
) -> None:
    row = write(f"{fees[1]} INV {numbers[0]}")
    assert len(data(send(organiser, row, build_path(events[0]), dryRun="false"))["matched"]) == 1
    assert len(data(send(organiser, row, dryRun="false"))["alreadyRecorded"]) == 1
    assert fetch_scalar(RECORDS) == 0


@pytest.mark.parametrize("seed", range(6))
def test_no_row_is_recorded_more_often_than_it_is_in_the_statement(
    app: Flask, client: Client, organiser: Client, owner: Account, events: list[Event], seed: int
) -> None:
    """A growing statement is sent for single events and for all, and people choose what its rows pay."""
    chance, caller = random.Random(seed), build_caller(owner)
    fees = [add_fee(client, organiser, events[at % 2], f"more{at}@example.com") for at in range(4)]
    numbers = [add_invoice(organiser, events[at % 2]) for at in range(4)]
    names = [
        *fees,
        *numbers,
        f"{fees[0]} {fees[3]}",
        f"{fees[1]} {numbers[1]}",
        "KAPANA",
        "GOLD",
        *(f"{'LONG ' * 15}{at}" for at in "AB"),
    ]
    rows = [(chance.choice(("1000", "2500")), f"ROW {chance.choice(names)}") for _ in range(24)]
    for end in (6, 12, 18, 24, 24, 24):
        part = chance.sample(rows[:end], chance.choice((end, end // 2)))
        event_id = chance.choice([None, *(event["id"] for event in events)])
        content = HEAD + "".join(f"{TRANSFER_DAY},{amount}.00,{text}\n" for amount, text in part)
        with app.app_context():
            found = statements.import_statement(caller, event_id, content.encode(), dry_run=True)
            to_assign = statement_choices.list_rows_to_assign(caller, event_id, found.rows)
            to_record = statement_choices.list_rows_to_record(found.rows, to_assign)
            checked, digest = write_statement(to_record).encode(), digest_transfers(found.transfers, to_record)
            references = [chance.choice(["", *(it.reference for it in payments)]) for _, payments in to_assign]
            form: dict[str, Any] = {"dry_run": False, "references": references, "digest": digest}
            matched = statements.import_statement(caller, event_id, checked, **form).rows
            if any(it.status == MATCHED for it in matched):
                with pytest.raises(StatementUnreadable, match="sent twice"):
                    statements.import_statement(caller, event_id, checked, **form)
            promised = sum(it.status == MATCHED for it in found.rows)
            assert sum(it.status == MATCHED for it in matched) >= promised
        recorded = Counter[str](fetch_scalar(ALL_RECORDS) or {})
        assert not recorded - Counter(f"{amount}00{text[:68]}" for amount, text in rows[:end])
    assert_ledger_integrity()
