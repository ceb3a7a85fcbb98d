"""The ledger is insert-only, balanced and never below zero; `flask ledger verify` finds tampering."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.core.db import db, transaction_engine
from app.core.transaction import transaction
from app.ledger.commands import list_differences
from app.ledger.errors import InsufficientFunds
from app.ledger.models import HOLD, MERCHANT_BALANCE, MERCHANT_HELD, PAYOUT, PLATFORM, RAIL_CLEARING, SETTLEMENT
from app.ledger.queries import load_ledger_period
from app.ledger.transactions import Balances, post_transaction
from tests.counting import record_statements
from tests.factories.merchants import create_merchant_account
from tests.factories.payouts import execute_sql, fetch_scalar, import_earnings

TABLES = ("ledger_entry", "ledger_transaction")


@pytest.fixture
def owner(app: Flask) -> str:
    merchant = create_merchant_account()
    import_earnings(merchant, 1000)
    return merchant.id


def post(kind: str, reference: str, owner: str, legs: dict[str, int]) -> Balances:
    with transaction() as session:
        return post_transaction(session, kind, reference, owner, legs)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_ledger_tables_are_insert_only(owner: str, table: str, statement: str) -> None:
    with pytest.raises(DBAPIError, match="insert-only"):
        execute_sql(statement.format(table))
    assert fetch_scalar(f"SELECT count(*) FROM {table}") > 0


def test_unbalanced_transaction_does_not_commit(owner: str) -> None:
    with pytest.raises(DBAPIError, match="sums to 5"):
        execute_sql(
            "INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor)"
            " SELECT id, owner_id, 'platform', 5 FROM ledger_transaction"
        )
    with pytest.raises(ValueError, match="zero"):
        post(HOLD, "x", owner, {MERCHANT_BALANCE: -5, MERCHANT_HELD: 4})
    assert list(list_differences()) == []


def test_posting_takes_one_statement(owner: str) -> None:
    with record_statements() as executed:
        assert post(HOLD, "h1", owner, {MERCHANT_BALANCE: -400, MERCHANT_HELD: 400}) == Balances(600, 400)
    assert len([item for item in executed if "ledger" in item]) == 1
    assert post(PAYOUT, "h1", owner, {MERCHANT_HELD: -400, RAIL_CLEARING: 400}) == Balances(600, 0)
    assert list(list_differences()) == []


def test_posting_over_the_balance_is_refused(owner: str) -> None:
    for legs in (
        {MERCHANT_BALANCE: -1001, MERCHANT_HELD: 1001},
        {MERCHANT_HELD: -1, MERCHANT_BALANCE: 1},
        {MERCHANT_HELD: -1, RAIL_CLEARING: 1},
    ):
        with pytest.raises(InsufficientFunds) as error:
            post(HOLD, "h1", owner, legs)
        assert error.value.data == {"availableMinor": 1000}
    assert fetch_scalar("SELECT count(*) FROM ledger_transaction") == 1


def test_reference_is_unique_per_kind(owner: str) -> None:
    post(HOLD, "h1", owner, {MERCHANT_BALANCE: -1, MERCHANT_HELD: 1})
    with pytest.raises(psycopg.IntegrityError):
        post(HOLD, "h1", owner, {MERCHANT_BALANCE: -1, MERCHANT_HELD: 1})
    assert fetch_scalar("SELECT count(*) FROM ledger_transaction WHERE reference = 'h1'") == 1


def tamper(sql: str) -> None:
    """Change the ledger without its triggers."""
    db.session.remove()
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(text(sql))


TAMPERED = [
    ("UPDATE ledger_entry SET amount_minor = amount_minor + 1 WHERE account = 'platform'", "every transaction sums"),
    ("UPDATE ledger_purse SET available_minor = available_minor + 1", "every balance is the sum"),
    ("UPDATE ledger_entry SET balance_after_minor = 7 WHERE account = 'merchant_balance'", "every running balance"),
    ("UPDATE ledger_transaction SET amount_minor = 7", "every transaction has its entries"),
    ("DELETE FROM ledger_entry", "every transaction has its entries"),
    ("DELETE FROM ledger_purse", "every balance is the sum"),
    ("UPDATE ledger_purse SET held_minor = 5", "what is held is what open payouts hold"),
]


@pytest.mark.parametrize(("sql", "rule"), TAMPERED)
def test_verify_names_each_difference(app: Flask, owner: str, sql: str, rule: str) -> None:
    run = app.test_cli_runner()
    assert run.invoke(args=["ledger", "verify"]).output.endswith("laws: no differences\n")
    tamper(sql)
    result = run.invoke(args=["ledger", "verify"])
    assert result.exit_code == 1 and f"DIFFERS  {rule}" in result.output, result.output


def test_period_adds_up_from_opening_to_closing_balance(app: Flask, owner: str) -> None:
    post(HOLD, "h1", owner, {MERCHANT_BALANCE: -400, MERCHANT_HELD: 400})
    middle = datetime.now(UTC)
    post(PAYOUT, "h1", owner, {MERCHANT_HELD: -400, RAIL_CLEARING: 400})
    post(SETTLEMENT, "more", owner, {PLATFORM: -50, MERCHANT_BALANCE: 50})
    late = load_ledger_period(owner, middle, middle + timedelta(days=1))
    assert late.opening == Balances(600, 400) and late.closing == Balances(650, 0)
    moved: list[tuple[str, Any]] = [
        (movement.kind, (movement.amount_minor, movement.balance_minor)) for movement in late.movements
    ]
    assert moved == [(PAYOUT, (-400, 600)), (SETTLEMENT, (50, 650))]
    early = load_ledger_period(owner, middle - timedelta(days=1), middle)
    assert early.opening == Balances(0, 0) and early.closing == Balances(600, 400)
