"""`flask ops link`."""

import click
from flask import Flask
from flask.cli import AppGroup, with_appcontext

from app.web.overview.links import LIVES, link

ops = AppGroup("ops", help="The operations page.")


def register(app: Flask) -> None:
    """Adds the command to the `flask` of this application."""
    app.cli.add_command(ops)


@ops.command("link")
@with_appcontext
def link_command() -> None:
    """Print a link to the operations page. Whoever has it may look for ten minutes, and change nothing."""
    click.echo(f"For {LIVES // 60} minutes, for whoever has it:", err=True)
    click.echo(link())
