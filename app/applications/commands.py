"""`flask stall-payments report|review|ask|resolve|seen`."""

import click
from flask import Flask
from flask.cli import AppGroup, with_appcontext

from app.applications import payment_operations
from app.applications.errors import NotResolvable
from app.core.addresses import mask_number
from app.core.money import format_money

stall_payments = AppGroup("stall-payments", help="Payments of stall fees: their states and reviews.")


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(stall_payments)


@stall_payments.command("report")
@click.argument("identifier", metavar="REFERENCE|ID")
@with_appcontext
def report(identifier: str) -> None:
    """List the payments of an application, by its reference, its id, or a payment's id."""
    payment_rows = payment_operations.list_payments(identifier)
    for payment, application in payment_rows:
        state = payment_operations.describe_payment_state(payment)
        amount = f"{format_money(payment.amount_minor)} from {mask_number(payment.msisdn)}"
        application_text = f"{application.reference}, {application.status}"
        click.echo(f"{payment.created_at:%Y-%m-%d %H:%M}  {payment.id}  {amount}  {state}  ({application_text})")
    click.echo(f"{len(payment_rows)} payments")


@stall_payments.command("review")
@with_appcontext
def review() -> None:
    """List the open reviews, the oldest first."""
    open_reviews = payment_operations.list_reviews()
    for open_review in open_reviews:
        review_row, payment, application = open_review.review, open_review.payment, open_review.application
        subject = "no payment of this service"
        if payment is not None and application is not None:
            subject = f"{application.reference}, {payment_operations.describe_payment_state(payment)}"
        click.echo(f"{review_row.created_at:%Y-%m-%d %H:%M}  {review_row.kind:<18} {review_row.reference}  {subject}")
        click.echo(f"    {', '.join(f'{name} {value}' for name, value in review_row.detail.items())}")
    click.echo(f"{len(open_reviews)} open")


@stall_payments.command("ask")
@click.argument("payment_id")
@with_appcontext
def ask(payment_id: str) -> None:
    """Ask the rail about a payment now, and record the outcome."""
    try:
        outcome, state = payment_operations.query_charge_status(payment_id)
    except NotResolvable as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the rail says {outcome}; the payment is {state}")


@stall_payments.command("resolve")
@click.argument("payment_id")
@click.argument("outcome", type=click.Choice(list(payment_operations.OUTCOME_BY_NAME)))
@click.option("--note", required=True, help="Who found the outcome, and how.")
@with_appcontext
def resolve(payment_id: str, outcome: str, note: str) -> None:
    """End a payment without an outcome, with the outcome that an operator found at the rail."""
    try:
        state = payment_operations.resolve_payment(payment_id, outcome, note)
    except NotResolvable as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the payment is {state}")


@stall_payments.command("seen")
@click.argument("reference")
@click.option("--note", required=True, help="The result of the review.")
@with_appcontext
def seen(reference: str, note: str) -> None:
    """Close the reviews of a reference without changing anything."""
    click.echo(f"{payment_operations.close_reviews_of(reference, note)} closed")
