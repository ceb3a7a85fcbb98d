"""Callbacks are hints: each is kept once, and makes us ask the rail at once (docs/decisions/payrail-callbacks.md)."""

from sqlalchemy import select

from app.clients.payrail import TransferOutcome
from app.clients.payrail.callbacks import TRANSFER, CallbackEvent
from app.core.db import db, release
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.payouts import submitting
from app.payouts.models import Payout, PayrailCallback
from app.payouts.recording import contradicts, differs, record
from app.payouts.reviewing import CONTRADICTION, MISMATCH, UNKNOWN_REFERENCE, review
from app.payouts.states import ASKED, PAID, RAIL, RETURNED

LATE = (RETURNED, TransferOutcome.PAID)
"""News of the payment that comes after the news of its bounce was true once."""


def ask_because_of(event: CallbackEvent) -> None:
    """Enqueues the question for whatever the event is about, by its kind."""
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


def weigh(event_id: str) -> None:
    """Asks the rail about the payout that a callback names, and writes a review when the callback cannot be true."""
    event = db.session.get_one(PayrailCallback, event_id)
    status = db.session.scalar(select(Payout.status).where(Payout.id == event.reference))
    release()
    if status is not None and (status in ASKED or status == PAID):
        told = submitting.asked(event.reference)
        if told.outcome is not TransferOutcome.NOT_FOUND:
            record(event.reference, told, actor=RAIL)
    with transaction() as session:
        payout = session.get(Payout, event.reference, populate_existing=True)
        said = {
            "eventId": event.event_id,
            "told": event.outcome,
            "amountMinor": event.amount_minor,
            "currency": event.currency,
        }
        if payout is None:
            review(session, event.reference, UNKNOWN_REFERENCE, **said)
        elif differs(payout, event.amount_minor, event.currency):
            review(session, event.reference, MISMATCH, **said)
        elif (payout.status, event.outcome) != LATE and contradicts(payout.status, TransferOutcome(event.outcome)):
            review(session, event.reference, CONTRADICTION, status=payout.status, **said)
