"""What each step does to the books: which legs, on which accounts.

A step of a payout: one conditional UPDATE. Anyone who comes second finds no row, and does nothing.

Cancelling payouts that have not left: all of them take the step first, then their amounts go back.

The purse is locked last, as by every other step of a payout, so that two of them never wait for each other.

What a person has to look at: written beside whatever was found, never twice while it is open, told to operators.
"""

from collections.abc import Collection, Sequence
from typing import Any

import structlog
from sqlalchemy import func, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.core import outbox
from app.core.outbox import enqueue
from app.ledger.models import HOLD, MERCHANT_BALANCE, MERCHANT_HELD, PAYOUT, RAIL_CLEARING, RELEASE, RETURN
from app.ledger.transactions import Balances, post_transaction
from app.payouts.models import Payout, PayoutReview
from app.payouts.states import CANCELLABLE, CANCELLED, STEPS


def post_hold(session: OrmSession, payout_id: str, owner_id: str, amount: int) -> Balances:
    """Sets the amount aside. Raises InsufficientFunds."""
    return post_transaction(session, HOLD, payout_id, owner_id, {MERCHANT_BALANCE: -amount, MERCHANT_HELD: amount})


def post_release(session: OrmSession, payout_id: str, owner_id: str, amount: int) -> Balances:
    """Gives back what was set aside."""
    return post_transaction(session, RELEASE, payout_id, owner_id, {MERCHANT_HELD: -amount, MERCHANT_BALANCE: amount})


def post_payout(session: OrmSession, payout_id: str, owner_id: str, amount: int, *, shown_as: str) -> Balances:
    """What was set aside has left."""
    legs = {MERCHANT_HELD: -amount, RAIL_CLEARING: amount}
    return post_transaction(session, PAYOUT, payout_id, owner_id, legs, description=f"Payout to {shown_as}")


def post_return(session: OrmSession, payout_id: str, owner_id: str, amount: int, *, shown_as: str) -> Balances:
    """What had left has come back: the compensating entry of a bounce."""
    legs = {RAIL_CLEARING: -amount, MERCHANT_BALANCE: amount}
    return post_transaction(session, RETURN, payout_id, owner_id, legs, description=f"Returned from {shown_as}")


MAX_REASON_LENGTH = 200


def update_status(
    session: OrmSession,
    payout_id: str,
    new_status: str,
    *,
    from_statuses: Collection[str],
    actor: str,
    reason: str | None = None,
    conditions: Collection[Any] = (),
    **values: Any,
) -> Payout | None:
    """The payout after the step; None when it was in none of these states any more. A trigger writes its history."""
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
            **values,
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
    conditions: Collection[Any] = (),
) -> list[Payout]:
    """Those of the payouts that could still be cancelled, and are now; their amounts are available again."""
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


TOO_LONG, CONTRADICTION, MISMATCH, UNKNOWN_REFERENCE = "no_outcome", "contradiction", "mismatch", "unknown_reference"
OWNER_NOT_TOLD, MERCHANT_DELETED, RETIRED_WITH_MONEY = "owner_not_told", "merchant_deleted", "retired_with_money"
REVIEW_TEXTS = {
    TOO_LONG: "The rail has not said for 72 hours how this payout ended. The amount is held.",
    CONTRADICTION: "What the rail says now does not fit how this payout ended. Nothing was booked.",
    MISMATCH: "The rail names another amount or currency than was paid out. Nothing was booked.",
    UNKNOWN_REFERENCE: "The rail names a transfer that this service does not know.",
    OWNER_NOT_TOLD: "The mail about a payout to a new destination was refused. The payout was cancelled.",
    MERCHANT_DELETED: "This payout came back after its merchant had deleted the account. Nobody can request the money; "
    "decide what becomes of it.",
    RETIRED_WITH_MONEY: "This account has money, and its address has gone to somebody else before it was verified. "
    "Find out whose the money is.",
}
log = structlog.get_logger(__name__)


def create_review(session: OrmSession, reference: str, kind: str, **detail: Any) -> None:
    """Adds a row and has operators told, unless one of that kind is open already."""
    log.warning("payout.review", reference=reference, kind=kind)
    review_id = session.scalar(
        insert(PayoutReview)
        .values(reference=reference, kind=kind, detail=detail)
        .on_conflict_do_nothing(index_elements=["reference", "kind"], index_where=text("resolved_at IS NULL"))
        .returning(PayoutReview.id)
    )
    if review_id is not None:
        enqueue("payouts.notify_operators", review_id=review_id)
