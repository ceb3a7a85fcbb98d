"""`flask stall-payments report|review|ask|resolve|seen|book`: lists payments and reviews, asks the rail, ends a payment,
books fees."""

from collections.abc import Sequence
from dataclasses import dataclass

import click
from flask import Flask
from flask.cli import AppGroup, with_appcontext
from sqlalchemy import or_, select

from app.applications import payment_outcome
from app.applications.errors import NotResolvable
from app.applications.fee_bookings import book_missing_fees
from app.applications.fee_credit_notes import issue_missing_credit_notes
from app.applications.fee_refunds import find_requested_refund, refuse_refund
from app.applications.models import Application, StallPayment, StallPaymentReview
from app.applications.stall_payments import close_reviews, is_unanswered
from app.audit.actions import Action
from app.audit.log import record
from app.clients.payrail import ChargeState, Outcome, rail
from app.core.addresses import mask_number
from app.core.db import db, release_connection
from app.core.formatting import format_count, format_money
from app.core.transaction import transaction

stall_payments = AppGroup("stall-payments", help="Payments of stall fees: their states and reviews.")
OUTCOME_BY_NAME = {"paid": Outcome.PAID, "not-taken": Outcome.EXPIRED, "refunded": Outcome.REFUNDED}


def register(app: Flask) -> None:
    """Adds the commands to the `flask` of this application."""
    app.cli.add_command(stall_payments)


@stall_payments.command("report")
@click.argument("identifier", metavar="REFERENCE|ID")
@with_appcontext
def report(identifier: str) -> None:
    """List the payments of an application, by its reference, its id, or a payment's id."""
    payment_rows = list_payments(identifier)
    for payment, application in payment_rows:
        state = describe_payment_state(payment)
        amount = f"{format_money(payment.amount_minor)} from {mask_number(payment.msisdn)}"
        application_text = f"{application.reference}, {application.status}"
        click.echo(f"{payment.created_at:%Y-%m-%d %H:%M}  {payment.id}  {amount}  {state}  ({application_text})")
    click.echo(format_count(len(payment_rows), "payment"))


@stall_payments.command("review")
@with_appcontext
def review() -> None:
    """List the open reviews, the oldest first."""
    open_reviews = list_reviews()
    for open_review in open_reviews:
        review_row, payment, application = open_review.review, open_review.payment, open_review.application
        subject = "no payment of this service"
        if payment is not None and application is not None:
            subject = f"{application.reference}, {describe_payment_state(payment)}"
        click.echo(f"{review_row.created_at:%Y-%m-%d %H:%M}  {review_row.kind:<18} {review_row.reference}  {subject}")
        click.echo(f"    {', '.join(f'{name} {value}' for name, value in review_row.detail.items())}")
    click.echo(f"{len(open_reviews)} open")


@stall_payments.command("ask")
@click.argument("payment_id")
@with_appcontext
def ask(payment_id: str) -> None:
    """Ask the rail about a payment now, and record the outcome."""
    try:
        outcome, state = query_charge_status(payment_id)
    except NotResolvable as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the rail says {outcome}; the payment is {state}")


@stall_payments.command("resolve")
@click.argument("payment_id")
@click.argument("outcome", type=click.Choice(list(OUTCOME_BY_NAME)))
@click.option("--note", required=True, help="Who found the outcome, and how.")
@with_appcontext
def resolve(payment_id: str, outcome: str, note: str) -> None:
    """End a payment without an outcome, with the outcome that an operator found at the rail."""
    try:
        state = resolve_payment(payment_id, outcome, note)
    except NotResolvable as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the payment is {state}")


@stall_payments.command("seen")
@click.argument("reference")
@click.option("--note", required=True, help="The result of the review.")
@with_appcontext
def seen(reference: str, note: str) -> None:
    """Close the reviews of a reference without changing anything."""
    click.echo(f"{close_reviews_of(reference, note)} closed")


@stall_payments.command("book")
@with_appcontext
def book() -> None:
    """Book the fees, and issue the credit notes for the refunds, that the previous version recorded during an upgrade."""
    click.echo(f"{book_missing_fees()} fees booked, {issue_missing_credit_notes()} credit notes issued")


@dataclass(frozen=True)
class OpenReview:
    """An open review with its payment and application; both are None for an unknown reference."""

    review: StallPaymentReview
    payment: StallPayment | None
    application: Application | None


