"""Operator actions on stall payments: list payments and reviews, ask the rail, resolve by hand."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import or_, select

from app.applications import payment_outcome
from app.applications.errors import NotResolvable
from app.applications.models import Application, StallPayment, StallPaymentReview
from app.applications.payment_reviews import close_reviews
from app.applications.stall_payments import is_unanswered
from app.clients.payrail import ChargeState, Outcome, rail
from app.core.db import db, release_connection
from app.core.transaction import transaction

OUTCOME_BY_NAME = {"paid": Outcome.PAID, "not-taken": Outcome.EXPIRED, "refunded": Outcome.REFUNDED}


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
    if not is_unanswered(payment) and not (is_refund_owed and outcome == "refunded"):
        raise NotResolvable(
            f"It is {describe_payment_state(payment)}; only a payment without an outcome is resolved by hand, and"
            " money that was taken twice as refunded."
        )
    review_ids = [review.review.id for review in list_reviews(reference=payment_id)]
    release_connection()
    state = describe_payment_state(
        payment_outcome.record_outcome(payment_id, ChargeState(outcome=OUTCOME_BY_NAME[outcome]))
    )
    # Reviews that this outcome itself adds stay open.
    close_reviews_of(payment_id, note, review_ids=review_ids)
    return state


def close_reviews_of(reference: str, note: str, *, review_ids: Sequence[int] | None = None) -> int:
    """Closes the open reviews of a reference, or only those with these ids. Returns their number."""
    with transaction() as session:
        return close_reviews(session, reference, note, review_ids=review_ids)


def describe_payment_state(payment: StallPayment) -> str:
    """The state of a payment for an operator."""
    if payment.refunded_at is not None:
        return f"{payment.status}, taken again and refunded"
    if payment.captured_at is not None:
        return f"{payment.status}, taken again and not refunded"
    return f"{payment.status}, without a final answer of the rail" if is_unanswered(payment) else payment.status


def _get_payment(payment_id: str) -> StallPayment:
    payment = db.session.get(StallPayment, payment_id, populate_existing=True)
    release_connection()
    if payment is None:
        raise NotResolvable(f"There is no stall payment {payment_id}.")
    return payment
