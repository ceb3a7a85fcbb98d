"""Stopping payouts to a new destination by the link in the mail that told of them."""

from sqlalchemy import or_, select

from app.core.errors import NotFound
from app.core.transaction import transaction
from app.payouts.cancellation import cancel
from app.payouts.models import Payout
from app.payouts.states import CANCELLABLE, MERCHANT

STOPPED_BY_LINK = "STOPPED_BY_LINK"


def stop_payouts(payout_id: str) -> int:
    """Cancels the payout and every other one to its destination that rests; how many. Raises NotFound.

    They are locked in the order of their ids, so two that stop the same ones never wait for each other.
    """
    with transaction() as session:
        payout = session.get(Payout, payout_id, populate_existing=True)
        if payout is None:
            raise NotFound()
        same = (Payout.wallet_mark == payout.wallet_mark) & Payout.held_until.is_not(None)
        resting = session.scalars(
            select(Payout.id)
            .where(
                Payout.account_id == payout.account_id,
                Payout.status.in_(CANCELLABLE),
                or_(Payout.id == payout.id, same),
            )
            .order_by(Payout.id)
            .with_for_update()
        ).all()
        return len(cancel(session, resting, actor=MERCHANT, reason=STOPPED_BY_LINK))
