"""Reads of preferences and unsubscriptions, and SQL conditions for who may not get messages.

Each condition takes SQL expressions (a column, a `:parameter`). With organiser and channel as parameters, PostgreSQL uses
a hash for a whole audience and an index for one person. Use the conditions in a select list or in WHERE, not in the
FILTER of an aggregate, where the planner estimates a single evaluation.
"""

from datetime import datetime
from hashlib import sha256
from typing import TypedDict

from sqlalchemy import text

from app.accounts.caller import Caller
from app.core.db import fetch_row
from app.core.transaction import transaction
from app.subscriptions.message_links import UnsubscribeTarget

MAX_UNSUBSCRIBES_LISTED, VERSION_RANGE = 500, 10**9
ChannelPreferences = dict[str, tuple[bool, int]]
"""Of each channel with a row: whether it is wanted, and the version."""
FROM_ALL, FROM_ORGANISER, FROM_NONE = "all", "organiser", "none"
PREFERENCES_SQL = f"""
    SELECT (SELECT coalesce(jsonb_object_agg(channel, jsonb_build_array(wanted, version)), '{{}}')
              FROM channel_preference WHERE account_id = %(id)s),
           (SELECT coalesce(jsonb_agg(
                       jsonb_build_array(u.id, u.organiser_id, coalesce(p.org_name, a.name), u.created_at)
                       ORDER BY u.created_at DESC, u.id), '[]')
              FROM (SELECT id, organiser_id, created_at FROM unsubscribe
                     WHERE address = %(address)s ORDER BY organiser_id IS NULL DESC, created_at DESC LIMIT {MAX_UNSUBSCRIBES_LISTED}) u
              LEFT JOIN account a ON a.id = u.organiser_id
              LEFT JOIN organiser_profile p ON p.account_id = u.organiser_id)
"""
UNSUBSCRIBE_STATUS_SQL = """
    SELECT coalesce(p.org_name, a.name), a.email,
           EXISTS (SELECT FROM unsubscribe WHERE address = %(address)s AND organiser_id = %(organiser_id)s),
           EXISTS (SELECT FROM unsubscribe WHERE address = %(address)s AND organiser_id IS NULL)
      FROM (VALUES (CAST(%(organiser_id)s AS text))) link (organiser_id)
      LEFT JOIN account a ON a.id = link.organiser_id LEFT JOIN organiser_profile p ON p.account_id = a.id
     WHERE link.organiser_id IS NULL OR a.id IS NOT NULL
"""


class UnsubscribedOrganiser(TypedDict):
    """An organiser who may not write to the caller."""

    organiser_id: str
    name: str
    since: datetime


class Preferences(TypedDict):
    """The caller's channels and unsubscriptions."""

    email: bool
    sms: bool
    push: bool
    unsubscribed_from_all: bool
    unsubscribed_from: list[UnsubscribedOrganiser]
    version: int


class UnsubscribeStatus(TypedDict):
    """The organiser of a link and their address (None for a link to all), and what has `ended`: FROM_… ."""

    organiser: str | None
    contact: str | None
    scope: str


def load_preferences(caller: Caller) -> Preferences:
    """The caller's channels, and the newest unsubscriptions (at most MAX_UNSUBSCRIBES_LISTED).

    `version` is a hash of all values, so it also changes when a link in a mail is used.
    """
    row = fetch_row(PREFERENCES_SQL, {"id": caller.id, "address": caller.email})
    assert row is not None
    channel_preferences, unsubscribes = row
    return {
        "email": _is_wanted(channel_preferences, "email"),
        "sms": _is_wanted(channel_preferences, "sms"),
        "push": _is_wanted(channel_preferences, "push"),
        "unsubscribed_from_all": any(organiser_id is None for _, organiser_id, *_ in unsubscribes),
        "unsubscribed_from": [
            {"organiser_id": organiser_id, "name": name, "since": datetime.fromisoformat(since)}
            for _, organiser_id, name, since in unsubscribes
            if organiser_id is not None
        ],
        "version": _compute_version(channel_preferences, [unsubscribe_id for unsubscribe_id, *_ in unsubscribes]),
    }


def find_unsubscribe_status(target: UnsubscribeTarget) -> UnsubscribeStatus | None:
    """The organiser of an unsubscribe link, and what has ended; None when the organiser no longer exists."""
    row = fetch_row(UNSUBSCRIBE_STATUS_SQL, {"address": target.address, "organiser_id": target.organiser_id})
    if row is None:
        return None
    name, contact, is_unsubscribed, is_unsubscribed_from_all = row
    scope = FROM_ALL if is_unsubscribed_from_all else FROM_ORGANISER if is_unsubscribed else FROM_NONE
    return {"organiser": name, "contact": contact, "scope": scope}


def _is_wanted(channel_preferences: ChannelPreferences, channel: str) -> bool:
    return channel_preferences[channel][0] if channel in channel_preferences else True


def _compute_version(channel_preferences: ChannelPreferences, unsubscribe_ids: list[str]) -> int:
    state = repr((sorted(channel_preferences.items()), sorted(unsubscribe_ids)))
    return int(sha256(state.encode()).hexdigest()[:12], 16) % VERSION_RANGE


SUPPRESS_ADDRESS_SQL = text("""
    INSERT INTO suppression (channel, address, reason) VALUES (:channel, :address, :reason) ON CONFLICT DO NOTHING
""")
DELETE_DEVICE_SQL = text("DELETE FROM push_device WHERE id = :id")
MAX_REASON_LENGTH = 300


def is_unsubscribed_sql(address: str, organiser: str) -> str:
    """SQL: whether this lower-case e-mail address has unsubscribed from the organiser or from all."""
    return f"""EXISTS (SELECT FROM unsubscribe WHERE unsubscribe.address = {address}
        AND (unsubscribe.organiser_id = {organiser} OR unsubscribe.organiser_id IS NULL))"""


def has_disabled_channel_sql(address: str, channel: str) -> str:
    """SQL: whether the account with this verified, lower-case e-mail address has switched the channel off."""
    return f"""EXISTS (SELECT FROM account JOIN channel_preference ON channel_preference.account_id = account.id
        AND channel_preference.channel = {channel} AND NOT channel_preference.wanted
        WHERE account.email = {address} AND account.email_verified_at IS NOT NULL)"""


def is_suppressed_sql(channel: str, address: str) -> str:
    """SQL: whether this address (lower-case e-mail, phone number in E.164) has a permanent error on the channel."""
    return f"""EXISTS (SELECT FROM suppression WHERE suppression.channel = {channel}
        AND suppression.address = {address})"""


def has_device_sql(account: str) -> str:
    """SQL: whether this account has a push device. False for null."""
    return f"EXISTS (SELECT FROM push_device WHERE push_device.account_id = {account})"


def suppress_address(channel: str, address: str, reason: str) -> None:
    """Stores that this e-mail address or phone number has a permanent error, with the reason. May be repeated."""
    if channel == "push":
        return
    with transaction() as session:
        session.execute(
            SUPPRESS_ADDRESS_SQL, {"channel": channel, "address": address, "reason": reason[:MAX_REASON_LENGTH]}
        )


def delete_device(device_id: str) -> None:
    """Deletes a device that its push service no longer knows."""
    with transaction() as session:
        session.execute(DELETE_DEVICE_SQL, {"id": device_id})
