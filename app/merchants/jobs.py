"""Jobs after the deletion of a merchant, and the erasure of a retired or deleted account."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.account_lifecycle import on_account_retired
from app.accounts.deletion import AccountDeletion, account_deletion_check, lock_before_account, on_account_deleted
from app.accounts.models import Account
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.core.formatting import format_time
from app.core.jobs import Delivery, Permanent, Run, job
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.merchants.deletion_hooks import MerchantDeletion, check_open_money, erase_business, run_deletion_hooks
from app.merchants.models import Merchant


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
    erase_business(session, MerchantDeletion(account_id, retired=True))


@lock_before_account
def lock_merchant_row(session: OrmSession, account_id: str) -> None:
    """Lets payouts and changes of the merchant end first: they lock the merchant before they refer to the account."""
    session.execute(select(Merchant.account_id).where(Merchant.account_id == account_id).with_for_update())


@account_deletion_check
def check_merchant_money(session: OrmSession, account_id: str) -> datetime | None:
    """Until when money that was paid out may come back. Raises BalanceNotZero, PayoutInProgress."""
    return check_open_money(session, account_id)


@on_account_deleted
def erase_merchant(session: OrmSession, deletion: AccountDeletion) -> None:
    """Erases the business, and what all domains have stored about the person as a merchant or an applicant."""
    erase_business(session, MerchantDeletion(deletion.account_id, deletion.email))
