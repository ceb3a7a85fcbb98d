"""Callbacks about charges: each makes us ask the rail, unless the payment is paid.

A callback that says what the rail then does not confirm is a review, and so is one about another amount
(docs/decisions/payrail-callbacks.md).
"""

from dataclasses import dataclass

from app.applications import settling
from app.applications.models import StallPayment
from app.applications.payment import unanswered
from app.applications.payment_reviews import CONTRADICTION, MISMATCH, UNKNOWN_REFERENCE, add_review
from app.clients.payrail import ChargeState, Outcome, rail
from app.core.db import db, release
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A signed callback about a charge; the reference is the payment's id."""

    event_id: str
    payment_id: str
    outcome: str
    amount_minor: int
    currency: str

    @property
    def detail(self) -> dict[str, object]:
        return {
            "eventId": self.event_id,
            "told": self.outcome,
            "amountMinor": self.amount_minor,
            "currency": self.currency,
        }


def weigh(heard: Heard) -> None:
    """Asks the rail about the payment that a callback names, and adds a review when the callback cannot be true."""
    row = db.session.get(StallPayment, heard.payment_id, populate_existing=True)
    release()
    if row is None:
        with transaction() as session:
            add_review(session, heard.payment_id, UNKNOWN_REFERENCE, **heard.detail)
        return
    told = ChargeState(outcome=Outcome.PAID)
    if row.status != "paid":
        told = rail().charge_status(heard.payment_id)
        settling.settle(heard.payment_id, told)
    with transaction() as session:
        _compare(session, heard, told)


def _compare(session: ReadOrWriteSession, heard: Heard, told: ChargeState) -> None:
    """Adds a review for what does not fit, and keeps asking where money may have been taken."""
    application, row = settling.locked(session, heard.payment_id)
    if settling.differs(row, heard.amount_minor, heard.currency):
        add_review(session, row.id, MISMATCH, **heard.detail)
    elif not _fits(row, heard.outcome):
        add_review(session, row.id, CONTRADICTION, status=row.status, rail=told.outcome.value, **heard.detail)
        if heard.outcome == Outcome.PAID and told.outcome in (Outcome.UNKNOWN, Outcome.CODE_SENT):
            settling.reopen(session, application, row)


def _fits(row: StallPayment, outcome: str) -> bool:
    """Whether a callback's outcome can be true along with what we know after asking."""
    taken = row.status == "paid" or row.captured_at is not None
    if unanswered(row):
        return True
    if outcome == Outcome.PAID:
        return taken
    if outcome == Outcome.REFUNDED:
        return row.refunded_at is not None
    return not taken
