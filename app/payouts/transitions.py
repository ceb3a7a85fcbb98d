"""Steps of payouts: a conditional UPDATE of the payout, and the ledger transaction that belongs to it.

Of two concurrent steps, the second matches no row and does nothing. Steps lock the merchant's balance last, so two of
them never wait for each other.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, func, update
from sqlalchemy.orm import Session as OrmSession

from app.core import outbox
from app.ledger.models import HOLD, MERCHANT_BALANCE, MERCHANT_HELD, PAYOUT, RAIL_CLEARING, RELEASE, RETURN
from app.ledger.transactions import Balances, post_transaction
from app.payouts.models import Payout
from app.payouts.states import CANCELLABLE, CANCELLED, STEPS

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
