"""Handing a payout to the rail so that no crash pays it twice: claim and commit, call with our reference, record.

What a crash leaves behind is `processing`. Anyone who finds that asks the rail first, and sends again, with the same
reference, only when the rail surely does not know it.

What the rail says becomes what we know, in one place, for answers, for asking later and for operators.

The first end counts. What contradicts it changes no ledger row: it becomes a review. The one step after an end is the
bounce of what was paid, which is followed by a compensating entry.

Callbacks are hints: each is kept once, and makes us ask the rail at once (docs/decisions/payrail-callbacks.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.clients.payrail import Transfer, TransferOutcome, TransferState, rail
from app.clients.payrail.callbacks import TRANSFER, CallbackEvent
from app.clients.payrail.errors import PayrailDisabled
from app.core.db import db, release_connection
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.merchants.models import Merchant
from app.merchants.states import PAUSED
from app.payouts import destinations, transitions
from app.payouts.models import Payout, PayrailCallback
from app.payouts.states import (
    AWAITING_OUTCOME,
    CANCELLABLE,
    FAILED,
    NEEDS_REVIEW,
    PAID,
    PROCESSING,
    RAIL,
    REQUESTED,
    RETURNED,
    SCHEDULED,
    SERVICE,
)
from app.payouts.transitions import (
    CONTRADICTION,
    MERCHANT_DELETED,
    MISMATCH,
    TOO_LONG,
    UNKNOWN_REFERENCE,
    create_review,
    update_status,
)

UNKNOWN_STATE = TransferState(outcome=TransferOutcome.UNKNOWN)
UNREADABLE_DESTINATION_STATE = TransferState(outcome=TransferOutcome.FAILED, reason="DESTINATION_UNREADABLE")


@dataclass(frozen=True)
class PayoutSnapshot:
    """A payout as a job finds it, by the database's clock. `age` counts from the submission, `waits` to the time it
    is scheduled for or may leave."""

    payout: Payout
    is_merchant_paused: bool
    age: timedelta
    delay: timedelta

    @property
    def needs_owner_notice(self) -> bool:
        """Whether it goes to a new destination, has not left, and its owner does not know."""
        payout = self.payout
        return payout.status in CANCELLABLE and payout.held_until is not None and payout.owner_told_at is None


def merchant_paused_sql() -> ColumnElement[bool]:
    """Whether the payout's merchant has paused: then nothing of theirs leaves."""
    return exists().where(Merchant.account_id == Payout.account_id, Merchant.status == PAUSED)


def may_leave_sql() -> ColumnElement[bool]:
    """Whether its destination was known, or its owner was told and had the time to stop it."""
    return Payout.held_until.is_(None) | (Payout.owner_told_at.is_not(None) & (Payout.held_until <= func.now()))


def load_snapshot(payout_id: str) -> PayoutSnapshot | None:
    """How the payout stands; the connection is given back, for the rail may take its time."""
    now: Any = func.now()
    age: Any = func.coalesce(now - Payout.submitted_at, timedelta())
    delay: Any = func.coalesce(func.greatest(Payout.scheduled_for, Payout.held_until) - now, timedelta())
    row = db.session.execute(
        select(Payout, merchant_paused_sql(), age, delay).where(Payout.id == payout_id),
        execution_options={"populate_existing": True},
    ).first()
    release_connection()
    return PayoutSnapshot(*row) if row else None


def mark_processing(payout: Payout) -> bool:
    """Makes it `processing`, committed before the rail hears of it; False when it was cancelled, claimed or paused
    in the meantime."""
    with transaction() as session:
        if payout.status == SCHEDULED:
            conditions = (Payout.scheduled_for <= func.now(), may_leave_sql(), ~merchant_paused_sql())
            update_status(
                session, payout.id, REQUESTED, from_statuses=(SCHEDULED,), actor=SERVICE, conditions=conditions
            )
        claimed_payout = update_status(
            session,
            payout.id,
            PROCESSING,
            from_statuses=(REQUESTED,),
            actor=SERVICE,
            conditions=(may_leave_sql(), ~merchant_paused_sql()),
            submitted_at=func.now(),
        )
    return claimed_payout is not None


def send_transfer(payout: Payout, fence: Callable[[], None]) -> TransferState:
    """What the rail answers to the transfer; `fence` is called at the last moment at which it knows nothing."""
    recipient = destinations.decrypt_destination(payout.account_id, payout.destination, payout.sealed_to)
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
    """What the rail says of the transfer now."""
    try:
        return rail().transfer_status(payout_id)
    except PayrailDisabled:
        return UNKNOWN_STATE


def is_rail_enabled() -> bool:
    """Whether there is a rail at all; without one nothing is claimed."""
    try:
        rail().check()
    except PayrailDisabled:
        return False
    return True


CURRENCY = "NAD"
STATUS_BY_OUTCOME = {TransferOutcome.PAID: PAID, TransferOutcome.FAILED: FAILED, TransferOutcome.RETURNED: RETURNED}
FIRST_BOUNCE_CHECK = timedelta(seconds=65)


