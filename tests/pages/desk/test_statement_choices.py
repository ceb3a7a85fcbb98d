"""Rows of a bank statement for which a person chooses the fee or the invoice that they pay."""

import random
import re
import threading
from contextlib import suppress
from io import BytesIO
from typing import Any

import pytest

from app.money import statements
from tests.allocations.blocks import block_of, festival
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
