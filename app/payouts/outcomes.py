"""Steps of payouts, and the recording of outcomes from responses, status checks, callbacks and operators.

A step is a conditional UPDATE of the payout and the ledger transaction that belongs to it. Of two concurrent steps, the
second matches no row and does nothing. Steps lock the merchant's balance last, so two of them never wait for each other.

The first final outcome counts. A contradicting one changes no ledger row and creates a review. The only step after a
final outcome is the return of a paid payout, which posts a compensating transaction.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.audit.actions import Action
from app.audit.log import record
from app.clients.payrail import TransferOutcome, TransferState
from app.core import outbox
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.ledger.models import HOLD, MERCHANT_BALANCE, MERCHANT_HELD, PAYOUT, RAIL_CLEARING, RELEASE, RETURN
from app.ledger.transactions import Balances, post_transaction
from app.payouts.models import CURRENCY, Payout
from app.payouts.reviews import CONTRADICTION, MERCHANT_DELETED, MISMATCH, TOO_LONG, create_review
from app.payouts.states import (
    AWAITING_OUTCOME,
    CANCELLABLE,
    CANCELLED,
    FAILED,
    NEEDS_REVIEW,
    OPERATOR,
    PAID,
    PROCESSING,
    RETURNED,
    SERVICE,
    STEPS,
)

STATUS_BY_OUTCOME = {TransferOutcome.PAID: PAID, TransferOutcome.FAILED: FAILED, TransferOutcome.RETURNED: RETURNED}
OUTCOME_BY_STATUS = {status: outcome for outcome, status in STATUS_BY_OUTCOME.items()}
FIRST_BOUNCE_CHECK = timedelta(seconds=65)


def record_outcome(payout_id: str, transfer_state: TransferState, *, actor: str) -> str:
    """Record what the rail or an operator says; return the payout's status. Concurrent calls are safe."""
    with transaction() as session:
        # Before the payout: a deletion locks the account first, then payouts and balance.
        has_merchant = transfer_state.outcome is TransferOutcome.RETURNED and _lock_merchant(session, payout_id)
        payout = lock_payout(session, payout_id)
        if has_other_amount(payout, transfer_state.amount_minor, transfer_state.currency):
            create_review(
                session, payout.id, MISMATCH, amountMinor=transfer_state.amount_minor, currency=transfer_state.currency
            )
            return payout.status
        new_status = STATUS_BY_OUTCOME.get(transfer_state.outcome)
        if payout.status in AWAITING_OUTCOME and new_status is not None:
            if actor == OPERATOR:
                data = {"outcome": transfer_state.outcome.value}
                record(session, Action.PAYOUT_RESOLVED, account_id=payout.account_id, subject=payout.id, data=data)
            return _finish_payout(session, payout, new_status, transfer_state.reason, actor, has_merchant=has_merchant)
        if payout.status == PAID and new_status == RETURNED:
            return _return_payout(session, payout, transfer_state.reason, actor, has_merchant=has_merchant)
        if is_contradiction(payout.status, transfer_state.outcome):
            create_review(session, payout.id, CONTRADICTION, status=payout.status, told=transfer_state.outcome.value)
        return payout.status


def mark_needs_review(payout_id: str) -> str:
    """After 72 hours without an outcome a person has to look. Callbacks and operators still get the status checked."""
    with transaction() as session:
        payout = update_status(
            session, payout_id, NEEDS_REVIEW, from_statuses=(PROCESSING,), actor=SERVICE, reason="no outcome"
        )
        if payout is not None:
            create_review(session, payout_id, TOO_LONG, submittedAt=str(payout.submitted_at))
        return lock_payout(session, payout_id).status


def lock_payout(session: OrmSession, payout_id: str) -> Payout:
    return session.get_one(Payout, payout_id, with_for_update=True, populate_existing=True)


def has_other_amount(payout: Payout, amount_minor: int | None, currency: str | None) -> bool:
    """Whether a message names another amount or currency than the payout's; None means that it names none."""
    return amount_minor not in (None, payout.amount_minor) or currency not in (None, CURRENCY)


def is_contradiction(status: str, outcome: TransferOutcome) -> bool:
    """Whether the outcome cannot be true while the payout has this status."""
    if status in AWAITING_OUTCOME or outcome is TransferOutcome.UNKNOWN:
        return False
    if status == FAILED:
        return outcome not in (TransferOutcome.FAILED, TransferOutcome.NOT_FOUND)
    if status in (PAID, RETURNED):
        return outcome not in (OUTCOME_BY_STATUS[status], TransferOutcome.ACCEPTED)
    return outcome is not TransferOutcome.NOT_FOUND


