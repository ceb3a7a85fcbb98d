"""`flask ledger settle FILE.csv` and `flask ledger verify`."""

import sys
from pathlib import Path

import click
from flask import Flask
from flask.cli import AppGroup

from app.core.formatting import format_money
from app.core.spreadsheet import NotASheet, Rejected, read_sheet
from app.ledger.integrity_check import count_entries, list_differences
from app.ledger.settlement.importer import SettlementResult, import_settlement
from app.ledger.settlement.parser import ParsedSettlement, parse_settlement

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
        with click.progressbar(length=len(settlement.credits), label="Booking", file=sys.stderr) as progress_bar:
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
    for difference in list_differences(rules.append):
        differences += 1
        click.echo(f"DIFFERS  {rules[-1]}: {difference}")
    click.echo(f"{count_entries()} entries, {len(rules)} laws: {differences or 'no'} differences")
    sys.exit(1 if differences else 0)


def _parse_file(file: Path) -> ParsedSettlement:
    sheet = read_sheet(file.read_bytes())
    with click.progressbar(sheet.rows, label="Reading", file=sys.stderr) as rows:
        return parse_settlement(sheet, rows)


def _format_result(result: SettlementResult, dry_run: bool) -> str:
    summary = (
        f"{result.booked_count} booked, {format_money(result.amount_minor)} in all; {result.known_count} were known"
    )
    return summary + ("; a dry run, nothing is written" if dry_run else "")
