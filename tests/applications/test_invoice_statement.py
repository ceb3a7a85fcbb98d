"""Bank statements: rows that pay the invoice of a block, or a part of it, are found and recorded once."""

from typing import Any

import pytest

from app.allocations.models import AllocationBlock as Block
from tests.allocations.blocks import block_of, festival
from tests.applications.test_fee_statement import send
from tests.counting import record_statements
from tests.factories.accounts import run_jobs
from tests.factories.applications import TRANSFER_DAY, create_approved_application
from tests.factories.events import create_organiser_client
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.http import Client, data
from tests.races import run_concurrently


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return festival(owner)


@pytest.fixture
def block(owner: Client, event: dict[str, Any]) -> Block:
    """A block with an invoice of N$ 8,500."""
    block = block_of(event)
    data(owner.post(f"{build_path(block)}/email"), 202)
    run_jobs()
    return block


def build_path(block: Block) -> str:
    return f"/api/events/{block.event_id}/allocations/{block.id}/invoice"


def find_number(owner: Client, block: Block) -> str:
    return str(data(owner.get(build_path(block)))["number"])


def list_reasons(result: Any) -> list[str]:
    return [line["reason"] for line in data(result)["unmatched"]]


def test_an_invoice_is_paid_in_parts_beside_a_fee(
    client: Client, owner: Client, event: dict[str, Any], block: Block
) -> None:
    number = find_number(owner, block)
    fee = create_approved_application(client, owner, eventId=event["id"], documentsRequired=[])["reference"]
    lines = (
        f"{TRANSFER_DAY},3000.00,EFT INV {number} BANK WINDHOEK",
        f"{TRANSFER_DAY},2500.00,EFT {fee}",
        f"{TRANSFER_DAY},5500.00,rest of {number.replace('-', ' ')}",
    )
    found = data(send(owner, event, *lines))
    assert [(line["invoiceNumber"], line["blockId"], line["reference"]) for line in found["matched"]] == [
        (number, block.id, None),
        (None, None, fee),
        (number, block.id, None),
    ]
    assert data(owner.get(build_path(block)))["payments"] == []
    data(send(owner, event, *lines, dryRun="false"))
    invoice = data(owner.get(build_path(block)))
    assert invoice["dueMinor"] == 0
    assert [(payment["amountMinor"], payment["reference"]) for payment in invoice["payments"]] == [
        (300000, f"EFT INV {number} BANK WINDHOEK"),
        (550000, f"rest of {number.replace('-', ' ')}"),
    ]
    again = data(send(owner, event, *lines, dryRun="false"))
    assert (again["matched"], len(again["alreadyRecorded"]), again["unmatched"]) == ([], 3, [])
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE action = 'money.invoice_received'") == 2
    assert_ledger_integrity()


def test_rows_that_pay_no_invoice_say_why(owner: Client, event: dict[str, Any], block: Block) -> None:
    number = find_number(owner, block)
    other = block_of(event, 4)
    data(owner.post(f"{build_path(other)}/email"), 202)
    by_hand = {"amountMinor": 100000, "reference": "EFT 1", "receivedOn": TRANSFER_DAY, "part": True}
    data(owner.post(f"{build_path(block)}/received", by_hand))
    for line, reasons in {
        f"{TRANSFER_DAY},7500.01,{number}": ["more_than_due"],
        f"2001-01-01,10.00,{number}": ["too_early"],
        f"2199-01-01,10.00,{number}": ["future"],
        f"never,10.00,{number}": ["date_unreadable"],
        f"{TRANSFER_DAY},10.00,{number} {find_number(owner, other)}": ["several_references"],
        f"{TRANSFER_DAY},10.00,1{number}": ["no_reference"],
        f"{TRANSFER_DAY},10.00,{number}0": ["no_reference"],
        f"{TRANSFER_DAY},10.00,2026-999999": ["no_reference"],
        f"{TRANSFER_DAY},10.00,{number}\n{TRANSFER_DAY},10.00,{number} B": [],
        f"{TRANSFER_DAY},5000.00,{number}\n{TRANSFER_DAY},5000.00,{number}": ["more_than_due"],
        f"{TRANSFER_DAY},10.00,{number}\n{TRANSFER_DAY},-10.00,{number}": ["reversed"],
        f"{TRANSFER_DAY},7000.00,{number}\n{TRANSFER_DAY},501.00,{number}": ["more_than_due"],
        f"{TRANSFER_DAY},1000.00,{number}": [],
        f"{TRANSFER_DAY},1001.00,INV {number.replace('-', '/')}": [],
        f"{TRANSFER_DAY},1001.00,PO/{number.replace('-', '/')}": ["no_reference"],
    }.items():
        assert list_reasons(send(owner, event, line)) == reasons, line
    data(owner.post(f"{build_path(block)}/received", {**by_hand, "amountMinor": 750000, "reference": "EFT 2"}))
    assert list_reasons(send(owner, event, f"{TRANSFER_DAY},10.00,{number}", dryRun="false")) == ["invoice_settled"]
    assert len(data(owner.get(build_path(block)))["payments"]) == 2


