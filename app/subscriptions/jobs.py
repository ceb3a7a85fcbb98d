"""What becomes of a person's ways to be reached when the person goes."""

from sqlalchemy import delete, exists
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.merchants.farewell import Erased, forgets_merchants
from app.subscriptions.models import ChannelPreference, PushDevice


@forgets_merchants
def forget(session: OrmSession, erased: Erased) -> None:
    """Forgets the devices and wishes of a deleted account; of one that lives on in another role, nothing.

    That somebody unsubscribed stays: who goes must not be written to again.
    """
    gone = exists().where(Account.id == erased.account_id, Account.roles == [])
    for table in (PushDevice, ChannelPreference):
        session.execute(delete(table).where(table.account_id == erased.account_id, gone))
