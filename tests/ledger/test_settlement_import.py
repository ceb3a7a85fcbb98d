"""`flask ledger settle` is atomic and idempotent by reference, and reports errors by row and column."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from flask import Flask

from app.accounts.models import Account
from app.ledger.settlement_import import Credit, import_settlement
from tests.factories.accounts import create_customer
from tests.factories.merchants import create_merchant_account
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.races import run_concurrently

HEADER = "reference,merchant,amountMinor,occurredAt,description\n"
Run = Callable[..., Result]


@pytest.fixture
def run(app: Flask, tmp_path: Path) -> Run:
    def settle(content: str, *options: str) -> Result:
        path = tmp_path / "earnings.csv"
        path.write_text(content)
        return app.test_cli_runner().invoke(args=["ledger", "settle", str(path), *options])

    return settle


@pytest.fixture
def merchant(app: Flask) -> Account:
    return create_merchant_account(email="tuli@kapana-corner.example")


def balance(merchant: Account) -> int:
    return int(
        fetch_scalar("SELECT coalesce(max(available_minor), 0) FROM ledger_purse WHERE owner_id = :id", id=merchant.id)
    )


def test_earnings_are_credited_by_id_and_by_email(run: Run, merchant: Account) -> None:
    content = f"{HEADER}A1,{merchant.id},1500,2026-11-01T10:00:00Z,Friday\nA2,Tuli@Kapana-Corner.example,500,,\n"
    first = run(content)
    assert first.exit_code == 0 and "2 booked, N$\u00a020.00 in all; 0 were known" in first.output
    assert balance(merchant) == 2000
    assert "0 booked, N$\u00a00.00 in all; 2 were known" in run(content).output
    assert "1 booked" in run(f"{content}A3,{merchant.id},1,,\n").output
    assert balance(merchant) == 2001
    assert fetch_scalar("SELECT occurred_at::text FROM ledger_transaction WHERE reference = 'A1'").startswith(
        "2026-11-01 10"
    )
    assert_ledger_integrity()


def test_dry_run_writes_nothing(run: Run, merchant: Account) -> None:
    assert "a dry run" in run(f"{HEADER}A1,{merchant.id},1500,,\n", "--dry-run").output
    assert balance(merchant) == 0


def test_other_headers_delimiters_and_column_orders_are_accepted(run: Run, merchant: Account) -> None:
    assert run(f"Amount Minor;MERCHANT;Reference\n250;{merchant.id};X-1\n").exit_code == 0
    assert balance(merchant) == 250


BAD = [
    ("A1,{id},0,,", "row 2, amountMinor: Must be at least 1. ('0')"),
    ("A1,{id},1.5,,", "row 2, amountMinor: Must be a whole number of cents. ('1.5')"),
    ("A1,{id},-5,,", "row 2, amountMinor"),
    ("A1,{id},1e9,,", "row 2, amountMinor"),
    (",{id},5,,", "row 2, reference: Must not be empty."),
    ("A1,,5,,", "row 2, merchant: Must not be empty."),
    ("A1,nobody@example.com,5,,", "row 2, merchant: There is no such merchant. ('nobody@example.com')"),
    ("A1,fan@example.com,5,,", "row 2, merchant: There is no such merchant."),
    ("A1,merchant?,5,,", "row 2, merchant: Must be an e-mail address."),
    ("A1,{id},5,soon,", "row 2, occurredAt"),
    ("A1,{id},5,2999-01-01,", "row 2, occurredAt"),
    ("A1,{id},5,,,,x", "row 2, : The row has more cells"),
    ("A1,{id},5,,\nA1,{id},5,,", "row 3, reference: Row 2 has the same reference."),
]


@pytest.mark.parametrize(("rows", "message"), BAD)
def test_one_bad_row_refuses_the_whole_file(run: Run, merchant: Account, rows: str, message: str) -> None:
    create_customer(email="fan@example.com")
    result = run(f"{HEADER}{rows.format(id=merchant.id)}\nGOOD,{merchant.id},700,,\n")
    assert result.exit_code == 1 and message in result.output and "nothing was written" in result.output
    assert fetch_scalar("SELECT count(*) FROM ledger_transaction") == 0


def test_known_reference_with_another_amount_or_merchant_is_an_error(run: Run, merchant: Account) -> None:
    other = create_merchant_account()
    run(f"{HEADER}A1,{merchant.id},1500,,\n")
    for row in (f"A1,{merchant.id},1501,,", f"A1,{other.id},1500,,"):
        result = run(f"{HEADER}{row}\n")
        assert result.exit_code == 1 and f"Booked already, as 1500 cents for merchant {merchant.id}" in result.output
    assert balance(merchant) == 1500


def test_unreadable_file_is_refused(run: Run, merchant: Account) -> None:
    assert "no column reference, amountMinor" in run("merchant,betrag\nx,1\n").output
    assert "The file is empty." in run("").output


def test_sixteen_concurrent_imports_of_a_file_post_it_once(app: Flask, merchant: Account) -> None:
    credits = [Credit(n + 2, f"R{n}", merchant.id, 10, None, None) for n in range(50)]

    def import_file(_: int) -> int:
        with app.app_context():
            return import_settlement(credits).booked_count

    assert sorted(run_concurrently(16, import_file)) == [0] * 15 + [50]
    assert balance(merchant) == 500
    assert_ledger_integrity()


def test_running_balances_hold_over_many_rows_and_merchants(app: Flask) -> None:
    owners = [create_merchant_account().id for _ in range(5)]
    credits = [Credit(n + 2, f"R{n}", owners[n % 5], n + 1, None, None) for n in range(12_000)]
    assert import_settlement(credits).amount_minor == sum(range(1, 12_001))
    assert_ledger_integrity()
