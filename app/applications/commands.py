"""`flask stall-payments report|review|ask|resolve|seen`."""

import click
from flask import Flask
from flask.cli import AppGroup, with_appcontext

from app.applications import payment_operations
from app.applications.errors import NotResolvable
from app.core.money import format_money

stall_payments = AppGroup("stall-payments", help="Payments of stall fees: how they stand, and what needs a person.")


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(stall_payments)


@stall_payments.command("report")
@click.argument("named", metavar="REFERENCE|ID")
@with_appcontext
def report(named: str) -> None:
    """List the payments of an application, named by its reference, its id, or a payment's id."""
    payment_rows = payment_operations.list_payments(named)
    for payment, application in payment_rows:
        state = payment_operations.describe_payment_state(payment)
        amount = f"{format_money(payment.amount_minor)} from ••••{payment.msisdn[-4:]}"
        application_text = f"{application.reference}, {application.status}"
        click.echo(f"{payment.created_at:%Y-%m-%d %H:%M}  {payment.id}  {amount}  {state}  ({application_text})")
    click.echo(f"{len(payment_rows)} payments")


@stall_payments.command("review")
@with_appcontext
def review() -> None:
    """List what needs a person, the oldest first."""
    reviews = payment_operations.list_reviews()
    for item in reviews:
        subject = "no payment of ours"
        if item.payment is not None and item.application is not None:
            subject = f"{item.application.reference}, {payment_operations.describe_payment_state(item.payment)}"
        click.echo(
            f"{item.review.created_at:%Y-%m-%d %H:%M}  {item.review.kind:<18} {item.review.reference}  {subject}"
        )
        click.echo(f"    {', '.join(f'{name} {value}' for name, value in item.review.detail.items())}")
    click.echo(f"{len(reviews)} open")


@stall_payments.command("ask")
@click.argument("payment_id")
@with_appcontext
def ask(payment_id: str) -> None:
    """Ask the rail about a payment now, and write down what it says."""
    try:
        outcome, state = payment_operations.query_charge_status(payment_id)
    except NotResolvable as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the rail says {outcome}; the payment is {state}")


@stall_payments.command("resolve")
@click.argument("payment_id")
@click.argument("outcome", type=click.Choice(list(payment_operations.OUTCOME_BY_NAME)))
@click.option("--note", required=True, help="Who found out, and how.")
@with_appcontext
def resolve(payment_id: str, outcome: str, note: str) -> None:
    """End a payment without an outcome, as somebody has found out at the rail."""
    try:
        state = payment_operations.resolve_payment(payment_id, outcome, note)
    except NotResolvable as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the payment is {state}")


@stall_payments.command("seen")
@click.argument("reference")
@click.option("--note", required=True, help="What was found.")
@with_appcontext
def seen(reference: str, note: str) -> None:
    """Close the reviews of a reference without changing anything."""
    click.echo(f"{payment_operations.close_reviews_of(reference, note)} closed")
