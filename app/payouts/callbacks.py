"""Callbacks of the rail. Each is stored once and only triggers a status check (docs/decisions/payrail-callbacks.md)."""

from sqlalchemy import select

from app.clients.payrail import TransferOutcome
from app.clients.payrail.callbacks import TRANSFER, CallbackEvent
from app.core.db import db, release_connection
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.payouts.models import Payout, PayrailCallback
from app.payouts.outcomes import has_other_amount, is_contradiction, record_outcome
from app.payouts.reviews import CONTRADICTION, MISMATCH, UNKNOWN_REFERENCE, create_review
from app.payouts.states import AWAITING_OUTCOME, PAID, RAIL, RETURNED
from app.payouts.transfers import get_transfer_state

LATE_PAID_CALLBACK = (RETURNED, TransferOutcome.PAID)
"""No contradiction: the callback of the payment came after that of the return."""


def enqueue_status_check(event: CallbackEvent) -> None:
    """Enqueue the job that asks the rail about the payout or stall payment of the event."""
    if event.kind == TRANSFER:
        enqueue("payouts.ask", key=f"callback:{event.event_id}", event_id=event.event_id)
    else:
        enqueue(
            "applications.weigh_callback",
            key=f"callback:{event.event_id}",
            event_id=event.event_id,
            payment_id=event.reference,
            outcome=event.outcome.value,
            amount_minor=event.amount_minor,
            currency=event.currency,
        )


def verify_callback(event_id: str) -> None:
    """Ask the rail about the payout of a callback, and create a review when the callback cannot be true."""
    event = db.session.get_one(PayrailCallback, event_id)
    status = db.session.scalar(select(Payout.status).where(Payout.id == event.reference))
    release_connection()
    if status is not None and (status in AWAITING_OUTCOME or status == PAID):
        transfer_state = get_transfer_state(event.reference)
        if transfer_state.outcome is not TransferOutcome.NOT_FOUND:
            record_outcome(event.reference, transfer_state, actor=RAIL)
    with transaction() as session:
        payout = session.get(Payout, event.reference, populate_existing=True)
        details = {
            "eventId": event.event_id,
            "told": event.outcome,
            "amountMinor": event.amount_minor,
            "currency": event.currency,
        }
        if payout is None:
            create_review(session, event.reference, UNKNOWN_REFERENCE, **details)
        elif has_other_amount(payout, event.amount_minor, event.currency):
            create_review(session, event.reference, MISMATCH, **details)
        elif (payout.status, event.outcome) != LATE_PAID_CALLBACK and is_contradiction(
            payout.status, TransferOutcome(event.outcome)
        ):
            create_review(session, event.reference, CONTRADICTION, status=payout.status, **details)
