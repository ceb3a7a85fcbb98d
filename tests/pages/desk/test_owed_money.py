"""Invoices of blocks for which an organiser owes money back, and those that are overdue: where the desk says so."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.core.formatting import format_money
from app.core.transaction import transaction
from app.desk.tasks import list_tasks
from tests.factories.accounts import create_account, create_signed_in_client, run_jobs
from tests.factories.allocations import Block
from tests.factories.applications import TRANSFER_DAY
from tests.factories.payouts import execute_sql
from tests.http import Client, data, read_error
from tests.pages.desk.test_after_event import end
from tests.pages.desk.test_events import EVENTS, HOME, open_as
from tests.pages.desk.test_guests import block as block
from tests.pages.desk.test_guests import build_path
from tests.pages.pages import Visitor

OWED = "You owe money back for 1 invoice."
OVERDUE = "1 invoice is overdue"


def issue_and_pay(block: Block) -> int:
    """Issue the invoice and record its payment. Returns the amount in cents."""
    block.owner.get(f"{block.path}/invoice.pdf")
    due: int = data(block.owner.get(f"{block.path}/invoice"))["dueMinor"]
    data(block.post("invoice/received", amountMinor=due, reference="R1", receivedOn=TRANSFER_DAY))
    return due


def owe_back(block: Block) -> int:
    """Give four of ten places of a paid block back. Returns what is owed, in cents."""
    due = issue_and_pay(block)
    data(block.post("release-unused", quantity=4))
    run_jobs()
    return due * 4 // 10


def move_issue(days: int) -> None:
    """Have all invoices issued so many days ago."""
    with transaction() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("UPDATE invoice SET issued_at = now() - make_interval(days => :days)"), {"days": days})


def list_kinds(account: Account) -> list[tuple[str, int]]:
    return [
        (task.kind, task.count) for task in list_tasks(build_caller(account)) if task.kind in ("owed_back", "invoices")
    ]


def test_money_that_is_owed_back_is_a_task_until_it_is_paid_back(block: Block, desk: Visitor, owner: Account) -> None:
    issue_and_pay(block)
    assert OWED not in desk.open(HOME).text and list_kinds(owner) == []
    data(block.post("release-unused", quantity=4))
    run_jobs()
    path = f"{EVENTS}/{block.event['id']}/money?state=owed_back#documents"
    page = desk.open(HOME).text
    assert OWED in page and f'href="{path}"' in page and list_kinds(owner) == [("owed_back", 1)]
    assert list_kinds(create_account("organiser")) == []
    tasks = data(block.owner.get("/api/organisations/me/tasks"))["tasks"]
    assert ("owed_back", 1) in [(task["kind"], task["count"]) for task in tasks]
    owed = -data(block.owner.get(f"{block.path}/invoice"))["dueMinor"]
    page = desk.open(path).text
    assert f"You owe back {format_money(owed)}" in page and build_path(block, "invoice") in page
    data(block.post("invoice/received", amountMinor=owed, reference="R2", receivedOn=TRANSFER_DAY, paidBack=True))
    assert OWED not in desk.open(HOME).text
    assert "Nothing matches" in desk.open(path).text


def test_the_pages_say_how_much_of_an_invoice_is_paid(block: Block, desk: Visitor) -> None:
    block.owner.get(f"{block.path}/invoice.pdf")
    pages = (build_path(block), f"{EVENTS}/{block.event['id']}/guests")
    total = data(block.owner.get(f"{block.path}/invoice"))["totalMinor"]
    assert all("-000001, open" in desk.open(path).text for path in pages)
    payment = {"amountMinor": 300010, "reference": "R1", "receivedOn": TRANSFER_DAY, "part": True}
    data(block.post("invoice/received", **payment))
    paid = f"-000001, {format_money(300010)} of {format_money(total)} paid"
    assert all(paid in desk.open(path).text for path in pages)
    assert block.now()["invoice"]["paidMinor"] == 300010
    data(block.post("release-unused", quantity=4))
    run_jobs()
    paid = f"-000001, {format_money(300010)} of {format_money(total * 6 // 10)} paid"
    assert all(paid in desk.open(path).text for path in pages), "less what is credited"


def test_the_page_of_a_block_says_what_is_owed_back(block: Block, desk: Visitor) -> None:
    issue_and_pay(block)
    assert ", settled" in desk.open(build_path(block)).text
    data(block.post("release-unused", quantity=4))
    run_jobs()
    owed = format_money(-data(block.owner.get(f"{block.path}/invoice"))["dueMinor"])
    for path in (build_path(block), f"{EVENTS}/{block.event['id']}/guests"):
        page = desk.open(path).text
        assert f", you owe back {owed}" in page and ", settled" not in page


def test_money_is_owed_back_for_a_cancelled_event_too(block: Block, owner: Account) -> None:
    owe_back(block)
    execute_sql("UPDATE event SET visibility = 'cancelled' WHERE id = :id", id=block.event["id"])
    assert list_kinds(owner) == [("owed_back", 1)]


@pytest.mark.parametrize(("role", "kinds"), [("finance", True), ("manager", True), ("viewer", False), ("door", False)])
def test_only_who_may_settle_sees_the_tasks(
    app: Flask, client: Client, block: Block, owner: Account, role: str, kinds: bool
) -> None:
    owe_back(block)
    assert (OWED in open_as(app, client, owner, role).open(HOME).text) == kinds


def test_an_overdue_invoice_is_a_task_until_it_is_paid(block: Block, desk: Visitor, owner: Account) -> None:
    block.owner.get(f"{block.path}/invoice.pdf")
    due = data(block.owner.get(f"{block.path}/invoice"))["dueMinor"]
    for days, is_overdue in ((0, False), (14, False), (15, True)):
        move_issue(days)
        assert (OVERDUE in desk.open(HOME).text) == is_overdue, days
    path = f"{EVENTS}/{block.event['id']}/money?state=overdue#documents"
    assert f'href="{path}"' in desk.page.text and list_kinds(owner) == [("invoices", 1)]
    documents = f"/api/events/{block.event['id']}/money/documents"
    assert [row["openMinor"] for row in data(block.owner.get(f"{documents}?state=overdue"))["documents"]] == [due]
    execute_sql("UPDATE allocation_block SET pay_by = (now() + interval '2 days')::date WHERE id = :id", id=block.id)
    assert list_kinds(owner) == [] and data(block.owner.get(f"{documents}?state=overdue"))["documents"] == []
    execute_sql("UPDATE allocation_block SET pay_by = (now() - interval '2 days')::date WHERE id = :id", id=block.id)
    assert list_kinds(owner) == [("invoices", 1)]
    data(block.post("invoice/received", amountMinor=due, reference="R1", receivedOn=TRANSFER_DAY))
    assert list_kinds(owner) == []


def test_documents_have_what_is_owed_back(client: Client, block: Block) -> None:
    owed, path = owe_back(block), f"/api/events/{block.event['id']}/money/documents"
    rows = data(block.owner.get(path))["documents"]
    assert [(row["kind"], row["openMinor"], row["owedBackMinor"]) for row in rows] == [
        ("credit_note", 0, 0),
        ("invoice", 0, owed),
    ]
    for state, count in (("owed_back", 1), ("open", 0), ("overdue", 0)):
        assert len(data(block.owner.get(f"{path}?state={state}"))["documents"]) == count, state
    assert read_error(block.owner.get(f"{path}?state=paid"))[0] == 422
    other = create_signed_in_client(client, create_account("organiser"))
    assert read_error(other.get(f"{path}?state=owed_back")) == (404, "NOT_FOUND")


def test_after_the_event_money_is_still_owed_back(block: Block, desk: Visitor) -> None:
    owe_back(block)
    end(block.event)
    page = desk.open(f"{EVENTS}/{block.event['id']}").text
    assert OWED in page and f'href="{EVENTS}/{block.event["id"]}/money?state=owed_back#documents"' in page
    assert "invoice is not paid" not in page
