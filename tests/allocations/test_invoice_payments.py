"""Payments of blocks' invoices: recorded and booked once, for what is due."""

from collections import Counter
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.allocations import invoice_payments
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.ledger.commands import list_differences
from tests.allocations.blocks import block_of, festival, organiser_of, shrink
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.applications import TRANSFER_DAY
from tests.factories.payouts import assert_ledger_integrity, execute_sql, fetch_scalar
from tests.http import Client, data, read_error
from tests.races import run_concurrently

TRANSFER = {"amountMinor": 850000, "reference": "EFT BANK WINDHOEK", "receivedOn": TRANSFER_DAY}
RULE = "every payment of a block's invoice is booked, once"


@pytest.fixture
def owner(client: Client) -> Client:
    return organiser_of(client)[0]


@pytest.fixture
def block(owner: Client) -> Any:
    """A block of ten places with an invoice over 850000 cents."""
    block = block_of(festival(owner))
    data(owner.post(path(block, "/email")), 202)
    return block


def path(block: Any, end: str = "") -> str:
    return f"/api/events/{block.event_id}/allocations/{block.id}/invoice{end}"


def credit(block: Any, by: int) -> None:
    shrink(block, by)
    with transaction():
        enqueue("allocations.credit", block_id=block.id)
    run_jobs()


def count_bookings() -> int:
    return int(fetch_scalar("SELECT count(*) FROM ledger_transaction WHERE kind = 'block_invoice'"))


def test_a_transfer_pays_the_invoice(owner: Client, block: Any) -> None:
    assert data(owner.get(path(block)))["dueMinor"] == 850000
    paid = data(owner.post(path(block, "/received"), TRANSFER))
    assert (paid["dueMinor"], paid["payments"]) == (0, [{**TRANSFER, "number": 1, "takenBack": None}])
    assert data(owner.get(path(block))) == paid
    again = owner.post(path(block, "/received"), TRANSFER)
    assert data(again) == paid and count_bookings() == 1
    other = {**TRANSFER, "reference": "another"}
    assert read_error(owner.post(path(block, "/received"), other)) == (409, "INVOICE_SETTLED")
    assert fetch_scalar("SELECT sum(amount_minor) FROM ledger_entry WHERE account = 'organisation'") == 850000
    assert_ledger_integrity()


def test_parts_pay_the_invoice_together(owner: Client, block: Any) -> None:
    first = {**TRANSFER, "amountMinor": 300000}
    assert data(owner.post(path(block, "/received"), first), 422)["errors"][0]["path"] == "amountMinor"
    assert data(owner.post(path(block, "/received"), {**first, "part": True}))["dueMinor"] == 550000
    repeated = data(owner.post(path(block, "/received"), {**first, "part": True}), 422)["errors"]
    assert [(error["path"], error["code"]) for error in repeated] == [("reference", "repeated")]
    too_much = {**TRANSFER, "amountMinor": 550001, "part": True}
    assert data(owner.post(path(block, "/received"), too_much), 422)["errors"][0]["path"] == "amountMinor"
    second = {**TRANSFER, "amountMinor": 250000, "part": True}
    assert data(owner.post(path(block, "/received"), second))["dueMinor"] == 300000
    money = data(owner.get(f"/api/events/{block.event_id}/money"))
    invoices = money["blockInvoices"]
    assert (invoices["issuedMinor"], invoices["paidMinor"], invoices["openMinor"]) == (850000, 550000, 300000)
    assert money["reconciled"]
    paid = data(owner.post(path(block, "/received"), {**first, "reference": "the rest"}))
    assert (paid["dueMinor"], [payment["amountMinor"] for payment in paid["payments"]]) == (0, [300000, 250000, 300000])
    assert data(owner.post(path(block, "/received"), {**first, "reference": "the rest"})) == paid
    assert count_bookings() == 3
    assert fetch_scalar("SELECT sum(amount_minor) FROM ledger_entry WHERE account = 'organisation'") == 850000
    assert_ledger_integrity()


def test_the_holder_gets_a_mail_for_each_payment(owner: Client, block: Any) -> None:
    part = {**TRANSFER, "amountMinor": 300000, "part": True}
    for transfer in (part, {**TRANSFER, "amountMinor": 550000}):
        data(owner.post(path(block, "/received"), transfer))
        owner.post(path(block, "/received"), transfer)
        run_jobs()
    second, first = (mail for mail in list_mails_to("tuli@bank.example") if "payment of invoice" in mail["subject"])
    assert (
        "N$\u00a03\u202f000.00" in first["text"]
        and "N$\u00a05\u202f500.00 of this invoice is still to be paid" in first["text"]
    )
    assert "N$\u00a05\u202f500.00" in second["text"] and "Nothing is left to pay." in second["text"]


def test_each_mail_says_what_was_left_after_its_payment(owner: Client, block: Any) -> None:
    for amount in (300000, 550000):
        data(owner.post(path(block, "/received"), {**TRANSFER, "amountMinor": amount, "part": True}))
    run_jobs()
    texts = "".join(mail["text"] for mail in list_mails_to("tuli@bank.example"))
    assert (
        texts.count("N$\u00a05\u202f500.00 of this invoice is still to be paid") == texts.count("Nothing is left") == 1
    )


