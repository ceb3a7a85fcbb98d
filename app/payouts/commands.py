"""`flask payouts report|review|ask|resolve|seen`."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from flask import Flask
from flask.cli import AppGroup, with_appcontext

from app.core.money import format_money
from app.payouts import operator_actions, statement
from app.payouts.errors import NotResolvable
from app.payouts.statement import MonthlyStatement

payouts_group = AppGroup("payouts", help="Merchants' payouts: statements, and what needs a person.")


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(payouts_group)


def _exit_on_refusal(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, whose refusals are sentences and exit code 1."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except NotResolvable as error:
            click.echo(str(error), err=True)
            sys.exit(1)

    return run


@payouts_group.command("report")
@click.option("--merchant", required=True, metavar="ID|EMAIL")
@click.option("--month", required=True, metavar="YYYY-MM")
@click.option("--pdf", type=click.Path(dir_okay=False, path_type=Path), help="Write the statement there as well.")
@with_appcontext
@_exit_on_refusal
def report(merchant: str, month: str, pdf: Path | None) -> None:
    """Show what a merchant earned, was paid and has left in a month."""
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
    """List what needs a person, the oldest first."""
    reviews = operator_actions.list_open_reviews()
    for open_review in reviews:
        payout_description = _describe_payout(open_review.payout) if open_review.payout else "no payout of ours"
        click.echo(
            f"{open_review.review.created_at:%Y-%m-%d %H:%M}  {open_review.review.kind:<18} {open_review.review.reference}  {payout_description}"
        )
        click.echo(f"    {', '.join(f'{name} {value}' for name, value in open_review.review.detail.items())}")
    click.echo(f"{len(reviews)} open")


@payouts_group.command("ask")
@click.argument("payout_id")
@with_appcontext
@_exit_on_refusal
def ask(payout_id: str) -> None:
    """Ask the rail about a payout now, and write down what it says."""
    outcome, state = operator_actions.check_transfer_now(payout_id)
    click.echo(f"the rail says {outcome}; the payout is {state}")


@payouts_group.command("resolve")
@click.argument("payout_id")
@click.argument("outcome", type=click.Choice(list(operator_actions.OUTCOMES)))
@click.option("--note", required=True, help="Who found out, and how.")
@with_appcontext
@_exit_on_refusal
def resolve(payout_id: str, outcome: str, note: str) -> None:
    """End a payout that needs review, as somebody has found out at the rail or the bank."""
    click.echo(f"the payout is {operator_actions.resolve_payout(payout_id, outcome, note)}")


@payouts_group.command("seen")
@click.argument("reference")
@click.option("--note", required=True, help="What was found.")
@with_appcontext
def seen(reference: str, note: str) -> None:
    """Close the reviews of a reference without changing anything."""
    click.echo(f"{operator_actions.close_reviews(reference, note)} closed")


def _describe_payout(payout: Any) -> str:
    return f"{payout.status}, {format_money(payout.amount_minor)} to {payout.shown_as}"


def _get_monthly_statement(merchant: str, month: str) -> MonthlyStatement:
    try:
        first_day = statement.parse_month(month)
    except ValueError as error:
        raise click.UsageError("--month must be like 2026-11") from error
    account_id = operator_actions.find_merchant_id(merchant)
    monthly_statement = statement.find_statement(account_id, first_day) if account_id else None
    if monthly_statement is None:
        raise NotResolvable(f"There is no merchant {merchant}.")
    return monthly_statement
