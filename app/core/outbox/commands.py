"""`flask relay`, `flask worker` and `flask outbox list|retry`."""

import os
import sys

import click
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext

from app.core import relay
from app.core.formatting import format_count
from app.core.outbox import queries
from app.core.outbox.failure_hooks import FAILED_STATES
from app.core.outbox.models import STATES
from app.core.outbox.retries import retry

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
    click.echo(f"{format_count(count, 'row')} ready again")
