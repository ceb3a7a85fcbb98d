"""`flask inventory verify`."""

import sys

import click
from flask import Flask
from flask.cli import AppGroup

from app.inventory.integrity_check import list_differences

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
        click.echo(f"{len(mismatches)} differences", err=True)
        sys.exit(1)
    click.echo("every quantity is the sum of its movements")