def test_the_number_of_another_event_or_organiser_pays_nothing(
    client: Client, owner: Client, event: dict[str, Any], block: Block
) -> None:
    line = f"{TRANSFER_DAY},8500.00,{find_number(owner, block)}"
    assert list_reasons(send(owner, festival(owner), line, dryRun="false")) == ["no_reference"]
    stranger = create_organiser_client(client)
    assert list_reasons(send(stranger, festival(stranger), line, dryRun="false")) == ["no_reference"]
    assert send(stranger, event, line, dryRun="false").status_code == 404
    assert data(owner.get(build_path(block)))["payments"] == []


def test_of_two_who_send_a_statement_at_once_one_records_it(owner: Client, event: dict[str, Any], block: Block) -> None:
    line = f"{TRANSFER_DAY},3000.00,{find_number(owner, block)}"
    results = run_concurrently(4, lambda _: data(send(owner, event, line, dryRun="false")))
    assert sorted(len(result["matched"]) for result in results) == [0, 0, 0, 1]
    assert data(owner.get(build_path(block)))["dueMinor"] == 550000
    assert_ledger_integrity()


def test_equal_rows_of_a_day_are_payments_of_their_own(owner: Client, event: dict[str, Any], block: Block) -> None:
    """A longer statement of the same days has one more; the files are as a bank exports them."""
    number = find_number(owner, block)
    header = "Account Number,Transaction Date,Value Date,Description,Debit,Credit,Balance"
    row = f'62001234567,{TRANSFER_DAY},{TRANSFER_DAY},"FNB OB PMT {number} GOLD",,"2,000.00","14,500.00 Cr"'
    other = f"62001234567,{TRANSFER_DAY},{TRANSFER_DAY},CARD PURCHASE,150.00,,14350.00 Cr"
    for rows, (matched, recorded) in (
        ([row], (1, 0)),
        ([row, other, row], (1, 1)),
        ([row, other, row], (0, 2)),
        ([row], (0, 1)),
        ([other, row, row, row], (1, 2)),
    ):
        result = data(send(owner, event, *rows, header=header, dryRun="false"))
        assert (len(result["matched"]), len(result["alreadyRecorded"])) == (matched, recorded), rows
    invoice = data(owner.get(build_path(block)))
    assert (invoice["dueMinor"], len(invoice["payments"])) == (250000, 3)
    result = data(send(owner, event, *[row] * 5, header=header, dryRun="false"))
    assert len(result["alreadyRecorded"]) == 3 and len(result["matched"]) == 1
    assert list_reasons(send(owner, event, *[row] * 5, header=header)) == ["more_than_due"]
    assert_ledger_integrity()


def take_back(owner: Client, block: Block, number: int) -> None:
    data(owner.post(f"{build_path(block)}/received/take-back", {"number": number, "reason": "Another invoice"}))


def test_a_row_whose_payment_was_taken_back_is_new_again(owner: Client, event: dict[str, Any], block: Block) -> None:
    """Of equal rows one more is new for each payment that was taken back."""
    row = f"{TRANSFER_DAY},2000.00,{find_number(owner, block)}"
    data(send(owner, event, row, row, row, dryRun="false"))
    for number, is_recorded in ((2, 2), (3, 1)):
        take_back(owner, block, number)
        found = data(send(owner, event, row, row, row))
        assert (len(found["alreadyRecorded"]), len(found["matched"])) == (is_recorded, 3 - is_recorded)
    data(send(owner, event, row, row, dryRun="false"))
    invoice = data(owner.get(build_path(block)))
    assert invoice["dueMinor"] == 450000 and len(invoice["payments"]) == 4
    found = data(send(owner, event, row, row))
    assert (len(found["alreadyRecorded"]), found["matched"]) == (2, [])
    assert_ledger_integrity()


def test_a_transfer_that_went_back_is_the_recorded_one(owner: Client, event: dict[str, Any], block: Block) -> None:
    """What came in again that day is other money, until the first payment is taken back."""
    text = f"EFT {find_number(owner, block)}"
    row, again, back = (f"{TRANSFER_DAY},{it}" for it in (f"2000.00,{text}", f"2000.00,{text} B", f"-2000.00,{text}"))
    data(send(owner, event, row, dryRun="false"))
    found = data(send(owner, event, row, back, row))
    assert (len(found["alreadyRecorded"]), found["matched"]) == (1, [])
    found = data(send(owner, event, row, back, again, dryRun="false"))
    assert [line["reason"] for line in found["unmatched"]] == ["reversed"] and len(found["matched"]) == 1
    take_back(owner, block, 1)
    assert data(owner.get(build_path(block)))["dueMinor"] == 650000
    found = data(send(owner, event, row, back, again, dryRun="false"))
    assert (len(found["alreadyRecorded"]), found["matched"]) == (1, [])
    assert_ledger_integrity()


