"""What people do about messages: wishes, devices, and saying no.

Changing one's wishes: which channels, and which organisers may write again.

Saying no by a link, and taking it back. Each is one statement, and the same however often it comes.

Devices for push messages: a token belongs to the account that signed in on it last.

One at a time for what belongs to an account.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import StaleVersion, Unauthorised
from app.core.ids import new_id
from app.core.transaction import transaction, write_row
from app.subscriptions import queries
from app.subscriptions.channels import CHANNELS
from app.subscriptions.unsubscribe_links import UnsubscribeTarget

UPDATE_PREFERENCES_SQL = text("""
    WITH wish AS (
        INSERT INTO channel_preference AS known (account_id, channel, wanted)
        SELECT :account_id, asked.* FROM unnest(CAST(:channels AS text[]), CAST(:wanted AS boolean[])) AS asked
            ON CONFLICT (account_id, channel) DO UPDATE
           SET wanted = excluded.wanted, version = known.version + 1, updated_at = now()
         WHERE known.wanted <> excluded.wanted
    ), again AS (
        DELETE FROM unsubscribe WHERE address = :address
           AND (organiser_id = ANY(:resubscribe) OR (organiser_id IS NULL AND :from_all IS FALSE))
    )
    INSERT INTO unsubscribe (id, address) SELECT :id, :address WHERE :from_all ON CONFLICT DO NOTHING
""")


def update_preferences(
    *,
    caller: Caller,
    expected_version: int | None,
    resubscribe: Sequence[str] = (),
    unsubscribed_from_all: bool | None = None,
    **channel_flags: bool,
) -> dict[str, Any]:
    """The caller's wishes with these changes: a channel's name with whether it is wanted; organisers (ids) that may
    write again; none at all from any organiser. What is not named stays. Raises StaleVersion."""
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
                "wanted": list(changed_channels.values()),
                "resubscribe": list(resubscribe),
                "from_all": unsubscribed_from_all,
                "id": new_id(),
            },
        )
        return queries.load_preferences(caller)


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


def unsubscribe(target: UnsubscribeTarget, *, from_all: bool = False) -> None:
    """Ends the messages that the link is about, on every channel; with `everything`, those of all organisers."""
    organiser_id = None if from_all else target.organiser_id
    write_row(UNSUBSCRIBE_SQL, {"id": new_id(), "address": target.address, "organiser_id": organiser_id})


def resubscribe(target: UnsubscribeTarget) -> None:
    """Lets the organiser of the link write again, and all whose messages were not ended one by one."""
    write_row(RESUBSCRIBE_SQL, {"address": target.address, "organiser_id": target.organiser_id})


MAX_DEVICES = 20
REGISTER_DEVICE_SQL = text("""
    INSERT INTO push_device AS known (id, account_id, token, platform)
    VALUES (:id, :account_id, :token, :platform)
        ON CONFLICT (token) DO UPDATE
       SET id = CASE WHEN known.account_id = excluded.account_id THEN known.id ELSE excluded.id END,
           created_at = CASE WHEN known.account_id = excluded.account_id THEN known.created_at ELSE now() END,
           account_id = excluded.account_id, platform = excluded.platform, seen_at = now()
 RETURNING id, platform, created_at, seen_at
""")
# One that somebody is taking over at this moment is not waited for: two accounts might wait for each other.
DELETE_OLDEST_DEVICES_SQL = text("""
    DELETE FROM push_device WHERE id IN (
        SELECT id FROM push_device WHERE account_id = :account_id AND id <> :id
         ORDER BY seen_at DESC, id DESC OFFSET :others FOR UPDATE SKIP LOCKED)
""")
REMOVE_DEVICE_SQL = "DELETE FROM push_device WHERE account_id = %(account_id)s AND token = %(token)s RETURNING id"


def register_device(*, caller: Caller, token: str, platform: str) -> dict[str, Any]:
    """The device, from now on the caller's. Of more than 20, those not seen for longest go."""
    with transaction() as session:
        lock_account(session, caller.id)
        params = {"id": new_id(), "account_id": caller.id, "token": token, "platform": platform}
        device = dict(session.execute(REGISTER_DEVICE_SQL, params).one()._mapping)
        session.execute(
            DELETE_OLDEST_DEVICES_SQL, {"account_id": caller.id, "id": device["id"], "others": MAX_DEVICES - 1}
        )
    return device


def remove_device(*, caller: Caller, token: str) -> dict[str, Any]:
    """Whether the caller had the device; from now on they have not."""
    return {"removed": write_row(REMOVE_DEVICE_SQL, {"account_id": caller.id, "token": token}) is not None}


LOCK_ACCOUNT_SQL = text("SELECT id FROM account WHERE id = :id AND roles <> '{}' FOR NO KEY UPDATE")


def lock_account(session: OrmSession, account_id: str) -> None:
    """Lets others wait who change the wishes or devices of this account, until the transaction ends.

    Raises Unauthorised when the account was deleted meanwhile: nothing may be written for it any more.
    """
    if session.scalar(LOCK_ACCOUNT_SQL, {"id": account_id}) is None:
        raise Unauthorised()
