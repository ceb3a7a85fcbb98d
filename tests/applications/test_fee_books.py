"""The books of stall fees: each is booked once in the ledger, and the checks find what is not."""

import csv
from io import StringIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.transaction import transaction
from app.ledger.commands import list_differences
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    create_approved_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.http import Client, data

FEE = 250000
TRANSFER = {"amountMinor": FEE, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY}
LAW = "the stall fees that are due are paid, waived, refunded or open, per event"
BOOKED = "every stall fee and refund is booked as it was paid, once"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, name="Windhoek Lights")


def approve(client: Client, owner: Client, event: dict[str, Any], email: str) -> dict[str, Any]:
    return create_approved_application(client, owner, eventId=event["id"], documentsRequired=[], email=email)


@pytest.fixture
def applications(client: Client, owner: Client, event: dict[str, Any]) -> list[dict[str, Any]]:
    """Four applications: the fee of the first is paid, of the second received, of the third waived, the last open."""
    made = [approve(client, owner, event, f"stall{number}@example.com") for number in range(4)]
    pay_stall_fee(client, find_mailed_token("pay", "stall0@example.com"))
    data(owner.post(f"{LIST}/{made[1]['id']}/fee/received", TRANSFER))
    data(owner.post(f"{LIST}/{made[2]['id']}/fee/waive", {"reason": "a school"}))
    return made


def sum_account(account: str) -> int:
    return int(
        fetch_scalar("SELECT coalesce(sum(amount_minor), 0) FROM ledger_entry WHERE account = :name", name=account)
    )


def test_money_is_booked_where_it_came_in(event: dict[str, Any], applications: list[dict[str, Any]]) -> None:
    accounts = {account: sum_account(account) for account in ("organisation", "rail_clearing", "bank")}
    assert accounts == {"organisation": 2 * FEE, "rail_clearing": -FEE, "bank": -FEE}
    assert fetch_scalar("SELECT count(DISTINCT event_id) FROM ledger_transaction WHERE event_id = :id", id=event["id"])
    assert_ledger_integrity()


BREAKS = {
    "DELETE FROM ledger_entry": [BOOKED],
    "UPDATE ledger_transaction SET event_id = 'x'": [LAW, BOOKED],
    "DELETE FROM stall_fee_record WHERE kind = 'waived'": [LAW],
    "UPDATE merchant_application SET paid_at = NULL, status = 'activated' WHERE status = 'ready'": [BOOKED],
    "DELETE FROM ledger_transaction": [LAW, BOOKED],
    "UPDATE merchant_application SET paid_at = now() WHERE paid_at IS NULL AND waived_at IS NULL": [LAW, BOOKED],
    "UPDATE stall_fee_record SET kind = 'waived', received_on = NULL, reference = NULL": [LAW, BOOKED],
}


@pytest.mark.parametrize("statement", BREAKS)
def test_the_checks_find_what_is_not_in_the_books(applications: list[dict[str, Any]], statement: str) -> None:
    rules: list[str] = []
    with transaction() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text(statement))
    found = [rules[-1] for _ in list_differences(rules.append)]
    assert {rule for rule in found if rule in (LAW, BOOKED)} == set(BREAKS[statement]), found


def test_an_organiser_reads_the_books(owner: Client, event: dict[str, Any], applications: list[dict[str, Any]]) -> None:
    path = f"/api/events/{event['id']}/stall-fees"
    body = {"reason": "They fell ill", "amountMinor": 50000}
    data(owner.post(f"{LIST}/{applications[1]['id']}/fee/refund", body))
    page = data(owner.get(path))
    assert page["totals"] == {
        "dueMinor": 4 * FEE,
        "paidMinor": FEE,
        "receivedMinor": FEE - 50000,
        "waivedMinor": FEE,
        "refundedMinor": 50000,
        "openMinor": FEE,
    }
    assert [row["status"] for row in page["fees"]] == ["open", "waived", "received", "paid"]
    assert page["fees"][2]["transferReference"] == TRANSFER["reference"]
    second = data(owner.get(f"{path}?limit=1&cursor={data(owner.get(f'{path}?limit=1'))['pagination']['nextCursor']}"))
    assert [row["status"] for row in second["fees"]] == ["waived"] and second["totals"] == page["totals"]
    assert [row["status"] for row in data(owner.get(f"{path}?status=paid"))["fees"]] == ["paid"]
    assert_ledger_integrity()


def test_the_books_as_csv(owner: Client, event: dict[str, Any], applications: list[dict[str, Any]]) -> None:
    answer = owner.get(f"/api/events/{event['id']}/stall-fees.csv")
    rows = list(csv.DictReader(StringIO(answer.get_data(as_text=True).removeprefix("\ufeff"))))
    assert [row["status"] for row in rows] == ["paid", "received", "waived", "open"]
    assert (rows[1]["receivedMinor"], rows[1]["receivedOn"], rows[3]["openMinor"]) == (str(FEE), TRANSFER_DAY, str(FEE))


def test_an_application_that_ended_unpaid_is_not_in_the_books(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    application = approve(client, owner, event, "stall9@example.com")
    data(owner.patch(f"{LIST}/{application['id']}", {"decision": "declined", "reason": "They asked for it"}))
    page = data(owner.get(f"/api/events/{event['id']}/stall-fees"))
    assert page["fees"] == [] and set(page["totals"].values()) == {0}


def test_fees_of_a_version_without_books_are_booked_once(app: Flask, applications: list[dict[str, Any]]) -> None:
    with transaction() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("DELETE FROM ledger_transaction; DELETE FROM ledger_entry"))
    for count in (2, 0):
        result = app.test_cli_runner().invoke(args=["stall-payments", "book"])
        assert result.output == f"{count} fees booked, 0 credit notes issued\n", result.output
    assert_ledger_integrity()
