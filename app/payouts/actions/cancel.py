"""Taking a wish to be paid back."""

from typing import Any

from sqlalchemy import select

from app.accounts.caller import Caller
from app.core.errors import NotFound
from app.core.transaction import transaction
from app.payouts import queries
from app.payouts.cancellation import cancel
from app.payouts.errors import NotCancellable
from app.payouts.models import Payout
from app.payouts.states import CANCELLED, MERCHANT


def cancel_payout(*, caller: Caller, id: str) -> dict[str, Any]:
    """The payout, cancelled, and its amount given back; doing it again changes nothing.

    It and the claim of the worker are conditional updates of one row, so one of them wins. Raises NotFound,
    NotCancellable.
    """
    with transaction() as session:
        own = (Payout.account_id == caller.id,)
        cancelled = cancel(session, [id], actor=MERCHANT, where=own)
        if cancelled:
            return queries.shown(cancelled[0])
        payout = session.scalar(select(Payout).where(Payout.id == id, *own))
    if payout is None:
        raise NotFound()
    if payout.status != CANCELLED:
        raise NotCancellable(status=payout.status)
    return queries.shown(payout)
