"""Errors of commands that their user can do something about: a sentence instead of a traceback."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import WeakSet

import click
import psycopg
from sqlalchemy.exc import OperationalError

# Commands belong to modules, and a process may make several applications.
_done: WeakSet[click.Command] = WeakSet()


def explain_database_errors(command: click.Command) -> None:
    """Has a command, and those below it, say in a sentence why the database failed. Twice is once."""
    for item in command.commands.values() if isinstance(command, click.Group) else ():
        explain_database_errors(item)
    if command.callback is not None and command not in _done:
        _done.add(command)
        command.callback = _wrap_command(command.callback)


def _wrap_command(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    def called(*arguments: Any, **options: Any) -> Any:
        try:
            return callback(*arguments, **options)
        except OperationalError as error:
            raise click.ClickException(_sentence(error.orig)) from error
        except psycopg.OperationalError as error:
            raise click.ClickException(_sentence(error)) from error

    return called


def _sentence(cause: BaseException | None) -> str:
    lines = str(cause).strip().splitlines()
    said = lines[0] if lines else type(cause).__name__
    return f"The database failed: {said}. `flask doctor` checks DATABASE_URL and what is behind it."
