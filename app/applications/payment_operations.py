"""What operators do about stall payments by hand: look at what needs a person, ask the rail, say how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    """A review that nobody has resolved, with the payment and the application it is about, if there are any."""

    review: StallPaymentReview
    payment: StallPayment | None
    application: Application | None


def list_payments(identifier: str) -> Sequence[Any]:
    """The payments of an application with the application, the oldest first. It is named by its reference, its id, or
    the id of one of its payments."""
    application_id_query = select(StallPayment.application_id).where(StallPayment.id == identifier)
    condition = or_(
        Application.reference == identifier.upper(),
        Application.id == identifier,
        Application.id.in_(application_id_query),
    )
    statement = select(StallPayment, Application).join(Application, Application.id == StallPayment.application_id)
    return db.session.execute(statement.where(condition).order_by(StallPayment.created_at, StallPayment.id)).all()


def list_reviews(limit: int = 100, *, reference: str | None = None) -> Sequence[OpenReview]:
    """The open ones, the oldest first; with a reference only its own."""
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
    """What the rail says now, and the payment's state after it. Raises NotResolvable for an unknown payment."""
    _get_payment(payment_id)
    charge_state = rail().charge_status(payment_id)
    return charge_state.outcome.value, describe_payment_state(payment_outcome.record_outcome(payment_id, charge_state))


def resolve_payment(payment_id: str, outcome: str, note: str) -> str:
    """Ends a payment as somebody has found out at the rail. Raises NotResolvable."""
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
    # What this outcome itself gives somebody to look at stays open.
    close_reviews_of(payment_id, note, review_ids=review_ids)
    return state


def close_reviews_of(reference: str, note: str, *, review_ids: Sequence[int] | None = None) -> int:
    """Marks the open reviews of a reference as looked at, or only those with these ids; how many."""
    with transaction() as session:
        return close_reviews(session, reference, note, review_ids=review_ids)


def describe_payment_state(payment: StallPayment) -> str:
    """The state of a payment in a few words."""
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
