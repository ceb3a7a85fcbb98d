"""`flask tickets import FILE.csv --event ID`."""

import sys
from pathlib import Path

import click
from flask import Flask
from flask.cli import AppGroup

from app.core.errors import NotFound
from app.core.ids import is_id
from app.core.spreadsheet import NotASheet, Rejected, Sheet, read_sheet
from app.events.actions.import_tickets import Imported, import_tickets
from app.events.importing.parser import Reading, read

tickets = AppGroup("tickets", help="Tickets sold elsewhere.")


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(tickets)


@tickets.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--event", "event_id", required=True, metavar="ID", help="The event's id.")
@click.option("--create-types", is_flag=True, help="Make ticket types that the event does not have.")
@click.option("--allow-oversell", is_flag=True, help="Book more than the total; the surplus counts as oversold.")
@click.option("--dry-run", is_flag=True, help="Check everything, write nothing.")
def import_command(file: Path, event_id: str, create_types: bool, allow_oversell: bool, dry_run: bool) -> None:
    """Book the tickets in FILE: own columns, pretix order positions or Eventbrite attendees.

    The same file again changes nothing. With any error nothing is written, and the exit code is 1.
    """
    try:
        reading = _read(read_sheet(file.read_bytes()))
        if reading.errors:
            raise Rejected(reading.errors)
        if not is_id(event_id):
            raise NotFound()
        result = import_tickets(
            event_id=event_id,
            tickets=reading.tickets,
            create_types=create_types,
            allow_oversell=allow_oversell,
            dry_run=dry_run,
        )
    except Rejected as rejected:
        _refuse(str(rejected))
    except NotASheet as error:
        _refuse(str(error))
    except NotFound:
        _refuse(f"There is no event {event_id}.")
    else:
        for warning in result.warnings:
            click.echo(f"Warning: {warning}", err=True)
        click.echo(_describe_import(result, reading, dry_run))


def _read(sheet: Sheet) -> Reading:
    with click.progressbar(sheet.rows, label="Reading", file=sys.stderr) as rows:
        return read(sheet, rows)


def _describe_import(imported: Imported, reading: Reading, dry_run: bool) -> str:
    said = (
        f"{reading.layout.name}: {imported.created} created, {imported.updated} updated, {imported.unchanged} unchanged, "
        f"{imported.skipped} not sold"
    )
    types = f", {imported.new_types} ticket types made" if imported.new_types else ""
    return f"{said}{types}" + ("; a dry run, nothing is written" if dry_run else "")


def _refuse(message: str) -> None:
    click.echo(message, err=True)
    sys.exit(1)
