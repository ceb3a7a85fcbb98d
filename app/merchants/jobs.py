"""Jobs after the deletion of a merchant, and the erasure of a retired account."""

from datetime import datetime

from sqlalchemy import update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.account_lifecycle import on_account_retired
from app.accounts.models import Account
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.core.formatting import format_time
from app.core.jobs import Delivery, Permanent, Run, job
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.merchants.deletion_hooks import MerchantDeletion, run_deletion_hooks
from app.merchants.models import Merchant
from app.merchants.states import CLOSED, DELETED


@job("merchants.farewell", Delivery.LOCAL, personal=True)
def finish_old_deletion(
    run: Run, *, account_id: str = "", email: str = "", name: str = "", returns_until: str | None = None, **_: object
) -> None:
    """Finishes a deletion that an older release began.

    Nothing is erased once the account is a merchant again, because the rows may then belong to the new profile.
    """
    with transaction() as session:
        run.done_in(session)
        account = session.get(Account, account_id, with_for_update=True)
        if account is not None and "merchant" not in account.roles:
            run_deletion_hooks(session, MerchantDeletion(account_id))
        if email:
            enqueue(
                "merchants.mail_farewell", email=email, name=name, account_id=account_id, returns_until=returns_until
            )


@job("merchants.mail_farewell", Delivery.AT_LEAST_ONCE, personal=True)
def mail_deletion_notice(
    run: Run, *, email: str = "", name: str = "", account_id: str = "", returns_until: str | None = None
) -> None:
    """Confirms the deletion by mail, with the time until which money may come back."""
    if not email:
        raise Permanent("the address was erased when this ended")
    formatted_time = format_time(datetime.fromisoformat(returns_until)) if returns_until else ""
    message = render_email(
        "merchant_deleted", to=email, key=run.key, name=name, until=formatted_time, account_id=account_id
    )
    send(message, fence=run.fence)


@on_account_retired
def erase_retired_merchant(session: OrmSession, account_id: str) -> None:
    """Erases the payout details and settings of a retired account, and the merchant's data in other domains."""
    session.execute(
        update(Merchant)
        .where(Merchant.account_id == account_id)
        .values(status=DELETED, floor_status=CLOSED, payout_details=None, settings={}, version=Merchant.version + 1)
        .execution_options(synchronize_session=False)
    )
    run_deletion_hooks(session, MerchantDeletion(account_id, retired=True))
