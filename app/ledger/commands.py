"""`flask ledger settle FILE.csv` and `flask ledger verify`."""

import sys
from pathlib import Path

import click
from flask import Flask
from flask.cli import AppGroup

from app.core.money import spoken
from app.core.spreadsheet import NotASheet, Rejected, read_sheet
from app.ledger.settling.booking import Settled, settle
from app.ledger.settling.reading import Reading, read
from app.ledger.verifying import counted, verified

ledger = AppGroup("ledger", help="The books: what merchants have earned and been paid.")


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(ledger)


@ledger.command("settle")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check everything, write nothing.")
def settle_command(file: Path, dry_run: bool) -> None:
    """Credit merchants with the earnings in FILE: reference, merchant (id or e-mail), amountMinor, occurredAt,
    description.

    The same file again changes nothing. With any error nothing is written, and the exit code is 1.
    """
    try:
        reading = _read(file)
        if reading.errors:
            raise Rejected(reading.errors)
        with click.progressbar(length=len(reading.credits), label="Booking", file=sys.stderr) as bar:
            found = settle(reading.credits, dry_run=dry_run, seen=bar.update)
    except (Rejected, NotASheet) as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    click.echo(_told(found, dry_run))


@ledger.command("verify")
def verify_command() -> None:
    """Work out everything again from the entries; exit code 1 on any difference, and each is named."""
    laws: list[str] = []
    differences = 0
    for difference in verified(laws.append):
        differences += 1
        click.echo(f"DIFFERS  {laws[-1]}: {difference}")
    click.echo(f"{counted()} entries, {len(laws)} laws: {differences or 'no'} differences")
    sys.exit(1 if differences else 0)


def _read(file: Path) -> Reading:
    sheet = read_sheet(file.read_bytes())
    with click.progressbar(sheet.rows, label="Reading", file=sys.stderr) as rows:
        return read(sheet, rows)


def _told(found: Settled, dry_run: bool) -> str:
    said = f"{found.booked} booked, {spoken(found.amount_minor)} in all; {found.known} were known"
    return said + ("; a dry run, nothing is written" if dry_run else "")
