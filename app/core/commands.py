"""`flask relay`, `flask worker` and `flask outbox list|retry`; database errors of all commands become a sentence."""

import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakSet

import click
import psycopg
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext
from sqlalchemy.exc import OperationalError

from app.core import relay
from app.core.outbox import queries
from app.core.outbox.failure_hooks import FAILED_STATES
from app.core.outbox.models import STATES
from app.core.outbox.retries import retry

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

outbox = AppGroup("outbox", help="List jobs, retry failed jobs.")


def register(app: Flask) -> None:
    """Add the commands to this application's `flask`."""
    for command in (relay_command, worker_command, outbox):
        app.cli.add_command(command)


@click.command("relay")
@with_appcontext
def relay_command() -> None:
    """Wake workers for due jobs, recover lost jobs, start recurring jobs."""
    relay.serve(current_app._get_current_object())  # type: ignore[attr-defined]


@click.command("worker")
def worker_command() -> None:
    """Run one worker."""
    os.execv(sys.executable, [sys.executable, "-m", "app.worker"])


@outbox.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only rows in this state.")
@click.option("--kind", help="Only rows of this kind.")
@click.option("--limit", default=50, show_default=True)
def list_rows(state: str | None, kind: str | None, limit: int) -> None:
    """List rows, newest first, and count the rows in each state."""
    for row in queries.list_rows(state=state, kind=kind, limit=limit):
        click.echo(
            f"{row.id:>8}  {row.state:<9}  {row.kind:<32}  try {row.attempts - row.postponed}"
            f"/{row.max_attempts}  {row.run_at:%Y-%m-%d %H:%M:%S}  {row.last_error or ''}"
        )
    counts = queries.count_by_state()
    click.echo(", ".join(f"{counts[state]} {state}" for state in STATES if state in counts) or "no rows")


@outbox.command("retry")
@click.argument("ids", nargs=-1, type=int)
@click.option("--kind", help="All rows of this kind.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(FAILED_STATES),
    help="Only rows in this state; both when not given.",
)
def retry_rows(ids: tuple[int, ...], kind: str | None, states: tuple[str, ...]) -> None:
    """Run dead or uncertain rows again. An uncertain message may have arrived; then it arrives twice."""
    if not ids and not kind:
        raise click.UsageError("name row ids or --kind")
    count = retry(ids, kind=kind, states=states or FAILED_STATES)
    click.echo(f"{count} rows are ready again")


P = ParamSpec("P")
Result = TypeVar("Result")
Item = TypeVar("Item")


def show_progress(label: str, items: Iterable[Item]) -> "ProgressBar[Item]":
    """Return click's progress bar over `items`: on stderr, and only if that is a terminal."""
    return click.progressbar(items, label=label, hidden=not sys.stderr.isatty(), file=sys.stderr)


# Commands belong to modules, and a process may create several applications.
_wrapped_commands: WeakSet[click.Command] = WeakSet()


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
