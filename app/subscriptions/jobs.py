"""Erases devices and channel preferences of deleted merchants."""

from sqlalchemy import delete, exists
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted
from app.subscriptions.models import ChannelPreference, PushDevice


@on_merchant_deleted
def erase_channels(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Deletes the devices and channel preferences of a deleted account; an account with another role keeps them.

    Unsubscriptions stay, so that the address gets no more messages.
    """
    is_deleted = exists().where(Account.id == deletion.account_id, Account.roles == [])
    delete_devices = delete(PushDevice).where(PushDevice.account_id == deletion.account_id, is_deleted)
    delete_preferences = delete(ChannelPreference).where(
        ChannelPreference.account_id == deletion.account_id, is_deleted
    )
    session.execute(
        delete_preferences.add_cte(delete_devices.cte("deleted_devices")).execution_options(synchronize_session=False)
    )