def test_a_row_that_names_the_wrong_invoice_is_recorded_at_the_right_one_by_hand(
    owner: Client, event: dict[str, Any], block: Block
) -> None:
    """With the number of that invoice in front of its text it is known as recorded."""
    other = block_of(event, 4)
    data(owner.post(f"{build_path(other)}/email"), 202)
    text = f"EFT {find_number(owner, block)}"
    row = f"{TRANSFER_DAY},2000.00,{text}"
    data(send(owner, event, row, dryRun="false"))
    take_back(owner, block, 1)
    by_hand = {"amountMinor": 200000, "receivedOn": TRANSFER_DAY, "part": True}
    data(owner.post(f"{build_path(other)}/received", {**by_hand, "reference": f"{find_number(owner, other)} {text}"}))
    found = data(send(owner, event, row, row, dryRun="false"))
    assert [line["blockId"] for line in found["alreadyRecorded"]] == [other.id]
    assert [line["blockId"] for line in found["matched"]] == [block.id]
    assert_ledger_integrity()


def test_a_statement_beside_take_backs_keeps_the_sums(owner: Client, event: dict[str, Any], block: Block) -> None:
    row = f"{TRANSFER_DAY},2000.00,{find_number(owner, block)}"
    data(send(owner, event, row, row, dryRun="false"))

    def call(number: int) -> int:
        if number % 2:
            return int(send(owner, event, row, row, dryRun="false").status_code)
        body = {"number": number // 2 + 1, "reason": "Another invoice"}
        return int(owner.post(f"{build_path(block)}/received/take-back", body).status_code)

    assert set(run_concurrently(6, call)) <= {200, 404, 409}
    found = data(send(owner, event, row, row, dryRun="false"))
    assert len(found["alreadyRecorded"]) + len(found["matched"]) == 2
    assert data(owner.get(build_path(block)))["dueMinor"] == 450000
    assert_ledger_integrity()


def test_a_transfer_that_was_recorded_by_hand_is_one_of_equal_rows(
    owner: Client, event: dict[str, Any], block: Block
) -> None:
    by_hand = {"amountMinor": 200000, "reference": "EFT 1", "receivedOn": TRANSFER_DAY, "part": True}
    data(owner.post(f"{build_path(block)}/received", by_hand))
    row = f"{TRANSFER_DAY},2000.00,{find_number(owner, block)}"
    result = data(send(owner, event, row, row, dryRun="false"))
    assert (len(result["matched"]), len(result["alreadyRecorded"])) == (1, 1)
    assert data(owner.get(build_path(block)))["dueMinor"] == 450000


def test_of_two_who_send_equal_rows_at_once_one_records_them(
    owner: Client, event: dict[str, Any], block: Block
) -> None:
    row = f"{TRANSFER_DAY},2000.00,{find_number(owner, block)}"
    results = run_concurrently(4, lambda _: data(send(owner, event, row, row, dryRun="false")))
    assert sorted(len(result["matched"]) for result in results) == [0, 0, 0, 2]
    assert data(owner.get(build_path(block)))["dueMinor"] == 450000
    assert_ledger_integrity()


@pytest.mark.parametrize("prefix", ["CN-", "PO-", "QUOTE/", "X"])
def test_the_number_of_another_document_pays_no_invoice(
    owner: Client, event: dict[str, Any], block: Block, prefix: str
) -> None:
    number = find_number(owner, block)
    data(send(owner, event, f"{TRANSFER_DAY},1000.00,Returned {prefix}{number}", dryRun="false"))
    assert data(owner.get(build_path(block)))["payments"] == []


def test_a_text_like_a_number_reverses_no_fee(client: Client, owner: Client, event: dict[str, Any]) -> None:
    fee = create_approved_application(client, owner, eventId=event["id"], documentsRequired=[])["reference"]
    lines = (f"{TRANSFER_DAY},2500.00,{fee} BRANCH 2026001234", f"{TRANSFER_DAY},-2500.00,SUPPLIER BRANCH 2026001234")
    assert len(data(send(owner, event, *lines))["matched"]) == 1


def test_very_many_numbers_are_looked_up_at_once(owner: Client, event: dict[str, Any]) -> None:
    lines = [
        f"{TRANSFER_DAY},1.00," + " ".join(f"20{26 + j}-{(i * 20 + j) % 1000000:06d}" for j in range(20))
        for i in range(4900)
    ]
    data(send(owner, event, *lines))


def test_the_mails_about_a_statement_are_counted_once_at_its_end(
    owner: Client, event: dict[str, Any], block: Block
) -> None:
    """Others who mail for the organisation wait from the count to the end of the transaction."""
    number = find_number(owner, block)
    lines = [f"{TRANSFER_DAY},{amount}.00,EFT {number}" for amount in range(1, 23)]
    with record_statements() as executed:
        assert len(data(send(owner, event, *lines, dryRun="false"))["matched"]) == 22
    (counted,) = (at for at, statement in enumerate(executed) if "INSERT INTO throttle" in statement)
    assert not any("invoice_payment" in statement for statement in executed[counted:])
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'allocations.mail_payment'") == 20
    more = [*lines, f"{TRANSFER_DAY},23.00,EFT {number}"]
    assert len(data(send(owner, event, *more, dryRun="false"))["matched"]) == 1
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'allocations.mail_payment'") == 20
