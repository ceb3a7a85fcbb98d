"""Taking back a payment of the invoice of a block at the desk."""

from html import escape
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from app.core.formatting import format_money
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import Block
from tests.factories.applications import TRANSFER_DAY
from tests.http import Client, data
from tests.pages.desk.test_events import open_as
from tests.pages.desk.test_guests import ROLES, SETTLERS, build_path
from tests.pages.desk.test_guests import block as block
from tests.pages.pages import Visitor

TAKE_BACK = "invoice/payments/1/take-back"
TRANSFER = {"reference": "EFT <b>1", "receivedOn": TRANSFER_DAY}


@pytest.fixture
def due(block: Block) -> int:
    """What is due for the invoice of the block."""
    data(block.post("invoice/email"), 202)
    return int(read(block)["dueMinor"])


def read(block: Block) -> Any:
    return data(block.owner.get(f"{block.path}/invoice"))


def test_a_payment_is_taken_back_after_the_page_has_said_what_follows(block: Block, desk: Visitor, due: int) -> None:
    data(block.post("invoice/received", amountMinor=due, **TRANSFER))
    page = desk.open(build_path(block, "invoice"))
    assert f'href="{build_path(block, TAKE_BACK)}"' in page.text
    page = desk.open(build_path(block, TAKE_BACK))
    assert f"{format_money(due)} on" in page.text and "“EFT &lt;b&gt;1”" in page.text
    assert f"Afterwards {format_money(due)} is due, and the invoice is open again." in page.text
    assert "goes to tuli@bank.example" in page.text and 'class="button danger"' in page.text
    page = desk.send(form=1)
    assert page.status_code == 422 and "Enter a reason." in page.text and read(block)["dueMinor"] == 0
    desk.open(build_path(block, TAKE_BACK))
    first = desk.press(form=1, reason="Typed <b>twice")
    second = desk.press(form=1, reason="Typed <b>twice")
    assert first.status_code == second.status_code == 303 and first.location == second.location
    page = desk.open(first.location)
    assert "The payment is taken back." in page.text and "Payment received" in page.text
    assert "Taken back:" in page.text and "Typed &lt;b&gt;twice" in page.text
    assert build_path(block, TAKE_BACK) not in page.text and read(block)["dueMinor"] == due
    run_jobs()
    assert sum("correction" in mail["subject"] for mail in list_mails_to("tuli@bank.example")) == 1
    assert_books_agree()


def test_a_part_and_money_that_was_paid_back(block: Block, desk: Visitor, due: int) -> None:
    part = due // 2
    data(block.post("invoice/received", amountMinor=part, **TRANSFER, part=True))
    page = desk.open(build_path(block, TAKE_BACK))
    assert f"Afterwards {format_money(due)} is due." in page.text and "open again" not in page.text
    data(block.post("release-unused", quantity=5))
    run_jobs()
    assert "Afterwards N$" in desk.open(build_path(block, TAKE_BACK)).text and read(block)["dueMinor"] == 0
    data(block.post("release-unused", quantity=2))
    run_jobs()
    owed = -read(block)["dueMinor"]
    data(block.post("invoice/received", amountMinor=owed, **TRANSFER, paidBack=True))
    answer = desk.open(build_path(block, TAKE_BACK))
    assert answer.status_code == 303 and "You have paid money back for this invoice" in desk.open(answer.location).text
    page = desk.open(build_path(block, "invoice/payments/2/take-back"))
    assert f"Afterwards you owe back {format_money(owed)}." in page.text and "A mail" not in page.text
    assert "The payment is taken back." in desk.send(form=1, reason="Not sent").text
    assert read(block)["dueMinor"] == -owed
    trail, reference = desk.open("/desk/audit").text, escape(TRANSFER["reference"])
    assert f"paid back: {format_money(owed)} · {reference}</td>" in trail
    assert f" · {format_money(part)} · {reference}</td>" in trail and " · Not sent</td>" in trail
    assert_books_agree()


def test_a_page_that_is_no_longer_right_says_why(block: Block, desk: Visitor, due: int) -> None:
    data(block.post("invoice/received", amountMinor=due, **TRANSFER))
    desk.open(build_path(block, TAKE_BACK))
    data(block.post("invoice/received/take-back", number=1, reason="Another invoice"))
    answer = desk.press(form=1, reason="Another invoice")
    assert "This payment was taken back before." in desk.open(answer.location).text
    answer = desk.open(build_path(block, TAKE_BACK))
    assert "This payment was taken back before." in desk.open(answer.location).text
    data(block.post("invoice/received", amountMinor=due, **TRANSFER))
    data(block.post("release-unused", quantity=10))
    run_jobs()
    answer = desk.open(build_path(block, "invoice/payments/3/take-back"))
    assert "This invoice is credited in full" in desk.open(answer.location).text
    for number in ("2", "9", "99999999999", "x", "-1"):
        assert desk.open(build_path(block, f"invoice/payments/{number}/take-back")).status_code == 404, number


def test_who_records_payments_takes_them_back(
    app: Flask, client: Client, owner: Account, block: Block, due: int
) -> None:
    data(block.post("invoice/received", amountMinor=due, **TRANSFER))
    statuses = {
        role: open_as(app, client, owner, role).open(build_path(block, TAKE_BACK)).status_code for role in ROLES
    }
    assert statuses == {role: 200 if role in SETTLERS else 403 for role in ROLES}
