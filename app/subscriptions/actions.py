"""Actions on subscriptions: channel preferences, unsubscribing and resubscribing by link, and push devices.

Unsubscribing and resubscribing are single statements and may be repeated. A device token belongs to the account that
registered it last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import StaleVersion, Unauthorised
from app.core.ids import new_id
from app.core.transaction import transaction, write_row
from app.subscriptions import queries
from app.subscriptions.channels import CHANNELS
from app.subscriptions.message_links import UnsubscribeTarget

MAX_DEVICES = 20
UPDATE_PREFERENCES_SQL = text("""
    WITH changed_preferences AS (
        INSERT INTO channel_preference AS saved (account_id, channel, wanted)
        SELECT :account_id, flag.* FROM unnest(CAST(:channels AS text[]), CAST(:flags AS boolean[])) AS flag
            ON CONFLICT (account_id, channel) DO UPDATE
           SET wanted = excluded.wanted, version = saved.version + 1, updated_at = now()
         WHERE saved.wanted <> excluded.wanted
    ), resubscribed AS (
        DELETE FROM unsubscribe WHERE address = :address
           AND (organiser_id = ANY(:resubscribe) OR (organiser_id IS NULL AND :from_all IS FALSE))
    )
    INSERT INTO unsubscribe (id, address) SELECT :id, :address WHERE :from_all ON CONFLICT DO NOTHING
""")
UNSUBSCRIBE_SQL = """
    INSERT INTO unsubscribe (id, address, organiser_id)
    SELECT %(id)s, %(address)s, CAST(%(organiser_id)s AS text)
     WHERE CAST(%(organiser_id)s AS text) IS NULL OR EXISTS (SELECT FROM account WHERE id = %(organiser_id)s)
        ON CONFLICT DO NOTHING RETURNING id
"""
RESUBSCRIBE_SQL = """
    DELETE FROM unsubscribe
     WHERE address = %(address)s AND (organiser_id = %(organiser_id)s OR organiser_id IS NULL) RETURNING id
"""
REGISTER_DEVICE_SQL = text("""
    INSERT INTO push_device AS saved (id, account_id, token, platform)
    VALUES (:id, :account_id, :token, :platform)
        ON CONFLICT (token) DO UPDATE
       SET id = CASE WHEN saved.account_id = excluded.account_id THEN saved.id ELSE excluded.id END,
           created_at = CASE WHEN saved.account_id = excluded.account_id THEN saved.created_at ELSE now() END,
           account_id = excluded.account_id, platform = excluded.platform, seen_at = now()
 RETURNING id, platform, created_at, seen_at
""")
# A device that another account is taking over is skipped: waiting for it could deadlock two accounts.
DELETE_OLDEST_DEVICES_SQL = text("""
    DELETE FROM push_device WHERE id IN (
        SELECT id FROM push_device WHERE account_id = :account_id AND id <> :id
         ORDER BY seen_at DESC, id DESC OFFSET :limit FOR UPDATE SKIP LOCKED)
""")
REMOVE_DEVICE_SQL = "DELETE FROM push_device WHERE account_id = %(account_id)s AND token = %(token)s RETURNING id"
LOCK_ACCOUNT_SQL = text("SELECT id FROM account WHERE id = :id AND roles <> '{}' FOR NO KEY UPDATE")


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
    """Unsubscribes the address from the link's organiser, or from all organisers, on every channel."""
    organiser_id = None if from_all else target.organiser_id
    write_row(UNSUBSCRIBE_SQL, {"id": new_id(), "address": target.address, "organiser_id": organiser_id})


def resubscribe(target: UnsubscribeTarget) -> None:
    """Removes the unsubscription from the link's organiser and the one from all; others stay."""
    write_row(RESUBSCRIBE_SQL, {"address": target.address, "organiser_id": target.organiser_id})


def register_device(*, caller: Caller, token: str, platform: str) -> PushDeviceRow:
    """Registers the device for the caller, and deletes the oldest ones beyond MAX_DEVICES. Raises Unauthorised."""
    with transaction() as session:
        lock_account(session, caller.id)
        params = {"id": new_id(), "account_id": caller.id, "token": token, "platform": platform}
        device = PushDeviceRow(*session.execute(REGISTER_DEVICE_SQL, params).one())
        session.execute(DELETE_OLDEST_DEVICES_SQL, {"account_id": caller.id, "id": device.id, "limit": MAX_DEVICES - 1})
    return device


def remove_device(*, caller: Caller, token: str) -> bool:
    """Removes the caller's device. Returns whether they had it."""
    return write_row(REMOVE_DEVICE_SQL, {"account_id": caller.id, "token": token}) is not None


def lock_account(session: OrmSession, account_id: str) -> None:
    """Locks the account against other changes of its preferences and devices until the transaction ends.

    Raises Unauthorised when the account was deleted.
    """
    if session.scalar(LOCK_ACCOUNT_SQL, {"id": account_id}) is None:
        raise Unauthorised()
