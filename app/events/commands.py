"""The command `flask tickets import FILE.csv --event ID`."""

import hashlib
import sys
from pathlib import Path
from typing import NoReturn

import click
from flask import Flask
from flask.cli import AppGroup

from app.core.command_line import show_progress
from app.core.errors import NotFound
from app.core.ids import is_id
from app.core.spreadsheet import NotASheet, Rejected, Sheet, read_sheet
from app.core.text_normalization import clean_file_name
from app.events.actions.import_tickets import import_tickets
from app.events.ticket_files import ParsedFile, parse_sheet
from app.events.ticket_import_result import ImportResult, ImportSource
from app.events.ticket_import_sql import PATIENCE
from app.events.ticket_layouts import WORD_MEANINGS

tickets = AppGroup("tickets", help="Tickets sold elsewhere.")


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(tickets)


@tickets.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--event", "event_id", required=True, metavar="ID", help="The event's id.")
@click.option("--create-types", is_flag=True, help="Create ticket types that the event does not have.")
@click.option("--allow-oversell", is_flag=True, help="Book more than the total; the surplus counts as oversold.")
@click.option("--raise-totals", is_flag=True, help="Give a ticket type with too few places as many as are sold.")
@click.option("--mapping", "mapped_columns", multiple=True, metavar="FIELD=COLUMN", help="The column of a field.")
@click.option("--status-word", "status_words", multiple=True, metavar="WORD=MEANING", help="What a status means.")
@click.option("--dry-run", is_flag=True, help="Check everything, write nothing.")
def import_command(
    file: Path,
    event_id: str,
    create_types: bool,
    allow_oversell: bool,
    raise_totals: bool,
    mapped_columns: tuple[str, ...],
    status_words: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Book the tickets in FILE: own columns, pretix order positions or Eventbrite attendees.

    Other files need --mapping reference=… --mapping ticketType=…, and so on for each field.

    MEANING is sold, cancelled, refunded, or omitted: rows with that word are left out.

    Importing the same file again changes nothing. With any error nothing is written, and the exit code is 1.
    """
    try:
        content = file.read_bytes()
        mapping, meanings = _parse_pairs(mapped_columns, "--mapping"), _parse_pairs(status_words, "--status-word")
        if not set(meanings.values()) <= set(WORD_MEANINGS):
            raise click.BadParameter(f"meanings are {', '.join(WORD_MEANINGS)}", param_hint="--status-word")
        parsed = _parse_with_progress(read_sheet(content), mapping, meanings)
        if parsed.errors:
            raise Rejected(parsed.errors)
        if not is_id(event_id):
            raise NotFound()
        result = import_tickets(
            event_id=event_id,
            tickets=parsed.tickets,
            source=ImportSource(clean_file_name(file.name), parsed.layout.format, hashlib.sha256(content).hexdigest()),
            create_types=create_types,
            allow_oversell=allow_oversell,
            raise_totals=raise_totals,
            dry_run=dry_run,
            limit_statements=PATIENCE,
        )
    except (Rejected, NotASheet) as error:
        _exit_with_error(str(error))
    except NotFound:
        _exit_with_error(f"There is no event {event_id}.")
    for warning in result.warnings:
        click.echo(f"Warning: {warning}", err=True)
    click.echo(_describe_import(result, parsed, dry_run))


def _parse_pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    parts = [text.partition("=") for text in texts]
    if any(not equals for _, equals, _ in parts):
        raise click.BadParameter("must be two texts with = between them", param_hint=option)
    return {name.strip(): value for name, _, value in parts}


def _parse_with_progress(sheet: Sheet, mapping: dict[str, str], meanings: dict[str, str]) -> ParsedFile:
    with show_progress("Reading", sheet.rows) as rows:
        return parse_sheet(sheet, rows, mapping=mapping, status_words=meanings)


def _describe_import(result: ImportResult, parsed: ParsedFile, dry_run: bool) -> str:
    counts = (
        f"{parsed.layout.name}: {result.created} created, {result.updated} updated, {result.unchanged} unchanged, "
        f"{result.skipped} not sold"
    )
    types = f", {result.new_types} ticket types made" if result.new_types else ""
    return f"{counts}{types}" + ("; a dry run, nothing is written" if dry_run else "")


def _exit_with_error(message: str) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(1)