def _finish_payout(
    session: OrmSession, payout: Payout, new_status: str, reason: str | None, actor: str, *, has_merchant: bool
) -> str:
    """Record the first final outcome. A payout that was paid and bounced before the first check takes both steps."""
    step = FAILED if new_status == FAILED else PAID
    update_status(
        session, payout.id, step, from_statuses=AWAITING_OUTCOME, actor=actor, reason=reason, settled_at=func.now()
    )
    if step == FAILED:
        post_release(session, payout.id, payout.account_id, payout.amount_minor)
        enqueue("payouts.mail", template="payout_failed", payout_id=payout.id)
        return FAILED
    post_payout(session, payout.id, payout.account_id, payout.amount_minor, shown_as=payout.shown_as)
    if new_status == RETURNED:
        return _return_payout(session, payout, reason, actor, has_merchant=has_merchant)
    enqueue("payouts.mail", template="payout_paid", payout_id=payout.id)
    enqueue("payouts.follow", delay=FIRST_BOUNCE_CHECK, aggregate=f"payout:{payout.id}", payout_id=payout.id)
    return PAID


def _return_payout(session: OrmSession, payout: Payout, reason: str | None, actor: str, *, has_merchant: bool) -> str:
    update_status(
        session, payout.id, RETURNED, from_statuses=(PAID,), actor=actor, reason=reason, settled_at=func.now()
    )
    post_return(session, payout.id, payout.account_id, payout.amount_minor, shown_as=payout.shown_as)
    if has_merchant:
        enqueue("payouts.mail", template="payout_returned", payout_id=payout.id)
    else:
        create_review(session, payout.id, MERCHANT_DELETED, amountMinor=payout.amount_minor)
    return RETURNED


def _lock_merchant(session: OrmSession, payout_id: str) -> bool:
    """Whether the payout's account is still a merchant. The lock makes a deletion wait, or waits for it."""
    account_id = select(Payout.account_id).where(Payout.id == payout_id).scalar_subquery()
    statement = select(Account.id).where(Account.id == account_id, Account.roles.contains(["merchant"]))
    return session.scalar(statement.with_for_update(read=True)) is not None


MAX_REASON_LENGTH = 200


def post_hold(session: OrmSession, payout_id: str, owner_id: str, amount: int) -> Balances:
    """Move the amount from available to held. Raises InsufficientFunds."""
    return post_transaction(session, HOLD, payout_id, owner_id, {MERCHANT_BALANCE: -amount, MERCHANT_HELD: amount})


def post_release(session: OrmSession, payout_id: str, owner_id: str, amount: int) -> Balances:
    """Move the held amount back to available."""
    return post_transaction(session, RELEASE, payout_id, owner_id, {MERCHANT_HELD: -amount, MERCHANT_BALANCE: amount})


def post_payout(session: OrmSession, payout_id: str, owner_id: str, amount: int, *, shown_as: str) -> Balances:
    """Post that the held amount has left by the rail."""
    legs = {MERCHANT_HELD: -amount, RAIL_CLEARING: amount}
    return post_transaction(session, PAYOUT, payout_id, owner_id, legs, description=f"Payout to {shown_as}")


def post_return(session: OrmSession, payout_id: str, owner_id: str, amount: int, *, shown_as: str) -> Balances:
    """Post that a paid amount came back: the compensating transaction of a bounce."""
    legs = {RAIL_CLEARING: -amount, MERCHANT_BALANCE: amount}
    return post_transaction(session, RETURN, payout_id, owner_id, legs, description=f"Returned from {shown_as}")


def update_status(
    session: OrmSession,
    payout_id: str,
    new_status: str,
    *,
    from_statuses: Collection[str],
    actor: str,
    reason: str | None = None,
    conditions: Collection[ColumnElement[bool]] = (),
    **column_values: object,
) -> Payout | None:
    """The payout with its new status; None when its status is another or a condition fails.

    A trigger writes the payout's history. Raises ValueError for a step that does not exist.
    """
    if any(new_status not in STEPS[status] for status in from_statuses):
        raise ValueError(f"{from_statuses} -> {new_status}")
    return session.scalars(
        update(Payout)
        .where(Payout.id == payout_id, Payout.status.in_(from_statuses), *conditions)
        .values(
            status=new_status,
            actor=actor,
            reason=reason[:MAX_REASON_LENGTH] if reason else None,
            updated_at=func.now(),
            version=Payout.version + 1,
            **column_values,
        )
        .returning(Payout)
        .execution_options(populate_existing=True, synchronize_session=False)
    ).first()


def cancel_payouts(
    session: OrmSession,
    payout_ids: Sequence[str],
    *,
    actor: str,
    reason: str | None = None,
    conditions: Collection[ColumnElement[bool]] = (),
) -> list[Payout]:
    """Cancel those of the payouts that have not left; return them. Their amounts are available again.

    All payouts are updated before the first amount is posted, so that the balance is locked last.
    """
    payouts = [
        update_status(
            session,
            payout_id,
            CANCELLED,
            from_statuses=CANCELLABLE,
            actor=actor,
            reason=reason,
            conditions=conditions,
            settled_at=func.now(),
        )
        for payout_id in payout_ids
    ]
    cancelled = [payout for payout in payouts if payout is not None]
    for payout in cancelled:
        post_release(session, payout.id, payout.account_id, payout.amount_minor)
        outbox.cancel(f"payout:{payout.id}")
    return cancelled
