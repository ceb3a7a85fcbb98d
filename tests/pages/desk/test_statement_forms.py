"""The form of a checked bank statement: what is typed, sent twice, changed meanwhile, or sent by two at once."""

from contextlib import suppress
from io import BytesIO
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.applications.errors import StatementUnreadable
from app.core.formatting import format_money
from app.money import statements
from app.money.recorded_transfers import digest_transfers
from tests.counting import count_statements
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    create_approved_application,
)
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS
from tests.pages.desk.test_statement_choices import HEAD, SUM_OF_PAYMENTS, check, list_choices, record, remove_lock
from tests.pages.desk.test_statement_choices import event as event
from tests.pages.desk.test_statement_choices import fee as fee
from tests.pages.desk.test_statement_choices import number as number
from tests.pages.pages import Visitor
from tests.races import run_concurrently


def test_other_money_of_an_amount_and_day_is_chosen_as_the_page_says(
    organiser: Client, desk: Visitor, event: dict[str, Any], number: str
) -> None:
    path = f"/api/events/{event['id']}/allocations/{fetch_scalar('SELECT block_id FROM invoice')}/invoice/received"
    by_hand = {"amountMinor": 300000, "reference": "Slip 7", "receivedOn": TRANSFER_DAY, "part": True}
    row = f"{TRANSFER_DAY},3000.00,RENT\n"
    checked = check(desk, event, HEAD + row)
    data(organiser.post(path, by_hand))
    assert "This amount of this day" not in checked and "Check the file again" in record(desk, event, number)
    page = check(desk, event, HEAD + row)
    assert f"This amount of this day is recorded for {number}" in page and list_choices(page) == [[number]]
    assert "Payments of invoices recorded: 1." in record(desk, event, number)
    assert fetch_scalar(SUM_OF_PAYMENTS) == 600000
    assert "Recorded before (1)" in check(desk, event, HEAD + row)
    assert_ledger_integrity()


@pytest.mark.parametrize("typed", ["2026/{}", "2026 {}", " INV 2026-{} ", "2026-{}\t"])
def test_a_typed_number_is_read_and_recorded_once(
    desk: Visitor, event: dict[str, Any], number: str, typed: str
) -> None:
    row = f"{TRANSFER_DAY},1000.00,GOLD\n"
    check(desk, event, HEAD + row)
    typed = typed.format(number.partition("-")[2]).replace("2026", number[:4])
    for _ in range(2):
        record(desk, event, typed)
        assert fetch_scalar(SUM_OF_PAYMENTS) == 100000
    assert fetch_scalar("SELECT reference FROM invoice_payment") == f"{number} GOLD"
    assert list_choices(check(desk, event, HEAD + row)) == []


@pytest.mark.parametrize("texts", [("GOLD", "GOLD"), (f"{'LONG ' * 15}A", f"{'LONG ' * 15}B")])
@pytest.mark.parametrize("chosen", [0, 1])
def test_one_of_two_like_rows_is_recorded_once(
    desk: Visitor, event: dict[str, Any], number: str, texts: tuple[str, str], chosen: int
) -> None:
    check(desk, event, HEAD + "".join(f"{TRANSFER_DAY},1000.00,{text}\n" for text in texts))
    for _ in range(2):
        record(desk, event, *("", number)[:: 1 if chosen else -1])
        assert fetch_scalar(SUM_OF_PAYMENTS) == 100000


def test_a_fee_typed_in_small_letters_is_known_again(
    client: Client, organiser: Client, desk: Visitor, event: dict[str, Any], fee: str
) -> None:
    create_approved_application(client, organiser, eventId=event["id"], documentsRequired=[], email="b@example.com")
    row = f"{TRANSFER_DAY},2500.00,GOLD\n"
    check(desk, event, HEAD + row)
    assert "Fees recorded as received: 1." in record(desk, event, fee.lower())
    assert list_choices(check(desk, event, HEAD + row)) == []


def test_a_chosen_payment_that_went_back_hides_no_other(desk: Visitor, event: dict[str, Any], number: str) -> None:
    first, back, again = (f"{TRANSFER_DAY},{it}\n" for it in ("20.00,GOLD", "-20.00,GOLD", f"20.00,INV {number}"))
    check(desk, event, HEAD + first)
    record(desk, event, number)
    assert "Pays a fee or an invoice (1)" in check(desk, event, HEAD + first + back + again)


def test_a_fee_recorded_by_hand_with_a_text_that_names_another_is_recorded_once(
    client: Client, organiser: Client, desk: Visitor, event: dict[str, Any], fee: str
) -> None:
    other = create_approved_application(client, organiser, eventId=event["id"], documentsRequired=[])
    body = {"amountMinor": 250000, "reference": f"EFT {fee}", "receivedOn": TRANSFER_DAY}
    data(organiser.post(f"{LIST}/{other['id']}/fee/received", body))
    assert "Recorded before (1)" in check(desk, event, f"{HEAD}{TRANSFER_DAY},2500.00,EFT {fee}\n")


