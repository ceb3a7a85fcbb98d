"""Cancelling payouts that have not left: all of them take the step first, then their amounts go back.

The purse is locked last, as by every other step of a payout, so that two of them never wait for each other.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import func
from sqlalchemy.orm import Session as OrmSession

from app.core import outbox
from app.payouts.models import Payout
from app.payouts.moving import release
from app.payouts.states import CANCELLABLE, CANCELLED
from app.payouts.steps import step


def cancel(
    session: OrmSession,
    payout_ids: Sequence[str],
    *,
    actor: str,
    reason: str | None = None,
    where: Collection[Any] = (),
) -> list[Payout]:
    """Those of the payouts that could still be cancelled, and are now; their amounts are available again."""
    steps = [
        step(
            session,
            payout_id,
            CANCELLED,
            since=CANCELLABLE,
            actor=actor,
            reason=reason,
            where=where,
            settled_at=func.now(),
        )
        for payout_id in payout_ids
    ]
    cancelled = [payout for payout in steps if payout is not None]
    for payout in cancelled:
        release(session, payout.id, payout.account_id, payout.amount_minor)
        outbox.cancel(f"payout:{payout.id}")
    return cancelled
