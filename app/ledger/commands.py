"""`flask ledger settle FILE.csv`, and `flask ledger verify` with its integrity checks.

A check computes again what follows from the entries. It is one statement, so it reads one snapshot of the database and may
run while money moves. Domains above the ledger add checks with `register_check`.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from flask import Flask
from flask.cli import AppGroup
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session as OrmSession

from app.core.command_line import show_progress
from app.core.db import db
from app.core.formatting import format_count, format_money
from app.core.spreadsheet import NotASheet, Rejected, read_sheet
from app.core.transaction import transaction
from app.ledger import sql
from app.ledger.models import LedgerEntry
from app.ledger.settlement_import import ParsedSettlement, SettlementResult, import_settlement, parse_settlement

ledger_group = AppGroup("ledger", help="The ledger: what merchants earned and were paid.")


def register(app: Flask) -> None:
    """Add the commands to the application's `flask`."""
    app.cli.add_command(ledger_group)


@ledger_group.command("settle")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check everything, write nothing.")
def settle_command(file: Path, dry_run: bool) -> None:
    """Credit merchants with the earnings in FILE: reference, merchant (id or email), amountMinor, occurredAt,
    description.

    Importing the same file again changes nothing. With an error nothing is written, and the exit code is 1.
    """
    try:
        settlement = _parse_file(file)
        if settlement.errors:
            raise Rejected(settlement.errors)
        with show_progress("Booking", settlement.credits) as progress_bar:
            result = import_settlement(settlement.credits, dry_run=dry_run, on_progress=progress_bar.update)
    except (Rejected, NotASheet) as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    click.echo(_format_result(result, dry_run))


@ledger_group.command("verify")
def verify_command() -> None:
    """Compute everything again from the entries and print each difference; exit code 1 if there is one."""
    rules: list[str] = []
    differences = 0
    with show_progress("Checking", _checks) as progress_bar:

        def note(rule: str) -> None:
            rules.append(rule)
            progress_bar.update(1)

        for difference in list_differences(note):
            differences += 1
            click.echo(f"DIFFERS  {rules[-1]}: {difference}")
    counts = f"{format_count(count_entries(), 'entry')}, {format_count(len(rules), 'law')}"
    click.echo(f"{counts}: {format_count(differences, 'difference') if differences else 'no differences'}")
    sys.exit(1 if differences else 0)


def _parse_file(file: Path) -> ParsedSettlement:
    sheet = read_sheet(file.read_bytes())
    with show_progress("Reading", sheet.rows) as rows:
        return parse_settlement(sheet, rows)


def _format_result(result: SettlementResult, dry_run: bool) -> str:
    summary = (
        f"{result.booked_count} booked, {format_money(result.amount_minor)} in all; {result.known_count} were known"
    )
    return summary + ("; a dry run, nothing is written" if dry_run else "")


MAX_DIFFERENCES = 100


@dataclass(frozen=True)
class IntegrityCheck:
    """A rule, and the query that returns a sentence for each case that breaks it."""

    rule: str
    differences_sql: str


_checks: list[IntegrityCheck] = []


def register_check(rule: str, differences_sql: str) -> None:
    """Add a check. Its query returns one column: a sentence for each difference."""
    _checks.append(IntegrityCheck(rule, differences_sql))


def list_checks() -> tuple[IntegrityCheck, ...]:
    """Every check, those of other domains included."""
    return tuple(_checks)


def list_differences(on_check: Callable[[str], None] = lambda rule: None) -> Iterator[str]:
    """A sentence for each difference, at most 100 per rule. `on_check` gets each rule before it is checked."""
    for check in _checks:
        on_check(check.rule)
        with transaction() as session:
            yield from _run_check(session, check)


def _run_check(session: OrmSession, check: IntegrityCheck) -> Sequence[str]:
    for setting in sql.CHECK_TIMEOUTS:
        session.execute(text(setting))
    return list(session.scalars(text(f"SELECT * FROM ({check.differences_sql}) difference LIMIT {MAX_DIFFERENCES}")))


def count_entries() -> int:
    """The number of ledger entries."""
    return db.session.scalar(select(func.count()).select_from(LedgerEntry)) or 0


register_check("every transaction sums to zero", sql.UNBALANCED_TRANSACTIONS)
register_check("all entries sum to zero", sql.UNBALANCED_LEDGER)
register_check(
    "every transaction has its entries, of its merchant and its amount", sql.TRANSACTIONS_UNLIKE_THEIR_ENTRIES
)
register_check("every balance is the sum of its entries", sql.BALANCES_UNLIKE_THEIR_ENTRIES)
register_check("every running balance is the sum of the entries up to it", sql.WRONG_RUNNING_BALANCES)