def list_payments(identifier: str) -> list[tuple[StallPayment, Application]]:
    """The payments of an application, the oldest first, each with the application.

    `identifier` is the application's reference or id, or the id of one of its payments.
    """
    application_id_query = select(StallPayment.application_id).where(StallPayment.id == identifier)
    condition = or_(
        Application.reference == identifier.upper(),
        Application.id == identifier,
        Application.id.in_(application_id_query),
    )
    statement = select(StallPayment, Application).join(Application, Application.id == StallPayment.application_id)
    rows = db.session.execute(statement.where(condition).order_by(StallPayment.created_at, StallPayment.id))
    return [(payment, application) for payment, application in rows]


def list_reviews(limit: int = 100, *, reference: str | None = None) -> Sequence[OpenReview]:
    """The open reviews, the oldest first; with a reference, only its reviews."""
    statement = (
        select(StallPaymentReview, StallPayment, Application)
        .outerjoin(StallPayment, StallPayment.id == StallPaymentReview.reference)
        .outerjoin(Application, Application.id == StallPayment.application_id)
        .where(StallPaymentReview.resolved_at.is_(None))
    )
    if reference is not None:
        statement = statement.where(StallPaymentReview.reference == reference)
    rows = db.session.execute(statement.order_by(StallPaymentReview.id).limit(limit)).all()
    return [OpenReview(*row) for row in rows]


def query_charge_status(payment_id: str) -> tuple[str, str]:
    """Asks the rail. Returns its outcome and the payment's state after it. Raises NotResolvable for an unknown payment."""
    _get_payment(payment_id)
    charge_state = rail().charge_status(payment_id)
    return charge_state.outcome.value, describe_payment_state(payment_outcome.record_outcome(payment_id, charge_state))


def resolve_payment(payment_id: str, outcome: str, note: str) -> str:
    """Records the outcome that an operator found at the rail. Returns the payment's state. Raises NotResolvable."""
    payment = _get_payment(payment_id)
    is_refund_owed = payment.captured_at is not None and payment.refunded_at is None
    is_refund_requested = payment.status == "paid" and find_requested_refund(db.session(), payment.application_id)
    can_be_refunded = outcome == "refunded" and (is_refund_owed or is_refund_requested)
    is_refund_refused = outcome == "not-taken" and is_refund_requested
    if not (is_unanswered(payment) or can_be_refunded or is_refund_refused):
        raise NotResolvable(
            f"It is {describe_payment_state(payment)}; only a payment without an outcome is resolved by hand, money that"
            " was taken twice as refunded, and a requested refund as refunded or not-taken."
        )
    review_ids = [review.review.id for review in list_reviews(reference=payment_id)]
    release_connection()
    if is_refund_refused:
        with transaction() as session:
            refuse_refund(session, session.get_one(Application, payment.application_id, with_for_update=True))
        close_reviews_of(payment_id, note, review_ids=review_ids, outcome=outcome)
        return "paid, not refunded by the rail"
    state = describe_payment_state(
        payment_outcome.record_outcome(payment_id, ChargeState(outcome=OUTCOME_BY_NAME[outcome]))
    )
    # Reviews that this outcome itself adds stay open.
    close_reviews_of(payment_id, note, review_ids=review_ids, outcome=outcome)
    return state


def close_reviews_of(
    reference: str, note: str, *, review_ids: Sequence[int] | None = None, outcome: str | None = None
) -> int:
    """Closes the open reviews of a reference, or only those with these ids. Returns their number.

    `outcome` is the outcome that the operator found, if there is one.
    """
    with transaction() as session:
        count = close_reviews(session, reference, note, review_ids=review_ids)
        if outcome is not None:
            record(session, Action.STALL_FEE_RESOLVED, subject=reference, data={"outcome": outcome})
        elif count:
            record(session, Action.REVIEW_CLOSED, subject=reference, data={"reviews": count})
        return count


def describe_payment_state(payment: StallPayment) -> str:
    """The state of a payment for an operator."""
    if payment.refunded_at is not None:
        return f"{payment.status}, {'taken again and ' if payment.captured_at else ''}refunded"
    if payment.captured_at is not None:
        return f"{payment.status}, taken again and not refunded"
    return f"{payment.status}, without a final answer of the rail" if is_unanswered(payment) else payment.status


def _get_payment(payment_id: str) -> StallPayment:
    payment = db.session.get(StallPayment, payment_id, populate_existing=True)
    release_connection()
    if payment is None:
        raise NotResolvable(f"There is no stall payment {payment_id}.")
    return payment
