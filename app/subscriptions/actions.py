"""Actions on subscriptions: channel preferences, unsubscribing and resubscribing by link, and push devices.

Unsubscribing and resubscribing may be repeated. A device token belongs to the account that
registered it last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, delete, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.sql.dml import ReturningInsert

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.core.errors import StaleVersion, Unauthorised
from app.core.ids import new_id
from app.core.transaction import transaction
from app.subscriptions import queries
from app.subscriptions.channels import CHANNELS
from app.subscriptions.message_links import UnsubscribeTarget
from app.subscriptions.models import PushDevice, Suppression, Unsubscribe
from app.subscriptions.sql import UPDATE_PREFERENCES_SQL

MAX_DEVICES = 20
MAX_REASON_LENGTH = 300


@dataclass(frozen=True)
class PushDeviceRow:
    """A registered device, without its token."""

    id: str
    platform: str
    created_at: datetime
    seen_at: datetime


def update_preferences(
    *,
    caller: Caller,
    expected_version: int | None,
    resubscribe: Sequence[str] = (),
    unsubscribed_from_all: bool | None = None,
    **channel_flags: bool,
) -> queries.Preferences:
    """Updates the caller's preferences and returns all of them.

    `channel_flags` switch channels on or off by name. `resubscribe` has ids of organisers who may write again;
    `unsubscribed_from_all` stops or allows the messages of all organisers. Raises StaleVersion, Unauthorised.
    """
    changed_channels = {channel: channel_flags[channel] for channel in CHANNELS if channel in channel_flags}
    with transaction() as session:
        lock_account(session, caller.id)
        if expected_version not in (None, queries.load_preferences(caller)["version"]):
            raise StaleVersion()
        session.execute(
            UPDATE_PREFERENCES_SQL,
            {
                "account_id": caller.id,
                "address": caller.email,
                "channels": list(changed_channels),
                "flags": list(changed_channels.values()),
                "resubscribe": list(resubscribe),
                "from_all": unsubscribed_from_all,
                "id": new_id(),
            },
        )
        return queries.load_preferences(caller)


def unsubscribe(target: UnsubscribeTarget, *, from_all: bool = False) -> None:
    """Unsubscribes the address from the link's organiser, or from all organisers, on every channel.

    If the organiser had stopped the address, the wish of the person counts from now on.
    """
    organiser_id = None if from_all else target.organiser_id
    statement = insert(Unsubscribe)
    if organiser_id is None:
        statement = statement.values(address=target.address)
    else:
        row = select(literal(new_id()), literal(target.address), Account.id).where(Account.id == organiser_id)
        statement = statement.from_select(["id", "address", "organiser_id"], row)
    with transaction() as session:
        session.execute(
            statement.on_conflict_do_update(
                index_elements=[Unsubscribe.address, Unsubscribe.organiser_id],
                set_={"by_organiser": False},
                where=Unsubscribe.by_organiser.is_(True),
            )
        )


def resubscribe(target: UnsubscribeTarget) -> None:
    """Removes the unsubscription from the link's organiser and the one from all; others stay."""
    from_organiser = Unsubscribe.organiser_id == target.organiser_id
    from_all = Unsubscribe.organiser_id.is_(None)
    with transaction() as session:
        session.execute(delete(Unsubscribe).where(Unsubscribe.address == target.address, from_organiser | from_all))


def register_device(*, caller: Caller, token: str, platform: str) -> PushDeviceRow:
    """Registers the device for the caller, and deletes the oldest ones beyond MAX_DEVICES. Raises Unauthorised."""
    with transaction() as session:
        lock_account(session, caller.id)
        device = PushDeviceRow(*session.execute(_build_device_upsert(caller.id, token, platform)).one())
        oldest = (
            select(PushDevice.id)
            .where(PushDevice.account_id == caller.id, PushDevice.id != device.id)
            .order_by(PushDevice.seen_at.desc(), PushDevice.id.desc())
            .offset(MAX_DEVICES - 1)
            # A device that another account is taking over is skipped: waiting for it could deadlock two accounts.
            .with_for_update(skip_locked=True)
        )
        session.execute(delete(PushDevice).where(PushDevice.id.in_(oldest)))
    return device


def remove_device(*, caller: Caller, token: str) -> bool:
    """Removes the caller's device. Returns whether they had it."""
    own_device = delete(PushDevice).where(PushDevice.account_id == caller.id, PushDevice.token == token)
    with transaction() as session:
        return session.scalar(own_device.returning(PushDevice.id)) is not None


def suppress_address(channel: str, address: str, reason: str) -> None:
    """Stores that this e-mail address or phone number has a permanent error, with the reason. May be repeated."""
    if channel == "push":
        return
    with transaction() as session:
        row = {"channel": channel, "address": address, "reason": reason[:MAX_REASON_LENGTH]}
        session.execute(insert(Suppression).values(row).on_conflict_do_nothing())


def delete_device(device_id: str) -> None:
    """Deletes a device that its push service no longer knows."""
    with transaction() as session:
        session.execute(delete(PushDevice).where(PushDevice.id == device_id))


def lock_account(session: OrmSession, account_id: str) -> None:
    """Locks the account against other changes of its preferences and devices until the transaction ends.

    Raises Unauthorised when the account was deleted.
    """
    account = select(Account.id).where(Account.id == account_id, func.cardinality(Account.roles) > 0)
    if session.scalar(account.with_for_update(key_share=True)) is None:
        raise Unauthorised()


def _build_device_upsert(account_id: str, token: str, platform: str) -> ReturningInsert[str, str, datetime, datetime]:
    statement = insert(PushDevice).values(account_id=account_id, token=token, platform=platform)
    is_same_owner = PushDevice.account_id == statement.excluded.account_id
    return statement.on_conflict_do_update(
        index_elements=[PushDevice.token],
        set_={
            "id": case((is_same_owner, PushDevice.id), else_=statement.excluded.id),
            "created_at": case((is_same_owner, PushDevice.created_at), else_=func.now()),
            "account_id": statement.excluded.account_id,
            "platform": statement.excluded.platform,
            "seen_at": func.now(),
        },
    ).returning(PushDevice.id, PushDevice.platform, PushDevice.created_at, PushDevice.seen_at)