def record_outcome(payout_id: str, transfer_state: TransferState, *, actor: str) -> str:
    """The payout's state after the rail, or an operator, has told of it. Any number may say the same at once."""
    with transaction() as session:
        # Before the payout: a deletion locks the account, and then payouts and purse.
        has_merchant = transfer_state.outcome is TransferOutcome.RETURNED and _lock_merchant(session, payout_id)
        payout = lock_payout(session, payout_id)
        if has_other_amount(payout, transfer_state.amount_minor, transfer_state.currency):
            create_review(
                session, payout.id, MISMATCH, amountMinor=transfer_state.amount_minor, currency=transfer_state.currency
            )
            return payout.status
        new_status = STATUS_BY_OUTCOME.get(transfer_state.outcome)
        if payout.status in AWAITING_OUTCOME and new_status is not None:
            return _finish_payout(session, payout, new_status, transfer_state.reason, actor, has_merchant=has_merchant)
        if payout.status == PAID and new_status == RETURNED:
            return _return_payout(session, payout, transfer_state.reason, actor, has_merchant=has_merchant)
        if is_contradiction(payout.status, transfer_state.outcome):
            create_review(session, payout.id, CONTRADICTION, status=payout.status, told=transfer_state.outcome.value)
        return payout.status


def mark_needs_review(payout_id: str) -> str:
    """After 72 hours without an outcome a person has to look; asking goes on when the rail tells, or they do."""
    with transaction() as session:
        payout = update_status(
            session, payout_id, NEEDS_REVIEW, from_statuses=(PROCESSING,), actor="service", reason="no outcome"
        )
        if payout is not None:
            create_review(session, payout_id, TOO_LONG, submittedAt=str(payout.submitted_at))
        return lock_payout(session, payout_id).status


def lock_payout(session: OrmSession, payout_id: str) -> Payout:
    return session.get_one(Payout, payout_id, with_for_update=True, populate_existing=True)


def has_other_amount(payout: Payout, amount_minor: int | None, currency: str | None) -> bool:
    """Whether somebody tells of another amount than ours."""
    return amount_minor not in (None, payout.amount_minor) or currency not in (None, CURRENCY)


def is_contradiction(status: str, outcome: TransferOutcome) -> bool:
    """Whether the rail says what cannot be true along with the state we are in."""
    if status in AWAITING_OUTCOME or outcome is TransferOutcome.UNKNOWN:
        return False
    if status == FAILED:
        return outcome not in (TransferOutcome.FAILED, TransferOutcome.NOT_FOUND)
    if status in (PAID, RETURNED):
        return outcome not in (OUTCOME_BY_STATUS[status], TransferOutcome.ACCEPTED)
    return outcome is not TransferOutcome.NOT_FOUND


OUTCOME_BY_STATUS = {status: outcome for outcome, status in STATUS_BY_OUTCOME.items()}


def _finish_payout(
    session: OrmSession, payout: Payout, new_status: str, reason: str | None, actor: str, *, has_merchant: bool
) -> str:
    """The first end. What was paid and bounced before anybody asked takes both steps at once."""
    if new_status == FAILED:
        update_status(
            session,
            payout.id,
            FAILED,
            from_statuses=AWAITING_OUTCOME,
            actor=actor,
            reason=reason,
            settled_at=func.now(),
        )
        transitions.post_release(session, payout.id, payout.account_id, payout.amount_minor)
        enqueue("payouts.mail", template="payout_failed", payout_id=payout.id)
        return FAILED
    update_status(
        session, payout.id, PAID, from_statuses=AWAITING_OUTCOME, actor=actor, reason=reason, settled_at=func.now()
    )
    transitions.post_payout(session, payout.id, payout.account_id, payout.amount_minor, shown_as=payout.shown_as)
    if new_status == RETURNED:
        return _return_payout(session, payout, reason, actor, has_merchant=has_merchant)
    enqueue("payouts.mail", template="payout_paid", payout_id=payout.id)
    enqueue("payouts.follow", delay=FIRST_BOUNCE_CHECK, aggregate=f"payout:{payout.id}", payout_id=payout.id)
    return PAID


def _return_payout(session: OrmSession, payout: Payout, reason: str | None, actor: str, *, has_merchant: bool) -> str:
    update_status(
        session, payout.id, RETURNED, from_statuses=(PAID,), actor=actor, reason=reason, settled_at=func.now()
    )
    transitions.post_return(session, payout.id, payout.account_id, payout.amount_minor, shown_as=payout.shown_as)
    if has_merchant:
        enqueue("payouts.mail", template="payout_returned", payout_id=payout.id)
    else:
        create_review(session, payout.id, MERCHANT_DELETED, amountMinor=payout.amount_minor)
    return RETURNED


def _lock_merchant(session: OrmSession, payout_id: str) -> bool:
    """Whether the payout's account can use money. A deletion and this wait for each other at the account's row."""
    account_id = select(Payout.account_id).where(Payout.id == payout_id).scalar_subquery()
    statement = select(Account.id).where(Account.id == account_id, Account.roles.contains(["merchant"]))
    return session.scalar(statement.with_for_update(read=True)) is not None


LATE_PAID_CALLBACK = (RETURNED, TransferOutcome.PAID)
"""News of the payment that comes after the news of its bounce was true once."""


def enqueue_status_check(event: CallbackEvent) -> None:
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


def verify_callback(event_id: str) -> None:
    """Asks the rail about the payout that a callback names, and writes a review when the callback cannot be true."""
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
