"""Callbacks about charges: each one makes the service ask the rail, unless the payment is paid.

A callback that the rail does not confirm makes a review, and so does one with a different amount
(docs/decisions/payrail-callbacks.md).
"""

from dataclasses import dataclass

from app.applications import payment_outcome
from app.applications.models import StallPayment
from app.applications.payment_reviews import CONTRADICTION, MISMATCH, UNKNOWN_REFERENCE, add_review
from app.applications.stall_payments import is_unanswered
from app.clients.payrail import ChargeState, Outcome, rail
from app.core.db import db, release_connection
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction


@dataclass(frozen=True, kw_only=True)
class ChargeCallback:
    """A signed callback about a charge; the reference is the payment's id."""

    event_id: str
    payment_id: str
    outcome: str
    amount_minor: int
    currency: str

    @property
    def detail(self) -> dict[str, object]:
        """The facts for a review."""
        return {
            "event_id": self.event_id,
            "outcome": self.outcome,
            "amount_minor": self.amount_minor,
            "currency": self.currency,
        }


def verify_callback(callback: ChargeCallback) -> None:
    """Asks the rail about the payment of a callback, and adds a review if the callback contradicts the outcome."""
    payment = db.session.get(StallPayment, callback.payment_id, populate_existing=True)
    release_connection()
    if payment is None:
        with transaction() as session:
            add_review(session, callback.payment_id, UNKNOWN_REFERENCE, **callback.detail)
        return
    charge_state = ChargeState(outcome=Outcome.PAID)
    if payment.status != "paid":
        charge_state = rail().charge_status(callback.payment_id)
        payment_outcome.record_outcome(callback.payment_id, charge_state)
    with transaction() as session:
        _review_contradictions(session, callback, charge_state)


def _review_contradictions(session: ReadOrWriteSession, callback: ChargeCallback, charge_state: ChargeState) -> None:
    """Adds a review of a contradiction, and reopens the payment if its money may have been taken."""
    application, payment = payment_outcome.lock_payment(session, callback.payment_id)
    if payment_outcome.has_different_amount(payment, callback.amount_minor, callback.currency):
        add_review(session, payment.id, MISMATCH, **callback.detail)
    elif not _is_consistent(payment, callback.outcome):
        add_review(
            session,
            payment.id,
            CONTRADICTION,
            status=payment.status,
            rail=charge_state.outcome.value,
            **callback.detail,
        )
        if callback.outcome == Outcome.PAID and charge_state.outcome in (Outcome.UNKNOWN, Outcome.CODE_SENT):
            payment_outcome.reopen_payment(session, application, payment)


def _is_consistent(payment: StallPayment, outcome: str) -> bool:
    """Whether a callback's outcome fits the payment as it is after the rail was asked."""
    is_captured = payment.status == "paid" or payment.captured_at is not None
    if is_unanswered(payment):
        return True
    if outcome == Outcome.PAID:
        return is_captured
    if outcome == Outcome.REFUNDED:
        return payment.refunded_at is not None
    return not is_captured
