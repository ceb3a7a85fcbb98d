"""Migrations of the schema, by Flask-Migrate and Alembic."""

from functools import cache
from pathlib import Path

import flask_migrate
from alembic.script import ScriptDirectory
from flask import Flask
from flask_migrate.cli import db as commands
from sqlalchemy import inspect, text

from app.core.commands import explain_database_errors
from app.core.db import db

FOLDER = Path(__file__).resolve().parents[2] / "migrations"


def init_app(app: Flask) -> None:
    """Add `flask db` to the application."""
    flask_migrate.Migrate(app, db, directory=str(FOLDER), compare_type=True)
    explain_database_errors(commands)


@cache
def _load_scripts() -> ScriptDirectory:
    return ScriptDirectory(str(FOLDER))


@cache
def head() -> str:
    """Return the newest migration of this code."""
    return _load_scripts().get_current_head() or ""


def list_revisions() -> set[str]:
    """Return every migration of this code."""
    return {script.revision for script in _load_scripts().walk_revisions()}


def is_pending() -> bool:
    """Whether the schema is not at `head`."""
    with db.engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return True
        return bool(connection.scalar(text("SELECT version_num FROM alembic_version")) != head())


def upgrade() -> None:
    """Migrate the schema to this version."""
    flask_migrate.upgrade()
