"""Telling the owner of a payout to a new destination, before it leaves."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select, update

from app.accounts.models import Account
from app.clients.letters import letter
from app.clients.mail import send
from app.clients.message import Message
from app.core.dates import moment
from app.core.db import db, release
from app.core.jobs import Permanent
from app.core.money import spoken
from app.core.transaction import transaction
from app.payouts.cancellation import cancel
from app.payouts.links import stop_url
from app.payouts.models import Payout
from app.payouts.reviewing import OWNER_NOT_TOLD, review
from app.payouts.states import CANCELLABLE, SERVICE

REASON = "OWNER_NOT_TOLD"


def tell_owner(payout: Payout, *, fence: Callable[[], None]) -> None:
    """Mails the owner, and lets the payout rest from then on. One that can never be told of is cancelled.

    Raises Transient or Ambiguous: then it is tried again, and the payout does not leave before.
    """
    try:
        send(_message(payout), fence=fence)
    except Permanent as error:
        _cancel_untold(payout.id, str(error))
    else:
        _begin_rest(payout.id)


def _message(payout: Payout) -> Message:
    account = db.session.execute(select(Account.email, Account.name).where(Account.id == payout.account_id)).one()
    span = payout.held_until - payout.created_at if payout.held_until else None
    leaves = max(item for item in (payout.held_until, payout.scheduled_for) if item)
    message = letter(
        "payout_new_destination",
        to=account.email,
        key=f"payout:{payout.id}",
        name=account.name,
        amount=spoken(payout.amount_minor),
        destination=payout.shown_as,
        when=moment(leaves),
        waits=bool(span) or payout.scheduled_for is not None,
        stop_url=stop_url(payout.id),
        payout_id=payout.id,
    )
    release()
    return message


def _begin_rest(payout_id: str) -> None:
    """The time to stop it counts from when the mail has left."""
    until: Any = func.now() + (Payout.held_until - Payout.created_at)
    with transaction() as session:
        session.execute(
            update(Payout)
            .where(Payout.id == payout_id, Payout.status.in_(CANCELLABLE), Payout.owner_told_at.is_(None))
            .values(
                owner_told_at=func.now(),
                held_until=until,
                due_at=func.greatest(until, Payout.scheduled_for),
                updated_at=func.now(),
                version=Payout.version + 1,
            )
            .execution_options(synchronize_session=False)
        )


def _cancel_untold(payout_id: str, error: str) -> None:
    with transaction() as session:
        if cancel(session, [payout_id], actor=SERVICE, reason=REASON):
            review(session, payout_id, OWNER_NOT_TOLD, error=error[:200])
