"""`flask payouts report|review|ask|resolve|seen`."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from flask import Flask
from flask.cli import AppGroup, with_appcontext

from app.core.money import spoken
from app.payouts import farewell, months, operating, statement
from app.payouts.errors import NotResolvable
from app.payouts.statement import Month

__all__ = ["farewell"]
payouts = AppGroup("payouts", help="Merchants' payouts: statements, and what needs a person.")


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(payouts)


def _told(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, whose refusals are sentences and exit code 1."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except NotResolvable as error:
            click.echo(str(error), err=True)
            sys.exit(1)

    return run


@payouts.command("report")
@click.option("--merchant", required=True, metavar="ID|EMAIL")
@click.option("--month", required=True, metavar="YYYY-MM")
@click.option("--pdf", type=click.Path(dir_okay=False, path_type=Path), help="Write the statement there as well.")
@with_appcontext
@_told
def report(merchant: str, month: str, pdf: Path | None) -> None:
    """Show what a merchant earned, was paid and has left in a month."""
    found = _month(merchant, month)
    click.echo(f"{found.names[0]}, {found.title}")
    for label, amount in [*statement.summary(found), ("Balance at the end", spoken(found.found.closing.balance_minor))]:
        click.echo(f"  {label:<36}{amount:>18}")
    for moment, what, reference, amount, balance in statement.lines(found):
        click.echo(f"  {moment:<14} {what[:34]:<34} {reference[:26]:<26} {amount:>16} {balance:>16}")
    if pdf:
        pdf.write_bytes(statement.statement_pdf(found))
        click.echo(f"written to {pdf}")


@payouts.command("review")
@with_appcontext
def review() -> None:
    """List what needs a person, the oldest first."""
    found = operating.open_reviews()
    for item in found:
        about = _about(item.payout) if item.payout else "no payout of ours"
        click.echo(f"{item.review.created_at:%Y-%m-%d %H:%M}  {item.review.kind:<18} {item.review.reference}  {about}")
        click.echo(f"    {', '.join(f'{name} {value}' for name, value in item.review.detail.items())}")
    click.echo(f"{len(found)} open")


@payouts.command("ask")
@click.argument("payout_id")
@with_appcontext
@_told
def ask(payout_id: str) -> None:
    """Ask the rail about a payout now, and write down what it says."""
    outcome, state = operating.ask_now(payout_id)
    click.echo(f"the rail says {outcome}; the payout is {state}")


@payouts.command("resolve")
@click.argument("payout_id")
@click.argument("outcome", type=click.Choice(list(operating.OUTCOMES)))
@click.option("--note", required=True, help="Who found out, and how.")
@with_appcontext
@_told
def resolve(payout_id: str, outcome: str, note: str) -> None:
    """End a payout that needs review, as somebody has found out at the rail or the bank."""
    click.echo(f"the payout is {operating.resolve(payout_id, outcome, note)}")


@payouts.command("seen")
@click.argument("reference")
@click.option("--note", required=True, help="What was found.")
@with_appcontext
def seen(reference: str, note: str) -> None:
    """Close the reviews of a reference without changing anything."""
    click.echo(f"{operating.close(reference, note)} closed")


def _about(payout: Any) -> str:
    return f"{payout.status}, {spoken(payout.amount_minor)} to {payout.shown_as}"


def _month(merchant: str, month: str) -> Month:
    try:
        first = months.read(month)
    except ValueError as error:
        raise click.UsageError("--month must be like 2026-11") from error
    account_id = operating.merchant_id(merchant)
    found = statement.month_of(account_id, first) if account_id else None
    if found is None:
        raise NotResolvable(f"There is no merchant {merchant}.")
    return found
