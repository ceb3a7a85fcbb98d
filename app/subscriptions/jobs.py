"""What becomes of a person's ways to be reached when the person goes."""

from sqlalchemy import delete, exists
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.merchants.erasure import Leaving, erases_with_merchant
from app.subscriptions.models import ChannelPreference, PushDevice


@erases_with_merchant
def erase_ways(session: OrmSession, leaving: Leaving) -> None:
    """Forgets the devices and wishes of a deleted account; of one that lives on in another role, nothing.

    That somebody unsubscribed stays: who goes must not be written to again.
    """
    gone = exists().where(Account.id == leaving.account_id, Account.roles == [])
    devices = delete(PushDevice).where(PushDevice.account_id == leaving.account_id, gone)
    wishes = delete(ChannelPreference).where(ChannelPreference.account_id == leaving.account_id, gone)
    session.execute(wishes.add_cte(devices.cte("devices")).execution_options(synchronize_session=False))
