"""What all commands share: progress of long work, and database errors as a sentence instead of a traceback."""

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakSet

import click
import psycopg
from sqlalchemy.exc import OperationalError

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

P = ParamSpec("P")
Result = TypeVar("Result")
Item = TypeVar("Item")
# Commands belong to modules, and a process may create several applications.
_wrapped_commands: WeakSet[click.Command] = WeakSet()


def show_progress(label: str, items: Iterable[Item]) -> "ProgressBar[Item]":
    """Return click's progress bar over `items`: on stderr, and only if that is a terminal."""
    return click.progressbar(items, label=label, hidden=not sys.stderr.isatty(), file=sys.stderr)


def explain_database_errors(command: click.Command) -> None:
    """Make a command and its subcommands show database errors as a sentence. A second call changes nothing."""
    for subcommand in command.commands.values() if isinstance(command, click.Group) else ():
        explain_database_errors(subcommand)
    if command.callback is not None and command not in _wrapped_commands:
        _wrapped_commands.add(command)
        command.callback = _wrap_command(command.callback)


def _wrap_command(callback: Callable[P, Result]) -> Callable[P, Result]:
    @wraps(callback)
    def wrapper(*arguments: P.args, **options: P.kwargs) -> Result:
        try:
            return callback(*arguments, **options)
        except OperationalError as error:
            raise click.ClickException(_format_error(error.orig)) from error
        except psycopg.OperationalError as error:
            raise click.ClickException(_format_error(error)) from error

    return wrapper


def _format_error(cause: BaseException | None) -> str:
    lines = str(cause).strip().splitlines()
    reason = lines[0] if lines else type(cause).__name__
    return f"The database failed: {reason}. `flask doctor` checks DATABASE_URL and the server."
