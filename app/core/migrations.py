"""Migrations by Flask-Migrate, imported only by the commands that need it: Alembic costs each process 10 MB."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import click
from flask import Flask
from sqlalchemy import inspect, text

from app.core.commands import explain_database_errors
from app.core.db import db

FOLDER = Path(__file__).resolve().parents[2] / "migrations"
REVISION = re.compile(r"^(?:down_)?revision = ['\"]([^'\"]+)", re.MULTILINE)


class Migrations:
    """A placeholder for Flask-Migrate's extension, which imports it on the first access."""

    def __init__(self, app: Flask) -> None:
        self.app = app

    def __getattr__(self, name: str) -> Any:
        from flask_migrate import Migrate

        Migrate(self.app, db, compare_type=True)
        return getattr(self.app.extensions["migrate"], name)


class Commands(click.Command):
    """`flask db …`, imported when it is called."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        return _load_commands().make_context(*args, **kwargs)


@cache
def _load_commands() -> click.Group:
    from flask_migrate.cli import db as group

    explain_database_errors(group)
    return group  # type: ignore[no-any-return]


@cache
def head() -> str:
    """Return the newest migration of this code, read from the files without Alembic."""
    revisions = _read_revisions()
    parents = {parent for _, *parents in revisions for parent in parents}
    return ",".join(sorted({revision for revision, *_ in revisions} - parents))


def list_revisions() -> set[str]:
    """Return every migration of this code."""
    return {revision for revision, *_ in _read_revisions()}


def _read_revisions() -> list[list[str]]:
    """Return each migration followed by its parents."""
    return [REVISION.findall(path.read_text()) for path in (FOLDER / "versions").glob("*.py")]


def is_pending() -> bool:
    """Whether the schema is not at `head`; it needs no Alembic."""
    with db.engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return True
        return bool(connection.scalar(text("SELECT version_num FROM alembic_version")) != head())


def upgrade() -> None:
    """Migrate the schema to this version."""
    from flask_migrate import upgrade

    upgrade(directory=str(FOLDER))


def init_app(app: Flask) -> None:
    """Add `flask db` to the application."""
    app.cli.add_command(Commands("db", short_help="The schema and its migrations."))
    app.extensions["migrate"] = Migrations(app)
