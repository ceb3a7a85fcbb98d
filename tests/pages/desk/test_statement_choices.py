"""Rows of a bank statement for which a person chooses the fee or the invoice that they pay."""

import random
import re
import threading
from contextlib import suppress
from io import BytesIO
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.core.formatting import format_money
from app.money import statements
from tests.allocations.blocks import block_of, festival
from tests.counting import count_statements
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    create_application,
    create_approved_application,
    find_mailed_token,
)
from tests.factories.payouts import assert_ledger_integrity, execute_sql, fetch_scalar
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS
from tests.pages.pages import Reader, Visitor
from tests.races import run_concurrently

ROWS = (
    f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,EFT KAPANA MARCH\n{TRANSFER_DAY},3000.00,GOLD\n"
    f"{TRANSFER_DAY},99999.00,RENT\n"
)
HEAD = "Date,Amount,Description\n"
SUM_OF_PAYMENTS = "SELECT coalesce(sum(amount_minor), 0) FROM invoice_payment"


@pytest.fixture
def event(organiser: Client) -> dict[str, Any]:
    return festival(organiser)


@pytest.fixture
def fee(client: Client, organiser: Client, event: dict[str, Any]) -> str:
    """The reference of an application with a fee of N$ 2,500 that is due."""
    application = create_approved_application(client, organiser, eventId=event["id"], documentsRequired=[])
    return str(application["reference"])


@pytest.fixture
def number(organiser: Client, event: dict[str, Any]) -> str:
    """The number of the invoice of a block, of N$ 8,500."""
    return add_invoice(organiser, event)


def check(desk: Visitor, event: dict[str, Any], content: str) -> str:
    """The page that says what a statement pays."""
    path = f"{EVENTS}/{event['id']}/stalls/statement"
    desk.open(path)
    body = {"csrf_token": desk.forms[1].fields["csrf_token"], "file": (BytesIO(content.encode()), "statement.csv")}
    desk.page = desk.flask.post(path, data=body, content_type="multipart/form-data")
    return desk.page.text


def record(desk: Visitor, event: dict[str, Any], *references: str) -> str:
    """The page after the rows were recorded with these choices."""
    fields = Reader(desk.page.text).forms[1].fields
    body = {
        "csrf_token": fields["csrf_token"],
        "rows": fields["rows"],
        "recorded": fields["recorded"],
        "pays": list(references),
    }
    return desk.flask.post(f"{EVENTS}/{event['id']}/stalls/statement", data=body).text