def test_at_most_twenty_mails_a_day_go_to_a_holder(owner: Client, block: Any) -> None:
    for number in range(22):
        data(owner.post(path(block, "/received"), {**TRANSFER, "amountMinor": 100 + number, "part": True}))
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'allocations.mail_payment'") == 20


def test_a_block_without_an_address_brings_no_mail(owner: Client, block: Any) -> None:
    execute_sql("UPDATE allocation_block SET holder_email = NULL")
    data(owner.post(path(block, "/received"), TRANSFER))
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'allocations.mail_payment'") == 0


def test_the_mail_says_what_is_owed_back_and_goes_to_the_present_address(owner: Client, block: Any) -> None:
    data(owner.post(path(block, "/received"), {**TRANSFER, "amountMinor": 300000, "part": True}))
    execute_sql("UPDATE allocation_block SET holder_email = 'new@bank.example'")
    shrink(block, 8)
    with transaction():
        enqueue("allocations.credit", block_id=block.id)
    execute_sql("UPDATE outbox SET run_at = now() + interval '1 hour' WHERE kind = 'allocations.mail_payment'")
    run_jobs()
    execute_sql("UPDATE outbox SET run_at = now() WHERE kind = 'allocations.mail_payment'")
    run_jobs()
    assert "payment of" not in str([mail["subject"] for mail in list_mails_to("tuli@bank.example")])
    mail = next(mail for mail in list_mails_to("new@bank.example") if "payment of" in mail["subject"])
    assert "owes you N$\u00a01\u202f300.00" in mail["text"]


def test_money_that_is_paid_back_brings_no_mail(owner: Client, block: Any) -> None:
    data(owner.post(path(block, "/received"), TRANSFER))
    credit(block, 2)
    run_jobs()
    count = len(list_mails_to("tuli@bank.example"))
    data(owner.post(path(block, "/received"), {**TRANSFER, "amountMinor": 170000, "paidBack": True}))
    run_jobs()
    assert len(list_mails_to("tuli@bank.example")) == count


def test_what_is_credited_is_not_due(owner: Client, block: Any) -> None:
    credit(block, 3)
    refused = owner.post(path(block, "/received"), TRANSFER)
    assert data(refused, 422)["errors"][0]["path"] == "amountMinor" and count_bookings() == 0
    paid = data(owner.post(path(block, "/received"), {**TRANSFER, "amountMinor": 595000}))
    assert (paid["dueMinor"], paid["creditedMinor"]) == (0, 255000)


def test_a_credit_note_after_the_payment_is_owed_back(owner: Client, block: Any) -> None:
    data(owner.post(path(block, "/received"), TRANSFER))
    credit(block, 2)
    assert data(owner.get(path(block)))["dueMinor"] == -170000
    assert_ledger_integrity()


def test_an_invoice_that_is_credited_in_full_is_settled(owner: Client, block: Any) -> None:
    credit(block, 10)
    assert read_error(owner.post(path(block, "/received"), TRANSFER)) == (409, "INVOICE_SETTLED")


def test_all_mistakes_are_reported_at_once(owner: Client, block: Any) -> None:
    wrong = {"amountMinor": 1, "reference": "EFT", "receivedOn": "2200-01-01"}
    found = data(owner.post(path(block, "/received"), wrong), 422)["errors"]
    assert [error["path"] for error in found] == ["amountMinor", "receivedOn"] and count_bookings() == 0


def test_without_an_invoice_nothing_is_received(owner: Client) -> None:
    block = block_of(festival(owner))
    assert read_error(owner.post(path(block, "/received"), TRANSFER)) == (409, "INVOICE_NOT_ISSUED")


def receive_at_once(app: Flask, owner: Client, block: Any, count: int, **fields: Any) -> Counter[int]:
    def receive(number: int) -> int:
        transfer = {**TRANSFER, "reference": f"EFT {number}", **fields}
        return Client(app.test_client(), owner.headers).post(path(block, "/received"), transfer).status_code

    return Counter(run_concurrently(count, receive))


def test_of_64_transfers_at_once_one_pays(app: Flask, owner: Client, block: Any) -> None:
    assert receive_at_once(app, owner, block, 64) == {200: 1, 409: 63}
    assert count_bookings() == 1
    assert_ledger_integrity()


def test_parts_at_once_are_never_more_than_is_due(app: Flask, owner: Client, block: Any) -> None:
    fields = {"amountMinor": 100000, "part": True}
    assert receive_at_once(app, owner, block, 16, **fields) == {200: 8, 422: 8}
    assert data(owner.get(path(block)))["dueMinor"] == 50000
    assert_ledger_integrity()


@pytest.mark.control
def test_without_the_lock_several_try_to_pay(
    app: Flask, owner: Client, block: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invoice_payments, "lock_block_for_invoice", lambda session, *_, **__: session)
    assert receive_at_once(app, owner, block, 16)[500] >= 1


@pytest.mark.parametrize(
    "damage", ["UPDATE invoice_payment SET amount_minor = 1", "DELETE FROM invoice_payment", "DELETE FROM ledger_entry"]
)
def test_the_check_finds_a_payment_unlike_its_booking(owner: Client, block: Any, damage: str) -> None:
    data(owner.post(path(block, "/received"), TRANSFER))
    rules: list[str] = []
    with transaction() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text(damage))
    assert RULE in [rules[-1] for _ in list_differences(rules.append)]
