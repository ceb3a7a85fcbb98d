"""`flask inventory verify`: each quantity is the sum of its movements, and after a count it is the counted quantity."""

import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import click
from flask import Flask
from flask.cli import AppGroup

from app.core.command_line import show_progress
from app.core.db import fetch_rows
from app.core.formatting import format_count
from app.inventory.sql import COUNTS_SQL, MOVEMENT_SUMS_SQL

inventory_group = AppGroup("inventory", help="The stock of events.")


def register(app: Flask) -> None:
    """Add the commands to the `flask` command line."""
    app.cli.add_command(inventory_group)


@inventory_group.command("verify")
@click.option("--event", "event_id", metavar="ID", help="One event; all of them when left out.")
def verify_command(event_id: str | None) -> None:
    """Recompute every quantity from its movements. The exit code is 1 when anything differs."""
    mismatches = list(list_differences(event_id))
    for mismatch in mismatches:
        click.echo(
            f"event {mismatch.event_id}, item {mismatch.sku}, {mismatch.quantity_name}: {mismatch.stored_quantity}, the movements add up to {mismatch.movement_total}"
        )
    if mismatches:
        click.echo(format_count(len(mismatches), "difference"), err=True)
        sys.exit(1)
    click.echo("every quantity is the sum of its movements")


MAX_DIFFERENCES = 1000


class Difference(NamedTuple):
    """A quantity that differs from the total of its movements."""

    event_id: str
    item_id: str
    sku: str
    quantity_name: str
    stored_quantity: Decimal
    movement_total: Decimal


def list_differences(event_id: str | None = None) -> Iterator[Difference]:
    """Yield the differences of one event or of all events, at most a thousand of each kind."""
    with show_progress("Checking", (MOVEMENT_SUMS_SQL, COUNTS_SQL)) as queries:
        for query in queries:
            for row in fetch_rows(query, {"event": event_id, "most": MAX_DIFFERENCES}):
                yield Difference(*row)