def remove_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two statements at once both look for recorded transfers before one of them records its own."""
    find, barrier = statements.match_transfers, threading.Barrier(2)

    def find_together(*arguments: Any) -> Any:
        rows = find(*arguments)
        with suppress(threading.BrokenBarrierError):
            barrier.wait(timeout=5)
        return rows

    monkeypatch.setattr(statements, "lock_name", lambda *_: None)
    monkeypatch.setattr(statements, "match_transfers", find_together)


def list_choices(page: str) -> list[list[str]]:
    lists = re.findall(r'<select name="pays".*?</select>', page)
    return [re.findall(r'<option value="([^"]+)"', text) for text in lists]


def test_rows_without_a_reference_are_assigned(desk: Visitor, event: dict[str, Any], fee: str, number: str) -> None:
    page = check(desk, event, ROWS)
    assert sorted(list_choices(page)[0]) == sorted([fee, number]) and list_choices(page)[1:] == [[number]]
    assert "Nothing is recorded yet." in page and "Kapana Corner" in page and "RENT" in page
    page = record(desk, event, fee, number)
    assert "Fees recorded as received: 1." in page and "Payments of invoices recorded: 1." in page
    assert fetch_scalar("SELECT reference FROM stall_fee_record") == f"{fee} EFT KAPANA MARCH"
    assert fetch_scalar("SELECT amount_minor FROM invoice_payment") == 300000
    assert_ledger_integrity()
    page = record(desk, event, fee, number)
    assert "Check the file again" in page and fetch_scalar("SELECT count(*) FROM invoice_payment") == 1
    assert "Recorded before (2)" in check(desk, event, ROWS)


def test_a_row_that_was_assigned_is_recorded_before(
    client: Client, organiser: Client, desk: Visitor, event: dict[str, Any], fee: str, number: str
) -> None:
    create_approved_application(client, organiser, eventId=event["id"], documentsRequired=[], email="other@example.com")
    check(desk, event, ROWS)
    record(desk, event, fee, number)
    page = check(desk, event, ROWS)
    assert "Recorded before (2)" in page and list_choices(page) == []
    page = check(desk, event, ROWS + f"{TRANSFER_DAY},2500.00,EFT KAPANA MARCH\n")
    assert "Recorded before (2)" in page and len(list_choices(page)) == 1, "a second one of the same day and text"
    long_text = "A" * 200
    check(desk, event, f"Date,Amount,Description\n{TRANSFER_DAY},10.00,{long_text}\n")
    record(desk, event, number)
    assert "Recorded before (1)" in check(desk, event, f"Date,Amount,Description\n{TRANSFER_DAY},10.00,{long_text}\n")


def test_a_row_that_was_assigned_wrongly_is_assigned_again(
    organiser: Client, desk: Visitor, event: dict[str, Any], number: str
) -> None:
    row = f"{TRANSFER_DAY},2000.00,GOLD\n"
    check(desk, event, HEAD + row * 2)
    record(desk, event, number, number)
    block_id = fetch_scalar("SELECT block_id FROM invoice")
    path = f"/api/events/{event['id']}/allocations/{block_id}/invoice/received/take-back"
    data(organiser.post(path, {"number": 1, "reason": "Another invoice"}))
    right = add_invoice(organiser, event)
    page = check(desk, event, HEAD + row * 2)
    assert "Recorded before (1)" in page and [sorted(it) for it in list_choices(page)] == [sorted([number, right])]
    assert "Payments of invoices recorded: 1." in record(desk, event, right)
    assert "Recorded before (2)" in check(desk, event, HEAD + row * 2)
    assert fetch_scalar(SUM_OF_PAYMENTS) == 400000
    assert_ledger_integrity()


def test_equal_rows_are_assigned_one_by_one(desk: Visitor, event: dict[str, Any], number: str) -> None:
    row, head = f"{TRANSFER_DAY},2000.00,GOLD\n", "Date,Amount,Description\n"
    check(desk, event, head + row)
    assert "Payments of invoices recorded: 1." in record(desk, event, number)
    page = check(desk, event, head + row * 3)
    assert "Recorded before (1)" in page and list_choices(page) == [[number]] * 2
    page = record(desk, event, number, number)
    assert "Payments of invoices recorded: 2." in page and "Recorded before (1)" in page
    assert "Check the file again" in record(desk, event, number, number)
    assert "Recorded before (3)" in check(desk, event, head + row * 3)
    assert fetch_scalar("SELECT count(*) FROM invoice_payment") == 3
    assert_ledger_integrity()


def test_an_equal_row_with_a_number_is_recorded_beside_one_from_before(
    desk: Visitor, event: dict[str, Any], number: str
) -> None:
    row, head = f"{TRANSFER_DAY},2000.00,INV {number}\n", "Date,Amount,Description\n"
    check(desk, event, head + row)
    assert "Payments of invoices recorded: 1." in record(desk, event)
    named, unnamed = f"{TRANSFER_DAY},2000.00,INV {number}\n", f"{TRANSFER_DAY},2000.00,GOLD\n"
    page = check(desk, event, head + row + unnamed + named)
    assert "Recorded before (1)" in page and list_choices(page) == [[number]]
    assert "Payments of invoices recorded: 2." in record(desk, event, number)
    assert "Check the file again" in record(desk, event, number)
    page = check(desk, event, head + unnamed + row * 2)
    assert "Recorded before (3)" in page and list_choices(page) == []
    assert fetch_scalar("SELECT count(*) FROM invoice_payment") == 3
    assert_ledger_integrity()


def add_invoice(organiser: Client, event: dict[str, Any]) -> str:
    path = f"/api/events/{event['id']}/allocations/{block_of(event).id}/invoice/email"
    return str(data(organiser.post(path), 202)["number"])


def record_if_asked(desk: Visitor, event: dict[str, Any], *references: str) -> None:
    """Record the checked rows; a page on which nothing can be recorded has no form for it."""
    if "rows" in Reader(desk.page.text).forms[1].fields:
        record(desk, event, *references)


def test_a_row_with_a_number_keeps_its_transfer_beside_an_equal_text(
    organiser: Client, desk: Visitor, event: dict[str, Any], number: str
) -> None:
    other = add_invoice(organiser, event)
    head, named, unnamed = HEAD, f"{TRANSFER_DAY},1000.00,{number} KALAHARI\n", f"{TRANSFER_DAY},1000.00,KALAHARI\n"
    check(desk, event, head + unnamed + named)
    record(desk, event, other)
    for rows in (unnamed + named, named + unnamed, named, unnamed):
        assert list_choices(check(desk, event, head + rows)) == [], rows
        record_if_asked(desk, event)
        assert fetch_scalar(SUM_OF_PAYMENTS) == 200000, rows
    assert list_choices(check(desk, event, head + unnamed * 2 + named)) == [[number, other]]
    record(desk, event, number)
    assert fetch_scalar(SUM_OF_PAYMENTS) == 300000
    assert_ledger_integrity()


def test_a_row_without_a_choice_stays_open_beside_an_equal_text(
    desk: Visitor, event: dict[str, Any], number: str
) -> None:
    rows = f"{TRANSFER_DAY},1000.00,{number} KALAHARI\n{TRANSFER_DAY},1000.00,KALAHARI\n"
    for _ in range(2):
        assert list_choices(check(desk, event, HEAD + rows)) == [[number]]
        record(desk, event, "")
        assert fetch_scalar(SUM_OF_PAYMENTS) == 100000
    check(desk, event, HEAD + rows)
    record(desk, event, number)
    assert fetch_scalar(SUM_OF_PAYMENTS) == 200000
    assert list_choices(check(desk, event, HEAD + rows)) == []


def test_an_assigned_row_and_a_later_one_with_the_number_are_two_payments(
    desk: Visitor, event: dict[str, Any], number: str
) -> None:
    unnamed, named = f"{TRANSFER_DAY},1000.00,GOLD\n", f"{TRANSFER_DAY},1000.00,INV {number}\n"
    check(desk, event, HEAD + unnamed)
    record(desk, event, number)
    assert list_choices(check(desk, event, HEAD + named + unnamed)) == []
    record(desk, event)
    assert fetch_scalar(SUM_OF_PAYMENTS) == 200000
    assert "Recorded before (2)" in check(desk, event, HEAD + named + unnamed)


def test_a_recorded_fee_hides_no_other_transfer(
    client: Client, organiser: Client, desk: Visitor, event: dict[str, Any], fee: str
) -> None:
    other = create_approved_application(
        client, organiser, eventId=event["id"], documentsRequired=[], email="other@example.com"
    )["reference"]
    named, unnamed = f"{TRANSFER_DAY},2500.00,{fee} KAPANA\n", f"{TRANSFER_DAY},2500.00,KAPANA\n"
    check(desk, event, HEAD + named)
    record(desk, event)
    assert list_choices(check(desk, event, HEAD + unnamed + named)) == [[other]]
    record(desk, event, other)
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == 2
    assert list_choices(check(desk, event, HEAD + unnamed + named)) == []


def test_a_row_that_names_a_fee_is_a_second_payment_beside_the_assigned_one(
    desk: Visitor, event: dict[str, Any], fee: str
) -> None:
    named, unnamed = f"{TRANSFER_DAY},2500.00,INV {fee}\n", f"{TRANSFER_DAY},2500.00,KAPANA\n"
    check(desk, event, HEAD + unnamed)
    record(desk, event, fee)
    for rows in (named + unnamed, unnamed + named):
        page = check(desk, event, HEAD + rows)
        assert "Recorded before (1)" in page and list_choices(page) == []
        assert "This fee is paid already. This may be a second payment" in page
    assert "Recorded before (1)" in check(desk, event, HEAD + named)


def test_a_row_recorded_by_hand_with_its_text_is_not_offered(
    client: Client, organiser: Client, desk: Visitor, event: dict[str, Any], fee: str, number: str
) -> None:
    other = create_approved_application(client, organiser, eventId=event["id"], documentsRequired=[])
    body = {"amountMinor": 250000, "reference": "KAPANA", "receivedOn": TRANSFER_DAY}
    data(organiser.post(f"{LIST}/{other['id']}/fee/received", body))
    row = f"{TRANSFER_DAY},2500.00,KAPANA\n"
    page = check(desk, event, HEAD + row)
    assert "Recorded before (1)" in page and list_choices(page) == []
    (choices,) = list_choices(check(desk, event, HEAD + row * 2))
    assert sorted(choices) == sorted([fee, number])


@pytest.mark.parametrize("seed", range(4))
def test_a_growing_statement_records_each_transfer_once(
    organiser: Client, desk: Visitor, event: dict[str, Any], number: str, seed: int
) -> None:
    chance, numbers = random.Random(seed), [number, add_invoice(organiser, event)]
    texts = (f"INV {numbers[0]}", f"INV {numbers[1]}", "GOLD", "GOLD", f"{numbers[0]} GOLD")
    rows = [(chance.choice((100, 200)), chance.choice(texts)) for _ in range(9)]
    for end in (3, 6, 9):
        content = HEAD + "".join(f"{TRANSFER_DAY},{amount}.00,{text}\n" for amount, text in rows[:end])
        choices = list_choices(check(desk, event, content))
        record_if_asked(desk, event, *(chance.choice(numbers) for _ in choices))
        assert list_choices(check(desk, event, content)) == []
        record_if_asked(desk, event)
        assert fetch_scalar(SUM_OF_PAYMENTS) == sum(amount for amount, _ in rows[:end]) * 100
    assert_ledger_integrity()


def test_no_more_choices_are_offered_than_can_be_recorded(
    desk: Visitor, event: dict[str, Any], number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.money.statements.MAX_RECORDED", 3)
    named = "".join(f"{TRANSFER_DAY},10.00,INV {number} {row}\n" for row in range(2))
    unnamed = "".join(f"{TRANSFER_DAY},20.00,GOLD {row}\n" for row in range(3))
    page = check(desk, event, HEAD + named + unnamed)
    assert len(list_choices(page)) == 1 and "These are the first rows." in page
    assert "Payments of invoices recorded: 3." in record(desk, event, number)
    assert len(list_choices(check(desk, event, HEAD + named + unnamed))) == 2
    more = "".join(f"{TRANSFER_DAY},30.00,INV {number} {row}\n" for row in range(3))
    page = check(desk, event, HEAD + more + unnamed)
    assert list_choices(page) == [] and "No more can be recorded at once." in page
    page = record(desk, event)
    assert "Payments of invoices recorded: 3." in page and "No more can be" not in page


def test_a_row_of_the_future_is_not_offered(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    assert list_choices(check(desk, event, "Date,Amount,Description\n2199-01-01,2500.00,A\n")) == []


def test_a_row_without_a_choice_pays_nothing(desk: Visitor, event: dict[str, Any], fee: str, number: str) -> None:
    check(desk, event, ROWS)
    page = record(desk, event, "", number)
    assert "Fees recorded as received: 0." in page and "Payments of invoices recorded: 1." in page
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == 0


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


def test_only_what_is_due_and_fits_is_offered(
    client: Client, organiser: Client, desk: Visitor, event: dict[str, Any], fee: str
) -> None:
    create_application(client, eventId=event["id"])
    other = create_approved_application(client, organiser, documentsRequired=[])
    page = check(desk, event, f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,A\n{TRANSFER_DAY},2499.99,B\n")
    assert list_choices(page) == [[fee]]
    page = record(desk, event, other["reference"])
    assert "Fees recorded as received: 0." in page, "a fee of another event"
    check(desk, event, f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,A\n")
    assert "Fees recorded as received: 1." in record(desk, event, fee)
    assert list_choices(check(desk, event, f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,C\n")) == []


def test_a_fee_that_a_wallet_pays_now_is_not_offered(
    client: Client, desk: Visitor, event: dict[str, Any], fee: str
) -> None:
    content = f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,A\n"
    token = find_mailed_token("pay")
    data(client.post(f"{LIST}/pay/{token}"))
    assert list_choices(check(desk, event, content)) == [[fee]], "a code was sent, and nothing is paid"
    execute_sql("UPDATE stall_payment SET tries = 1, status = 'processing'")
    assert list_choices(check(desk, event, content)) == []
    execute_sql("UPDATE stall_payment SET answered = 1, status = 'declined'")
    assert list_choices(check(desk, event, content)) == [[fee]]


def test_a_fee_is_chosen_for_one_row_only(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    check(desk, event, f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,A\n{TRANSFER_DAY},2500.00,B\n")
    page = record(desk, event, fee, fee)
    assert "Fees recorded as received: 1." in page and "The reference is in another row as well" in page
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


def test_money_that_went_back_is_not_offered(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    rows = f"{TRANSFER_DAY},2500.00,EFT KAPANA MARCH\n{TRANSFER_DAY},-2500.00,Eft Kapana March\n"
    assert list_choices(check(desk, event, f"Date,Amount,Description\n{rows}")) == []


def test_a_fee_that_another_row_pays_is_not_offered(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    rows = f"{TRANSFER_DAY},2500.00,EFT {fee}\n{TRANSFER_DAY},2500.00,B\n"
    assert list_choices(check(desk, event, f"Date,Amount,Description\n{rows}")) == []


def test_of_many_that_fit_any_can_be_named(
    desk: Visitor, event: dict[str, Any], fee: str, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.blueprints.pages.desk.stall_statement.MAX_CHOICES", 1)
    page = check(desk, event, ROWS)
    assert '<input name="pays" list="open-payments"' in page and f'<option value="{fee}">' in page
    assert "Fees recorded as received: 1." in record(desk, event, fee, number)


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
    if not lock:
        remove_lock(monkeypatch)

    def assign(number: int) -> None:
        with app.app_context():
            references = [(fee, other)[number % 2]]
            statements.import_statement(caller, event["id"], content, dry_run=False, references=references)

    run_concurrently(2, assign)
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
