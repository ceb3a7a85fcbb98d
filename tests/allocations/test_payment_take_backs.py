"""Taking back a payment of a block's invoice that was recorded wrongly: once, with a booking the other way."""

from collections import Counter
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.allocations import invoice_payments, payment_take_backs
from app.allocations.models import AllocationBlock
from app.core.transaction import transaction
from app.ledger.commands import list_differences
from tests.allocations.test_invoice_payments import TRANSFER, count_bookings, credit, path
from tests.allocations.test_invoice_payments import block as block
from tests.allocations.test_invoice_payments import owner as owner
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.http import Client, data, read_error
from tests.races import run_concurrently

REASON = "It was for another invoice"
PART = {**TRANSFER, "amountMinor": 300000, "part": True}
RULE = "every payment that was taken back is booked the other way, once"


def receive(owner: Client, block: Any, **fields: Any) -> Any:
    return data(owner.post(path(block, "/received"), {**TRANSFER, **fields}))


def take_back(owner: Client, block: Any, number: int = 1) -> Any:
    return owner.post(path(block, "/received/take-back"), {"number": number, "reason": REASON})


def test_a_payment_is_taken_back_and_due_again(owner: Client, block: Any) -> None:
    receive(owner, block)
    invoice = data(take_back(owner, block))
    assert invoice["dueMinor"] == 850000 and data(owner.get(path(block))) == invoice
    (payment,) = invoice["payments"]
    assert {name: payment[name] for name in TRANSFER} == TRANSFER and payment["number"] == 1
    assert (payment["takenBack"]["reason"], payment["takenBack"]["by"]) == (REASON, "Frieda Amupolo")
    amounts = "SELECT array_agg(amount_minor ORDER BY id) FROM ledger_entry WHERE account = 'organisation'"
    assert fetch_scalar(amounts) == [850000, -850000]
    assert fetch_scalar("SELECT max(reference) FROM ledger_transaction WHERE kind = 'block_invoice'").endswith("-2")
    is_of_today = "SELECT received_on = (now() AT TIME ZONE 'Africa/Windhoek')::date FROM invoice_payment"
    assert fetch_scalar(f"{is_of_today} WHERE takes_back = 1")
    written = fetch_scalar("SELECT data FROM audit_entry WHERE action = 'money.payment_taken_back'")
    assert (written["reason"], written["amountMinor"]) == (REASON, 850000)
    money = data(owner.get(f"/api/events/{block.event_id}/money"))
    assert money["reconciled"] and money["blockInvoices"]["openMinor"] == 850000
    assert_ledger_integrity()


def test_the_same_transfer_may_be_recorded_again(owner: Client, block: Any) -> None:
    receive(owner, block)
    data(take_back(owner, block))
    paid = receive(owner, block)
    assert [(it["number"], it["takenBack"] is None) for it in paid["payments"]] == [(1, False), (3, True)]
    assert paid["dueMinor"] == 0 and receive(owner, block) == paid and count_bookings() == 3
    assert data(take_back(owner, block, 3))["dueMinor"] == 850000
    assert_ledger_integrity()


def test_the_same_amount_may_be_recorded_again_after_a_credit_note(owner: Client, block: Any) -> None:
    receive(owner, block)
    credit(block, 2)
    data(take_back(owner, block))
    other = owner.post(f"{path(block)}/received", {**TRANSFER, "amountMinor": 840000})
    assert read_error(other) == (422, "VALIDATION_FAILED"), "no other amount is more than is due"
    assert receive(owner, block, reference="as the bank wrote it")["dueMinor"] == -170000
    assert read_error(owner.post(f"{path(block)}/received", {**TRANSFER, "reference": "twice"}))[0] == 409
    assert_ledger_integrity()


def test_of_several_payments_one_is_taken_back(owner: Client, block: Any) -> None:
    receive(owner, block, **PART)
    receive(owner, block, **{**PART, "reference": "typed twice"})
    invoice = data(take_back(owner, block, 2))
    assert invoice["dueMinor"] == 550000 and receive(owner, block, amountMinor=550000)["dueMinor"] == 0
    assert_ledger_integrity()


def test_a_payment_stays_where_taking_it_back_would_be_wrong(owner: Client, block: Any) -> None:
    assert read_error(take_back(owner, block)) == (404, "NOT_FOUND")
    receive(owner, block)
    credit(block, 2)
    receive(owner, block, amountMinor=170000, paidBack=True)
    assert read_error(take_back(owner, block)) == (409, "MONEY_PAID_BACK")
    assert data(take_back(owner, block, 2))["dueMinor"] == -170000
    assert data(take_back(owner, block))["dueMinor"] == 680000
    for number in (1, 2):
        assert read_error(take_back(owner, block, number)) == (409, "PAYMENT_TAKEN_BACK")
    for number in (3, 4, 32767):
        assert read_error(take_back(owner, block, number)) == (404, "NOT_FOUND"), "a correction is no payment"
    receive(owner, block, amountMinor=680000)
    credit(block, 8)
    assert read_error(take_back(owner, block, 5)) == (409, "INVOICE_CREDITED")
    assert data(owner.get(path(block)))["dueMinor"] == -680000
    assert_ledger_integrity()


def test_all_mistakes_are_reported_at_once(owner: Client, block: Any) -> None:
    receive(owner, block)
    answer = owner.post(path(block, "/received/take-back"), {"number": 0, "reason": " "})
    assert [error["path"] for error in data(answer, 422)["errors"]] == ["number", "reason"]
    assert read_error(owner.post(path(block, "/received/take-back"), {"number": 1}))[0] == 422
    assert count_bookings() == 1


