"""Taking a wish to be paid back."""

from typing import Any

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.core import outbox
from app.core.errors import NotFound
from app.core.transaction import transaction
from app.payouts import queries
from app.payouts.errors import NotCancellable
from app.payouts.models import Payout
from app.payouts.moving import release
from app.payouts.states import CANCELLABLE, CANCELLED, MERCHANT
from app.payouts.steps import step


def cancel_payout(*, caller: Caller, id: str) -> dict[str, Any]:
    """The payout, cancelled, and its amount given back; doing it again changes nothing.

    It and the claim of the worker are conditional updates of one row, so one of them wins. Raises NotFound,
    NotCancellable.
    """
    with transaction() as session:
        own = (Payout.account_id == caller.id,)
        payout = step(
            session, id, CANCELLED, since=CANCELLABLE, actor=MERCHANT, where=own, settled_at=func.now()
        )  # fmt: skip
        if payout is not None:
            release(session, payout.id, caller.id, payout.amount_minor)
            outbox.cancel(f"payout:{payout.id}")
            return queries.shown(payout)
        payout = session.scalar(select(Payout).where(Payout.id == id, *own))
    if payout is None:
        raise NotFound()
    if payout.status != CANCELLED:
        raise NotCancellable(status=payout.status)
    return queries.shown(payout)
