"""Submission of payouts to the payment rail, so that a crash never pays one twice.

A payout becomes `processing` and that commits; then the rail is called with the payout's id as reference; then the
outcome is recorded. A payout that is `processing` already, after a crash, is looked up at the rail first. It is sent
again, with the same reference, only when the rail does not know it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, exists, func, select

from app.accounts.models import Account
from app.clients.payrail import Transfer, TransferOutcome, TransferState, rail
from app.clients.payrail.errors import PayrailDisabled
from app.core.db import db, release_connection
from app.core.transaction import transaction
from app.merchants.models import Merchant
from app.merchants.states import PAUSED
from app.payouts import destination_encryption
from app.payouts.models import Payout
from app.payouts.outcomes import update_status
from app.payouts.states import CANCELLABLE, PROCESSING, REQUESTED, SCHEDULED, SERVICE

UNKNOWN_STATE = TransferState(outcome=TransferOutcome.UNKNOWN)
UNREADABLE_DESTINATION_STATE = TransferState(outcome=TransferOutcome.FAILED, reason="DESTINATION_UNREADABLE")


@dataclass(frozen=True)
class PayoutSnapshot:
    """A payout as a job loads it, with times by the database's clock.

    `age` is the time since the submission, `delay` the time until the payout may leave.
    """

    payout: Payout
    is_merchant_paused: bool
    age: timedelta
    delay: timedelta

    @property
    def needs_owner_notice(self) -> bool:
        """Whether it goes to a new destination, has not left, and its owner has not been notified."""
        payout = self.payout
        return payout.status in CANCELLABLE and payout.held_until is not None and payout.owner_told_at is None


def merchant_paused_sql() -> ColumnElement[bool]:
    """Whether the payout's merchant has paused, or their account is suspended; then none of their payouts leaves."""
    has_paused = exists().where(Merchant.account_id == Payout.account_id, Merchant.status == PAUSED)
    is_suspended = exists().where(Account.id == Payout.account_id, Account.suspended_at.is_not(None))
    return has_paused | is_suspended


def may_leave_sql() -> ColumnElement[bool]:
    """Whether the destination was known, or the owner was notified and the hold is over."""
    return Payout.held_until.is_(None) | (Payout.owner_told_at.is_not(None) & (Payout.held_until <= func.now()))


def load_snapshot(payout_id: str) -> PayoutSnapshot | None:
    """Load the payout and release the connection, because the call of the rail may take long."""
    age = func.coalesce(func.now() - Payout.submitted_at, timedelta())
    delay = func.coalesce(func.greatest(Payout.scheduled_for, Payout.held_until) - func.now(), timedelta())
    row = db.session.execute(
        select(Payout, merchant_paused_sql(), age, delay).where(Payout.id == payout_id),
        execution_options={"populate_existing": True},
    ).first()
    release_connection()
    return PayoutSnapshot(*row) if row else None


def mark_processing(payout: Payout) -> bool:
    """Make the payout `processing` and commit, before the rail is called.

    False when it was cancelled, submitted by another worker, or its merchant has paused in the meantime.
    """
    with transaction() as session:
        if payout.status == SCHEDULED:
            update_status(
                session,
                payout.id,
                REQUESTED,
                from_statuses=(SCHEDULED,),
                actor=SERVICE,
                conditions=(Payout.scheduled_for <= func.now(), may_leave_sql(), ~merchant_paused_sql()),
            )
        processing_payout = update_status(
            session,
            payout.id,
            PROCESSING,
            from_statuses=(REQUESTED,),
            actor=SERVICE,
            conditions=(may_leave_sql(), ~merchant_paused_sql()),
            submitted_at=func.now(),
        )
    return processing_payout is not None


def send_transfer(payout: Payout, fence: Callable[[], None]) -> TransferState:
    """Send the transfer and return the rail's response. `fence` runs last before the rail gets to know of it."""
    recipient = destination_encryption.decrypt_destination(payout.account_id, payout.destination, payout.sealed_to)
    if recipient is None:
        return UNREADABLE_DESTINATION_STATE
    transfer = Transfer(
        reference=payout.id, amount_minor=payout.amount_minor, destination=recipient, description=f"Payout {payout.id}"
    )
    fence()
    try:
        return rail().send_transfer(transfer)
    except PayrailDisabled:
        return UNKNOWN_STATE


def get_transfer_state(payout_id: str) -> TransferState:
    """Ask the rail for the state of the transfer."""
    try:
        return rail().transfer_status(payout_id)
    except PayrailDisabled:
        return UNKNOWN_STATE


def is_rail_enabled() -> bool:
    """Whether a rail is configured; without one no payout is submitted."""
    try:
        rail().check()
    except PayrailDisabled:
        return False
    return True
