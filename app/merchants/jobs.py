"""What follows when a merchant has gone."""

from datetime import datetime

from sqlalchemy import update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.retirement import on_account_retired
from app.clients.letters import letter
from app.clients.mail import send
from app.core.dates import moment
from app.core.jobs import Delivery, Run, job
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.merchants.farewell import Erased, forget_everywhere
from app.merchants.models import Merchant
from app.merchants.states import CLOSED, DELETED


@job("merchants.farewell", Delivery.LOCAL)
def farewell(
    run: Run,
    *,
    account_id: str,
    email: str,
    name: str,
    erased_at: str | None = None,
    returns_until: str | None = None,
    unmailed: bool = False,
) -> None:
    """Has the domains above forget the merchant, and the person told at the address there was, if it was verified."""
    erased = Erased(account_id, datetime.fromisoformat(erased_at) if erased_at else None)
    with transaction() as session:
        run.done_in(session)
        forget_everywhere(session, erased)
        if unmailed:
            return
        enqueue("merchants.mail_farewell", email=email, name=name, account_id=account_id, returns_until=returns_until)


@job("merchants.mail_farewell", Delivery.AT_LEAST_ONCE)
def mail_farewell(run: Run, *, email: str, name: str, account_id: str = "", returns_until: str | None = None) -> None:
    """Says that the merchant is deleted, to whoever may not have wanted it, and until when money may come back."""
    until = moment(datetime.fromisoformat(returns_until)) if returns_until else ""
    mail = letter("merchant_deleted", to=email, key=run.key, name=name, until=until, account_id=account_id)
    send(mail, fence=run.fence)


@on_account_retired
def erase_merchant(session: OrmSession, account_id: str) -> None:
    """Erases the payout details and settings of a retired account, and what the domains above know of the merchant."""
    session.execute(
        update(Merchant)
        .where(Merchant.account_id == account_id)
        .values(status=DELETED, floor_status=CLOSED, payout_details=None, settings={}, version=Merchant.version + 1)
        .execution_options(synchronize_session=False)
    )
    forget_everywhere(session, Erased(account_id, at=None))
