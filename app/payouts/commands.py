"""`flask payouts report|review|ask|resolve|seen`."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import click
from flask import Flask
from flask.cli import AppGroup, with_appcontext

from app.core.formatting import format_money
from app.payouts import actions, reviews, statement
from app.payouts.errors import NotResolvable
from app.payouts.models import Payout
from app.payouts.statement import MonthlyStatement

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
payouts_group = AppGroup("payouts", help="Payouts of merchants: statements, and reviews by a person.")


def register(app: Flask) -> None:
    """Add the commands to the application's `flask`."""
    app.cli.add_command(payouts_group)


def _exit_on_refusal(command: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The command that prints NotResolvable as a sentence and exits with code 1."""

    @wraps(command)
    def run(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        try:
            return command(*arguments, **options)
        except NotResolvable as error:
            click.echo(str(error), err=True)
            sys.exit(1)

    return run


@payouts_group.command("report")
@click.option("--merchant", required=True, metavar="ID|EMAIL")
@click.option("--month", required=True, metavar="YYYY-MM")
@click.option("--pdf", type=click.Path(dir_okay=False, path_type=Path), help="Also write the statement to this file.")
@with_appcontext
@_exit_on_refusal
def report(merchant: str, month: str, pdf: Path | None) -> None:
    """Show a merchant's earnings, payouts and balance of a month."""
    monthly_statement = _get_monthly_statement(merchant, month)
    click.echo(f"{monthly_statement.names[0]}, {monthly_statement.title}")
    for label, amount in [
        *statement.build_summary(monthly_statement),
        ("Balance at the end", format_money(monthly_statement.ledger_period.closing.balance_minor)),
    ]:
        click.echo(f"  {label:<36}{amount:>18}")
    for posted_day, description, reference, amount, balance in statement.build_lines(monthly_statement):
        click.echo(f"  {posted_day:<14} {description[:34]:<34} {reference[:26]:<26} {amount:>16} {balance:>16}")
    if pdf:
        pdf.write_bytes(statement.draw_statement(monthly_statement))
        click.echo(f"written to {pdf}")


@payouts_group.command("review")
@with_appcontext
def review() -> None:
    """List open reviews, the oldest first."""
    open_reviews = reviews.list_open_reviews()
    for open_review in open_reviews:
        row = open_review.review
        payout = _describe_payout(open_review.payout) if open_review.payout else "no payout of ours"
        click.echo(f"{row.created_at:%Y-%m-%d %H:%M}  {row.kind:<18} {row.reference}  {payout}")
        click.echo(f"    {', '.join(f'{name} {detail}' for name, detail in row.detail.items())}")
    click.echo(f"{len(open_reviews)} open")


@payouts_group.command("ask")
@click.argument("payout_id")
@with_appcontext
@_exit_on_refusal
def ask(payout_id: str) -> None:
    """Ask the rail about a payout now, and record the outcome."""
    outcome, state = actions.check_transfer_now(payout_id)
    click.echo(f"the rail says {outcome}; the payout is {state}")


@payouts_group.command("resolve")
@click.argument("payout_id")
@click.argument("outcome", type=click.Choice(list(actions.OUTCOMES)))
@click.option("--note", required=True, help="Who confirmed it, and how.")
@with_appcontext
@_exit_on_refusal
def resolve(payout_id: str, outcome: str, note: str) -> None:
    """End a payout that needs review, with the outcome that the rail or the bank confirmed."""
    click.echo(f"the payout is {actions.resolve_payout(payout_id, outcome, note)}")


@payouts_group.command("seen")
@click.argument("reference")
@click.option("--note", required=True, help="The finding.")
@with_appcontext
def seen(reference: str, note: str) -> None:
    """Close the reviews of a reference without changing anything."""
    click.echo(f"{reviews.close_reviews(reference, note)} closed")


def _describe_payout(payout: Payout) -> str:
    return f"{payout.status}, {format_money(payout.amount_minor)} to {payout.shown_as}"


def _get_monthly_statement(merchant: str, month: str) -> MonthlyStatement:
    try:
        first_day = statement.parse_month(month)
    except ValueError as error:
        raise click.UsageError("--month must be like 2026-11") from error
    account_id = actions.find_merchant_id(merchant)
    monthly_statement = statement.find_statement(account_id, first_day) if account_id else None
    if monthly_statement is None:
        raise NotResolvable(f"There is no merchant {merchant}.")
    return monthly_statement