def test_the_holder_is_told_of_the_correction(owner: Client, block: Any) -> None:
    receive(owner, block)
    run_jobs()
    data(take_back(owner, block))
    run_jobs()
    mail = list_mails_to("tuli@bank.example")[0]
    assert "correction for" in mail["subject"] and "by mistake" in mail["text"]
    assert "N$\u00a08\u202f500.00 of this invoice is still to be paid" in mail["text"]


def test_no_receipt_goes_out_for_what_was_taken_back(owner: Client, block: Any) -> None:
    receive(owner, block, **PART)
    data(take_back(owner, block))
    receive(owner, block, **{**PART, "reference": "again"})
    run_jobs()
    subjects = [mail["subject"] for mail in list_mails_to("tuli@bank.example")]
    assert sum("payment of invoice" in subject for subject in subjects) == 1
    assert sum("correction for" in subject for subject in subjects) == 1


def test_money_that_is_no_longer_paid_back_brings_no_mail(owner: Client, block: Any) -> None:
    receive(owner, block)
    credit(block, 2)
    receive(owner, block, amountMinor=170000, paidBack=True)
    run_jobs()
    count = len(list_mails_to("tuli@bank.example"))
    data(take_back(owner, block, 2))
    run_jobs()
    assert len(list_mails_to("tuli@bank.example")) == count


def take_back_at_once(app: Flask, owner: Client, block: Any, count: int) -> Counter[int]:
    def call(_: int) -> int:
        return take_back(Client(app.test_client(), owner.headers), block).status_code

    return Counter(run_concurrently(count, call))


def test_of_64_at_once_one_takes_it_back(app: Flask, owner: Client, block: Any) -> None:
    receive(owner, block)
    assert take_back_at_once(app, owner, block, 64) == {200: 1, 409: 63}
    assert count_bookings() == 2 and data(owner.get(path(block)))["dueMinor"] == 850000
    assert_ledger_integrity()


def lock_nothing(session: Any, block_id: str, **_: Any) -> Any:
    return session.scalar(select(AllocationBlock).where(AllocationBlock.id == block_id))


@pytest.mark.control
def test_without_the_lock_several_try_to_take_it_back(
    app: Flask, owner: Client, block: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The unique index then refuses the others, so the sums are true all the same."""
    receive(owner, block)
    monkeypatch.setattr(payment_take_backs, "lock_block_for_invoice", lock_nothing)
    assert take_back_at_once(app, owner, block, 16)[500] >= 1
    assert count_bookings() == 2
    assert_ledger_integrity()


def mix(app: Flask, owner: Client, block: Any) -> list[int]:
    """Three payments are taken back while parts come in, money goes back, places are credited and the figures are read."""
    for number in range(3):
        receive(owner, block, amountMinor=200000, reference=f"EFT {number}", part=True)

    def call(number: int) -> int:
        client = Client(app.test_client(), owner.headers)
        if number < 6:
            return take_back(client, block, number % 3 + 1).status_code
        if number < 10:
            part = {**TRANSFER, "amountMinor": 100000, "reference": f"part {number}", "part": True}
            return client.post(path(block, "/received"), part).status_code
        if number < 12:
            back = {**TRANSFER, "amountMinor": 1000, "reference": f"back {number}", "part": True, "paidBack": True}
            return client.post(path(block, "/received"), back).status_code
        if number < 13:
            with app.app_context():
                credit(block, 5)
            return 200
        money = data(client.get(f"/api/events/{block.event_id}/money"))
        invoices = money["blockInvoices"]
        charged = invoices["issuedMinor"] - invoices["creditedMinor"]
        assert charged == invoices["paidMinor"] + invoices["openMinor"] - invoices["owedBackMinor"]
        assert money["reconciled"] is True, money
        return 200

    return run_concurrently(17, call)


def test_all_sums_stay_true_beside_other_writers(app: Flask, owner: Client, block: Any) -> None:
    statuses = mix(app, owner, block)
    assert set(statuses) <= {200, 409, 422}, statuses
    invoice = data(owner.get(path(block)))
    counted = sum(it["amountMinor"] for it in invoice["payments"] if it["takenBack"] is None)
    assert invoice["dueMinor"] == invoice["totalMinor"] - invoice["creditedMinor"] - counted
    assert fetch_scalar("SELECT sum(amount_minor) FROM invoice_payment") == counted
    assert fetch_scalar("SELECT sum(amount_minor) FROM ledger_entry WHERE account = 'organisation'") == counted
    assert_ledger_integrity()


@pytest.mark.control
def test_without_the_lock_the_writers_collide(
    app: Flask, owner: Client, block: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (invoice_payments, payment_take_backs):
        monkeypatch.setattr(module, "lock_block_for_invoice", lock_nothing)
    assert 500 in mix(app, owner, block)


@pytest.mark.parametrize(
    "damage", ["SET amount_minor = -1 WHERE takes_back = 1", "SET takes_back = 2, number = 3 WHERE takes_back = 1"]
)
def test_the_check_finds_what_takes_back_another_amount(owner: Client, block: Any, damage: str) -> None:
    receive(owner, block)
    data(take_back(owner, block))
    rules: list[str] = []
    with transaction() as session:
        session.execute(text(f"UPDATE invoice_payment {damage}"))
    assert RULE in [rules[-1] for _ in list_differences(rules.append)]
