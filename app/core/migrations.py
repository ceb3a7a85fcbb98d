"""Flask-Migrate, for the commands that migrate: it brings Alembic, which is 10 MB that no worker needs."""

from pathlib import Path
from typing import Any

import click
from flask import Flask

from app.core.db import db

FOLDER = Path(__file__).resolve().parents[2] / "migrations"


class Migrations:
    """Stands where Flask-Migrate looks for itself, and fetches it on the first question."""

    def __init__(self, app: Flask) -> None:
        self.app = app

    def __getattr__(self, name: str) -> Any:
        from flask_migrate import Migrate

        Migrate(self.app, db, compare_type=True)
        return getattr(self.app.extensions["migrate"], name)


class Commands(click.Group):
    """`flask db …`, likewise fetched on the first question."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return _group().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _group().get_command(ctx, cmd_name)


def upgrade() -> None:
    """Brings the schema to this version."""
    from flask_migrate import upgrade

    upgrade(directory=str(FOLDER))


def init_app(app: Flask) -> None:
    """Lets the application's commands migrate."""
    app.cli.add_command(Commands("db", help="The schema and its migrations."))
    app.extensions["migrate"] = Migrations(app)


def _group() -> click.Group:
    from flask_migrate.cli import db as group

    found: click.Group = group
    return found
