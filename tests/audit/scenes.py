"""The scenes of the audit trail: each does something that people do, and names the acts that must be recorded."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import text

from app.audit.actions import Action
from app.core.db import db
from tests.http import Client

Play = Callable[[Client], object]
SCENES: dict[str, tuple[Play, tuple[Action, ...]]] = {}


def records(*actions: Action) -> Callable[[Play], Play]:
    """Adds a scene in which these acts happen."""

    def add(play: Play) -> Play:
        SCENES[play.__name__] = play, actions
        return play

    return add


def list_entries(action: Action | None = None) -> list[dict[str, Any]]:
    """The entries in the order in which they were written, of one action or of all."""
    query = text("SELECT * FROM audit_entry WHERE action = coalesce(:action, action) ORDER BY at, ctid")
    with db.engine.connect() as connection:
        rows = connection.execute(query, {"action": action.value if action else None})
        return [dict(row) for row in rows.mappings()]


def get_entry(action: Action) -> dict[str, Any]:
    """The only entry of an action."""
    (entry,) = list_entries(action)
    return entry
