"""Migrations of the schema, by Flask-Migrate and Alembic.

A migration with `contracts = True` removes what the previous version uses. If such migrations are the last ones, an
upgrade (`flask db expand`) leaves them to the next upgrade; `flask db upgrade` runs them.
"""

from functools import cache
from pathlib import Path

import click
import flask_migrate
from alembic.script import ScriptDirectory
from flask import Flask
from flask.cli import with_appcontext
from flask_migrate.cli import db as commands
from sqlalchemy import inspect, text

from app.core.command_line import explain_database_errors
from app.core.db import db

FOLDER = Path(__file__).resolve().parents[2] / "migrations"


def init_app(app: Flask) -> None:
    """Add `flask db` to the application."""
    flask_migrate.Migrate(app, db, directory=str(FOLDER), compare_type=True)
    commands.add_command(expand_command)
    explain_database_errors(commands)


@click.command("expand")
@with_appcontext
def expand_command() -> None:
    """Migrate the schema as far as the previous version works with it."""
    flask_migrate.upgrade(revision=expanded() if _is_migrated() else "head")


@cache
def _load_scripts() -> ScriptDirectory:
    return ScriptDirectory(str(FOLDER))


@cache
def head() -> str:
    """Return the newest migration of this code."""
    return _load_scripts().get_current_head() or ""


@cache
def _sufficient_revisions() -> list[str]:
    """The migrations that this version works with: the newest, and those before it that only a contraction separates."""
    revisions = [_load_scripts().get_revision(head())]
    while getattr(revisions[-1].module, "contracts", False):
        revisions.append(_load_scripts().get_revision(str(revisions[-1].down_revision)))
    return [script.revision for script in revisions]


def expanded() -> str:
    """Return the newest migration that the previous version works with."""
    return _sufficient_revisions()[-1]


def is_sufficient(revision: str) -> bool:
    """Whether this version works with a schema at this revision."""
    return revision in _sufficient_revisions()


def list_revisions() -> set[str]:
    """Return every migration of this code."""
    return {script.revision for script in _load_scripts().walk_revisions()}


def is_pending() -> bool:
    """Whether the schema is not at `head`."""
    if not _is_migrated():
        return True
    with db.engine.connect() as connection:
        return bool(connection.scalar(text("SELECT version_num FROM alembic_version")) != head())


def _is_migrated() -> bool:
    """Whether the database has any schema."""
    with db.engine.connect() as connection:
        return inspect(connection).has_table("alembic_version")


def upgrade() -> None:
    """Migrate the schema to this version."""
    flask_migrate.upgrade()
