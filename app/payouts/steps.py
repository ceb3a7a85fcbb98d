"""A step of a payout: one conditional UPDATE. Whoever comes second finds no row, and does nothing."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import func, update
from sqlalchemy.orm import Session as OrmSession

from app.payouts.models import Payout
from app.payouts.states import STEPS

LONGEST_REASON = 200


def step(
    session: OrmSession,
    payout_id: str,
    wanted: str,
    *,
    since: Collection[str],
    actor: str,
    reason: str | None = None,
    where: Collection[Any] = (),
    **values: Any,
) -> Payout | None:
    """The payout after the step; None when it was in none of these states any more. A trigger writes its history."""
    if any(wanted not in STEPS[status] for status in since):
        raise ValueError(f"{since} -> {wanted}")
    return session.scalars(
        update(Payout)
        .where(Payout.id == payout_id, Payout.status.in_(since), *where)
        .values(
            status=wanted,
            actor=actor,
            reason=reason[:LONGEST_REASON] if reason else None,
            updated_at=func.now(),
            version=Payout.version + 1,
            **values,
        )
        .returning(Payout)
        .execution_options(populate_existing=True, synchronize_session=False)
    ).first()
