"""`flask inventory verify`."""

import sys

import click
from flask import Flask
from flask.cli import AppGroup

from app.inventory.verifying import differences

inventory = AppGroup("inventory", help="The stock of events.")


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(inventory)


@inventory.command("verify")
@click.option("--event", "event_id", metavar="ID", help="One event; all of them when left out.")
def verify_command(event_id: str | None) -> None:
    """Recompute every quantity from its movements. The exit code is 1 when anything differs."""
    found = list(differences(event_id))
    for item in found:
        click.echo(f"event {item.event_id}, item {item.sku}, {item.what}: {item.stands}, the book says {item.booked}")
    if found:
        click.echo(f"{len(found)} differences", err=True)
        sys.exit(1)
    click.echo("every quantity is the sum of its movements")