def test_money_that_came_in_again_is_recorded_as_the_page_said(
    desk: Visitor, event: dict[str, Any], number: str
) -> None:
    row, again = f"{TRANSFER_DAY},3000.00,INV {number}\n", f"{TRANSFER_DAY},3000.00,INV {number} again\n"
    check(desk, event, HEAD + row)
    record(desk, event)
    page = check(desk, event, HEAD + row + f"{TRANSFER_DAY},-3000.00,INV {number}\n" + again)
    assert "Pays a fee or an invoice (1)" in page
    assert "Payments of invoices recorded: 1." in record(desk, event)
    assert fetch_scalar(SUM_OF_PAYMENTS) == 600000
    assert_ledger_integrity()


def test_odd_choices_change_nothing(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    check(desk, event, f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,A\n")
    for choices in (["nonsense"], ["=1+1", "x", "y"], ["\0"], [f"{fee}\0"], [f"{fee}\n{fee}"] * 3, ["x" * 9000]):
        assert "<h1>" in record(desk, event, *choices)
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") <= 1


def test_the_page_takes_few_statements(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    path = f"{EVENTS}/{event['id']}/stalls/statement"
    desk.open(path)
    token = desk.forms[1].fields["csrf_token"]

    def count(rows: int) -> int:
        content = "Date,Amount,Description\n" + f"{TRANSFER_DAY},2500.00,A\n" * rows
        body = {"csrf_token": token, "file": (BytesIO(content.encode()), "statement.csv")}
        page, statements = count_statements(lambda: desk.flask.post(path, data=body))
        assert len(list_choices(page.text)) == rows
        return len(statements)

    assert count(1) == count(50)


def test_rows_of_money_that_went_out_are_counted(desk: Visitor, event: dict[str, Any]) -> None:
    row = f"{TRANSFER_DAY},10.00,RENT\n"
    assert "left out" not in check(desk, event, HEAD + row)
    assert "1 row is left out" in check(desk, event, HEAD + row + f"{TRANSFER_DAY},-5.00,FEE\n")
    page = check(desk, event, HEAD + row + f"{TRANSFER_DAY},-5.00,FEE\n{TRANSFER_DAY},,BALANCE\n")
    assert "2 rows are left out" in page


def test_hidden_rows_that_were_changed_are_refused(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    desk.open(f"{EVENTS}/{event['id']}/stalls/statement")
    for row in ("1e9,x,A", "0001-01-01,,A", f"{TRANSFER_DAY},1e9,A"):
        body = {"csrf_token": desk.forms[1].fields["csrf_token"], "rows": f"date,amount,description\n{row}\n"}
        page = desk.flask.post(f"{EVENTS}/{event['id']}/stalls/statement", data=body | {"pays": [fee]})
        assert page.status_code in (200, 422), row


@pytest.mark.parametrize(("lock", "records"), [(True, 1), pytest.param(False, 2, marks=pytest.mark.control)])
def test_of_two_who_assign_a_row_at_once_one_records_it(
    app: Flask,
    client: Client,
    owner: Account,
    organiser: Client,
    event: dict[str, Any],
    fee: str,
    monkeypatch: pytest.MonkeyPatch,
    lock: bool,
    records: int,
) -> None:
    other = create_approved_application(client, organiser, eventId=event["id"], documentsRequired=[])["reference"]
    content = f"date,amount,description\n{TRANSFER_DAY},2500.00,EFT KAPANA\n".encode()
    caller = build_caller(owner)
    with app.app_context():
        found = statements.import_statement(caller, event["id"], content, dry_run=True)
    digest = digest_transfers(found.transfers, [it.row for it in found.rows])
    if not lock:
        remove_lock(monkeypatch)

    def assign(number: int) -> bool:
        form: dict[str, Any] = {"references": [(fee, other)[number % 2]], "digest": digest}
        with app.app_context(), suppress(StatementUnreadable):
            statements.import_statement(caller, event["id"], content, dry_run=False, **form)
            return True
        return False

    assert sum(run_concurrently(2, assign)) == records
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == records
    assert_ledger_integrity()


@pytest.mark.parametrize(
    ("amount", "reason"),
    [
        ("2499.50", f"Not the whole fee: {format_money(50)} is missing"),
        ("2600.00", f"{format_money(10000)} more than the fee"),
    ],
)
def test_a_row_with_another_amount_than_the_fee_says_by_how_much(
    desk: Visitor, event: dict[str, Any], fee: str, amount: str, reason: str
) -> None:
    assert reason in check(desk, event, f"Date,Amount,Description\n{TRANSFER_DAY},{amount},EFT {fee}\n")
