"""Flask-Migrate, for the commands that migrate: it brings Alembic, which is 10 MB that no worker needs."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import click
from flask import Flask
from sqlalchemy import inspect, text

from app.core.command_errors import explain_database_errors
from app.core.db import db

FOLDER = Path(__file__).resolve().parents[2] / "migrations"
REVISION = re.compile(r"^(?:down_)?revision = ['\"]([^'\"]+)", re.MULTILINE)


class Migrations:
    """Stands where Flask-Migrate looks for itself, and fetches it on the first question."""

    def __init__(self, app: Flask) -> None:
        self.app = app

    def __getattr__(self, name: str) -> Any:
        from flask_migrate import Migrate

        Migrate(self.app, db, compare_type=True)
        return getattr(self.app.extensions["migrate"], name)


class Commands(click.Command):
    """`flask db …` fetched when it is called."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        return _group().make_context(*args, **kwargs)


@cache
def _group() -> click.Group:
    from flask_migrate.cli import db as group

    explain_database_errors(group)
    return group  # type: ignore[no-any-return]


@cache
def head() -> str:
    """The migration that this code expects; read from the files, because Alembic is 10 MB in every worker."""
    revisions = _read_revisions()
    return ",".join(sorted({pair[0] for pair in revisions} - {name for pair in revisions for name in pair[1:]}))


def list_revisions() -> set[str]:
    """Every migration that this code has."""
    return {pair[0] for pair in _read_revisions()}


def _read_revisions() -> list[list[str]]:
    """Each migration with the one before it."""
    return [REVISION.findall(path.read_text()) for path in (FOLDER / "versions").glob("*.py")]


def is_pending() -> bool:
    """Whether the schema is not at `head`; asked without Alembic, for a start that has nothing to migrate."""
    with db.engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return True
        return bool(connection.scalar(text("SELECT version_num FROM alembic_version")) != head())


def upgrade() -> None:
    """Brings the schema to this version."""
    from flask_migrate import upgrade

    upgrade(directory=str(FOLDER))


def init_app(app: Flask) -> None:
    """Lets the application's commands migrate."""
    app.cli.add_command(Commands("db", short_help="The schema and its migrations."))
    app.extensions["migrate"] = Migrations(app)
