"""What operators do about stall payments by hand: look at what needs a person, ask the rail, say how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import or_, select

from app.applications import settling
from app.applications.errors import NotResolvable
from app.applications.models import Application, StallPayment, StallPaymentReview
from app.applications.payment import unanswered
from app.applications.payment_reviews import close_reviews
from app.clients.payrail import ChargeState, Outcome, rail
from app.core.db import db, release
from app.core.transaction import transaction

OUTCOMES = {"paid": Outcome.PAID, "not-taken": Outcome.EXPIRED, "refunded": Outcome.REFUNDED}


@dataclass(frozen=True)
class OpenReview:
    """A review that nobody has resolved, with the payment and the application it is about, if there are any."""

    review: StallPaymentReview
    payment: StallPayment | None
    application: Application | None


def list_payments(named: str) -> Sequence[Any]:
    """The payments of an application with the application, the oldest first. It is named by its reference, its id, or
    the id of one of its payments."""
    own = select(StallPayment.application_id).where(StallPayment.id == named)
    wanted = or_(Application.reference == named.upper(), Application.id == named, Application.id.in_(own))
    statement = select(StallPayment, Application).join(Application, Application.id == StallPayment.application_id)
    return db.session.execute(statement.where(wanted).order_by(StallPayment.created_at, StallPayment.id)).all()


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


def ask_now(payment_id: str) -> tuple[str, str]:
    """What the rail says now, and the payment's state after it. Raises NotResolvable for an unknown payment."""
    _find(payment_id)
    told = rail().charge_status(payment_id)
    return told.outcome.value, describe_state(settling.settle(payment_id, told))


def resolve(payment_id: str, outcome: str, note: str) -> str:
    """Ends a payment as somebody has found out at the rail. Raises NotResolvable."""
    row = _find(payment_id)
    owed_back = row.captured_at is not None and row.refunded_at is None
    if not unanswered(row) and not (owed_back and outcome == "refunded"):
        raise NotResolvable(
            f"It is {describe_state(row)}; only a payment without an outcome is resolved by hand, and"
            " money that was taken twice as refunded."
        )
    known = [review.review.id for review in list_reviews(reference=payment_id)]
    release()
    state = describe_state(settling.settle(payment_id, ChargeState(outcome=OUTCOMES[outcome])))
    # What this outcome itself gives somebody to look at stays open.
    close(payment_id, note, only=known)
    return state


def close(reference: str, note: str, *, only: Sequence[int] | None = None) -> int:
    """Marks the open reviews of a reference as looked at, or only those with these ids; how many."""
    with transaction() as session:
        return close_reviews(session, reference, note, only=only)


def describe_state(row: StallPayment) -> str:
    """The state of a payment in a few words."""
    if row.refunded_at is not None:
        return f"{row.status}, taken again and refunded"
    if row.captured_at is not None:
        return f"{row.status}, taken again and not refunded"
    return f"{row.status}, without a final answer of the rail" if unanswered(row) else row.status


def _find(payment_id: str) -> StallPayment:
    row = db.session.get(StallPayment, payment_id, populate_existing=True)
    release()
    if row is None:
        raise NotResolvable(f"There is no stall payment {payment_id}.")
    return row
