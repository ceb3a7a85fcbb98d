"""Flask-Migrate, for the commands that migrate: it brings Alembic, which is 10 MB that no worker needs."""

from pathlib import Path
from typing import Any

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


def upgrade() -> None:
    """Brings the schema to this version."""
    from flask_migrate import upgrade

    upgrade(directory=str(FOLDER))


def init_app(app: Flask) -> None:
    app.extensions["migrate"] = Migrations(app)
