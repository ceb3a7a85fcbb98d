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


class Commands(click.Command):
    """`flask db …`, likewise fetched when it is called."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        from flask_migrate.cli import db as group

        context: click.Context = group.make_context(*args, **kwargs)
        return context


def upgrade() -> None:
    """Brings the schema to this version."""
    from flask_migrate import upgrade

    upgrade(directory=str(FOLDER))


def init_app(app: Flask) -> None:
    """Lets the application's commands migrate."""
    app.cli.add_command(Commands("db", short_help="The schema and its migrations."))
    app.extensions["migrate"] = Migrations(app)
